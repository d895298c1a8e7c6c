package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/transcript"
)

func TestAKeyIsWhatAgeKeygenPrints(t *testing.T) {
	id, _ := fresh(t)
	secret, public := id.String(), id.Recipient().String()
	hybrid := must.Get(age.GenerateHybridIdentity())(t)
	printed := "# created: 2026-11-21T16:50:55Z\n# public key: " + public + "\n" + secret + "\n"
	for _, text := range []string{secret, printed, strings.ReplaceAll(printed, "\n", "\r\n"), "\n  " + secret + " \n\n"} {
		require.NoError(t, must.Err(transcript.ParseKey(text)))
	}
	var lines []string
	for _, text := range []string{
		"", "# public key: " + public + "\n", secret + "\n" + secret, secret[:40], secret[:40] + "1" + secret[41:],
		hybrid.String(), "AGE-PLUGIN-YUBIKEY-1QGLGV6S5XXYZ", public,
		"ssh-ed25519 AAAAC3Nza someone", "-----BEGIN OPENSSH PRIVATE KEY-----", strings.ToLower(secret), "hunter2", secret + secret,
	} {
		_, err := transcript.ParseKey(text)
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "\n")
		for _, word := range strings.Fields(text) {
			if len(word) > 8 {
				assert.NotContains(t, err.Error(), word[len(word)-6:], "nothing of it is printed")
			}
		}
		lines = append(lines, err.Error())
	}
	golden.Text(t, "keys.txt", strings.Join(lines, "\n"))
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	id, k := fresh(t)
	secret := id.String()
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", k, "any", struct{ K transcript.Key }{k})
	encoded := must.Get(json.Marshal(struct{ K any }{k}))(t)
	for _, text := range []string{
		fmt.Sprint(k), fmt.Sprintf("%v %+v %#v %s %q %x %d", k, k, k, k, k, k, k), fmt.Sprintf("%v %+v %#v", &k, struct{ K transcript.Key }{k}, []transcript.Key{k}),
		log.String(), string(encoded),
	} {
		assert.NotContains(t, text, "AGE-SECRET")
		assert.NotContains(t, text, secret[20:30])
		assert.NotRegexp(t, `0x[0-9a-f]{6}`, text)
	}
	assert.Contains(t, log.String(), "key=***")
}
