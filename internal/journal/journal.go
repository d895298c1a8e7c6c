// Package journal reads and writes MergeXO's state: hidden markers at the end of its own comments on GitHub. It defines a
// marker's format, which markers count, and the state that they add up to.
package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	markerOpen   = "<!-- mergexo-"
	markerClose  = " -->"
	actionPrefix = markerOpen + "action:"
)

// BodyLimit is GitHub's limit for a comment, in characters.
const BodyLimit = 65536

// Codec writes and reads markers. With a Key every marker carries an HMAC-SHA256, and unsigned ones do not count.
type Codec struct{ Key []byte }

// Token names one effect. It is made of the effect's owner (a turn key, or the number if there is no turn), kind and
// target, and of nothing that changes when the effect is retried.
func Token(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		// The length prefix distinguishes ("ab", "c") from ("a", "bc").
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TurnKey names a turn by the pull request, the head it starts from and the set of event keys it answers.
func TurnKey(number int, start string, events []string) string {
	sorted := slices.Clone(events)
	slices.Sort(sorted)
	return Token(append([]string{"turn", strconv.Itoa(number), start}, slices.Compact(sorted)...)...)
}

// Body is a comment as it goes to GitHub: text for people, tokens, and at most one marker.
type Body struct {
	Text   string
	Tokens []string
	Kind   string // of Marker; empty for none
	Marker any
}

// Encode renders b. Text is neutralized, and cut with a notice if the whole would exceed GitHub's limit; the marker is
// never cut. The error says that the marker alone is too large.
func (c Codec) Encode(b Body) (string, error) {
	var tail strings.Builder
	for _, t := range b.Tokens {
		tail.WriteString("\n" + actionPrefix + t + c.signToken(t) + markerClose)
	}
	if b.Kind != "" {
		m, err := c.encodeMarker(b.Kind, b.Marker, b.Tokens)
		if err != nil {
			return "", err
		}
		tail.WriteString("\n" + m)
	}
	if tail.Len()+len(cutNotice) > BodyLimit {
		return "", fmt.Errorf("encode mergexo-%s marker: %d characters, a comment holds %d", b.Kind, tail.Len(), BodyLimit)
	}
	text := cut(b.Text, BodyLimit) // first, since parsing Markdown takes more than linear time
	return cut(Neutralise(text), BodyLimit-tail.Len()-1) + "\n" + tail.String(), nil
}

func (c Codec) encodeMarker(kind string, v any, tokens []string) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode mergexo-%s marker: %w", kind, err)
	}
	if len(c.Key) > 0 {
		raw = fmt.Appendf(raw[:len(raw)-1], `,"sig":"%s"}`, c.sign(kind, besideTokens(tokens, raw)))
	}
	// encoding/json escapes ">" already; without "--" nothing in here can end an HTML comment. Outside strings JSON has no
	// "--".
	return markerOpen + kind + ":" + strings.ReplaceAll(string(raw), "--", `-\u002d`) + markerClose, nil
}

// besideTokens is what a signature in a comment covers: the tokens with the JSON, so that a copy without its tokens, or with others,
// has no valid signature. JSON begins with a brace and a token never does, so no two comments have the same one.
func besideTokens(tokens []string, raw []byte) []byte {
	return append([]byte("with tokens\n"+strings.Join(tokens, "\n")+"\n"), raw...)
}

// decodeMarker fills v from the marker at the end of a comment. With a Key, it reports whether an earlier version signed the JSON
// without the tokens.
func (c Codec) decodeMarker(t trailer, v any) (earlier bool, err error) {
	body, sig, signed := cutSignature([]byte(strings.ReplaceAll(t.json, `-\u002d`, "--")))
	switch {
	case len(c.Key) == 0:
	case !signed:
		return false, errors.New("not signed")
	case hmac.Equal([]byte(sig), []byte(c.sign(t.kind, besideTokens(c.openTokens(t), body)))):
	case hmac.Equal([]byte(sig), []byte(c.sign(t.kind, body))):
		earlier = true
	default:
		return false, errors.New("the signature is invalid")
	}
	return earlier, json.Unmarshal(body, v)
}

// Seal signs a JSON object that a repository keeps outside of comments, if there is a key. An organization may have one key for all
// its repositories.
func (c Codec) Seal(kind string, repo model.Repo, raw []byte) []byte {
	if len(c.Key) == 0 {
		return raw
	}
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return fmt.Appendf(raw[:len(raw)-1:len(raw)-1], ",\"sig\":\"%s\"}\n", c.sign(keptBy(kind, repo), raw))
}

// Open gives back what was sealed. The error says that with the key of this run and for this repository it was not, so that somebody
// else has written it.
func (c Codec) Open(kind string, repo model.Repo, sealed []byte) ([]byte, error) {
	raw, sig, signed := cutSignature(bytes.TrimSuffix(sealed, []byte("\n")))
	switch {
	case len(c.Key) == 0:
	case !signed:
		return nil, errors.New("it is not signed")
	case !hmac.Equal([]byte(sig), []byte(c.sign(keptBy(kind, repo), raw))):
		return nil, errors.New("its signature is invalid")
	}
	return raw, nil
}

// keptBy names what is signed in a repository.
func keptBy(kind string, repo model.Repo) string { return kind + " " + strings.ToLower(repo.String()) }

// cutSignature splits {...,"sig":"HEX"} into {...} and HEX.
func cutSignature(raw []byte) (body []byte, sig string, ok bool) {
	const head, tail = `,"sig":"`, `"}`
	at := len(raw) - len(tail) - sha256.Size*2 - len(head)
	if at < 1 || string(raw[at:at+len(head)]) != head || string(raw[len(raw)-len(tail):]) != tail {
		return raw, "", false
	}
	sig = string(raw[at+len(head) : len(raw)-len(tail)])
	return append(slices.Clone(raw[:at]), '}'), sig, true
}

func (c Codec) sign(kind string, raw []byte) string {
	h := hmac.New(sha256.New, c.Key)
	fmt.Fprintf(h, "mergexo-%s\n%s", kind, raw)
	return hex.EncodeToString(h.Sum(nil))
}

func (c Codec) signToken(token string) string {
	if len(c.Key) == 0 {
		return ""
	}
	return "." + c.sign("action", []byte(token))
}

// trailer is the parsed hidden end of a comment, not yet trusted.
type trailer struct {
	text   string   // what precedes it
	tokens []string // with their signatures, where there are any
	kind   string
	json   string
}

// parseTrailer reads the last lines of a body: action tokens, then at most one JSON marker, then nothing. A marker
// anywhere else is text.
func parseTrailer(body string) trailer {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), " \t\r\n"), "\n")
	var t trailer
	end := len(lines)
	if kind, inner, ok := markerLine(lines[end-1]); ok && kind != "action" {
		t.kind, t.json = kind, inner
		end--
	}
	for end > 0 {
		kind, inner, ok := markerLine(lines[end-1])
		if !ok || kind != "action" {
			break
		}
		t.tokens = append(t.tokens, inner)
		end--
	}
	slices.Reverse(t.tokens)
	t.text = strings.TrimRight(strings.Join(lines[:end], "\n"), " \t\r\n")
	return t
}

// markerLine parses a line that is a whole marker: "<!-- mergexo-KIND:INNER -->".
func markerLine(line string) (kind, inner string, ok bool) {
	rest, ok := strings.CutPrefix(line, markerOpen)
	if !ok {
		return "", "", false
	}
	rest, ok = strings.CutSuffix(rest, markerClose)
	if !ok || strings.Contains(rest, "--") {
		return "", "", false
	}
	kind, inner, ok = strings.Cut(rest, ":")
	if !ok || kind == "" || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", "", false
	}
	return kind, inner, true
}

// openToken returns the bare token if it is well-formed and, with a key, correctly signed.
func (c Codec) openToken(s string) (string, bool) {
	token, sig, _ := strings.Cut(s, ".")
	if len(token) != sha256.Size*2 || strings.Trim(token, "0123456789abcdef") != "" {
		return "", false
	}
	if len(c.Key) > 0 && !hmac.Equal([]byte(sig), []byte(c.sign("action", []byte(token)))) {
		return "", false
	}
	return token, true
}

// openTokens returns the tokens of a comment that count.
func (c Codec) openTokens(t trailer) []string {
	var open []string
	for _, s := range t.tokens {
		if token, ok := c.openToken(s); ok {
			open = append(open, token)
		}
	}
	return open
}

// LooksMarked reports whether a body ends in the shape of a marker. It proves nothing: only Fold decides what counts.
func LooksMarked(body string) bool {
	t := parseTrailer(body)
	return t.kind != "" || len(t.tokens) > 0
}

// Text is the visible part of a body: everything before the hidden end.
func Text(body string) string { return parseTrailer(body).text }
