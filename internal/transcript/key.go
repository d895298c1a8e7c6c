package transcript

import (
	"fmt"
	"strings"

	"filippo.io/age"
)

// Key seals and opens transcripts. It prints as nothing but stars.
type Key struct{ identity *age.X25519Identity }

// ParseKey reads the output of age-keygen: one line with a secret key, and perhaps comments. An error names the setting, and never
// contains any of the text.
func ParseKey(text string) (Key, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	switch {
	case len(lines) == 0:
		return Key{}, unusable("it is empty")
	case len(lines) > 1:
		return Key{}, unusable(fmt.Sprintf("it has %d lines besides comments", len(lines)))
	}
	identity, err := age.ParseX25519Identity(lines[0])
	if err == nil {
		return Key{identity}, nil
	}
	for _, one := range []struct{ begins, what string }{
		{"AGE-SECRET-KEY-PQ-1", "it is a post-quantum key, which is not supported"},
		{"AGE-SECRET-KEY-1", "it is not a whole key: some of it is missing or changed"},
		{"AGE-PLUGIN-", "it is a key of a plugin, which is not supported"},
		{"age1", "it is a public key"},
		{"ssh-", "it is a public key of SSH"},
	} {
		if strings.HasPrefix(lines[0], one.begins) {
			return Key{}, unusable(one.what)
		}
	}
	return Key{}, unusable("it is not a key of age")
}

// unusable leaves out the library's own error, which may quote the key.
func unusable(why string) error {
	return fmt.Errorf("transcript-key (MERGEXO_TRANSCRIPT_KEY): %s: give the line that begins with AGE-SECRET-KEY-1, as age-keygen prints it", why)
}

const stars = "***"

// Format writes stars, whatever the verb.
func (Key) Format(to fmt.State, _ rune) { _, _ = fmt.Fprint(to, stars) }
