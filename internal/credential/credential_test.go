package credential_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/must"
)

// several is a source that has given more than one token.
type several []string

func (s several) Token(context.Context) (string, error) { return s[len(s)-1], nil }
func (s several) Refused(string) bool                   { return true }
func (s several) Fresh(string) bool                     { return false }
func (s several) Secrets() []string                     { return s }

func TestEverySpellingOfEverySecretIsHidden(t *testing.T) {
	t.Parallel()
	s := several{"old/token+", "new/token+"}
	for _, secret := range s {
		for _, spelled := range []string{secret, credential.Basic(secret), "b2xkL3Rva2VuKw==", "old%2Ftoken%2B", "old%2Ftoken+"} {
			said := credential.Redact(s, "it said <"+spelled+"> at the end")
			assert.Equal(t, "it said <***> at the end", said, spelled)
		}
	}
}

func TestAFixedTokenIsWhatWasGiven(t *testing.T) {
	t.Parallel()
	s := credential.Or(nil, "given")
	assert.Equal(t, "given", must.Get(s.Token(t.Context()))(t))
	assert.False(t, s.Refused("given") || s.Fresh("given"))
	assert.Equal(t, []string{"given"}, s.Secrets())
	assert.Equal(t, several{"x"}, credential.Or(several{"x"}, "given"))

	none := credential.Or(nil, "")
	assert.Empty(t, none.Secrets())
	assert.Equal(t, "text", credential.Redact(none, "text"))
}
