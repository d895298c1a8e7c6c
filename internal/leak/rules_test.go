package leak

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
)

// The short way to where a pattern matches has to come out where the pattern itself does.
func TestTheBriefPatternFindsTheSame(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(3, 4))
	parts := []string{
		"key", "my_", "api-", "secret", "token", "x.y", " ", "=", ": ", "'", "\"", "\n", ",", ";", "client", "é", "lob", "adobe", "linear", "looker", "twitter",
		"A1b2C3d4E5f6", `key=A1b2C3d4E5f6\n`, strings.Repeat("a", 49), "live_", "0f9e8d7c6b5a40312f9e8d7c6b5a4031", "test_0f9e8d7c6b5a40312f9e8d7c6b5a4031abc", "=>", "||",
	}
	var text strings.Builder
	for range 300 {
		text.WriteString(parts[random.IntN(len(parts))])
	}
	brief, matches := 0, 0
	for i := range s.rules {
		r := &s.rules[i]
		if r.brief == nil {
			continue
		}
		brief++
		want := r.Regex.FindAllStringIndex(text.String(), -1)
		matches += len(want)
		assert.Equal(t, want, r.all(text.String()), r.RuleID)
	}
	assert.Greater(t, brief, 80)
	assert.Greater(t, matches, 3)
}

func TestOurRulesAreInForce(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	theirs, err := load(config.DefaultConfig)
	require.NoError(t, err)
	assert.Len(t, s.rules, len(theirs.Rules)+1, "one rule is new, the others replace gitleaks'")
	mine, err := load(ours)
	require.NoError(t, err)
	for _, r := range s.rules {
		if own, ok := mine.Rules[r.RuleID]; ok {
			assert.Equal(t, own.Regex.String(), r.Regex.String())
			if old, ok := theirs.Rules[r.RuleID]; ok {
				assert.NotEqual(t, old.Regex.String(), r.Regex.String(), "gitleaks knows this by now: drop ours")
			}
		}
	}
}

func TestARuleWithoutKeywordsIsAlwaysApplied(t *testing.T) {
	s, err := compile("[[rules]]\nid = \"a\"\nregex = '''x[0-9]{4}'''\n")
	require.NoError(t, err)
	found, err := s.Scan(context.Background(), Piece{Path: "a", Line: 1, Text: []byte("y\nx1234\n")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, 2, found[0].Line)
}

func TestTheWordsOfAPanicAreNotRepeated(t *testing.T) {
	assert.Equal(t, "*errors.errorString", nameless(errors.New("what was read")))
	assert.Equal(t, "string", nameless("what was read"))
}

func TestRulesThatThisLoopWouldNotFollowAreRefused(t *testing.T) {
	rule := "[[rules]]\nid = \"a\"\nregex = '''a'''\nkeywords = [\"a\"]\n"
	for _, c := range []struct{ text, want string }{
		{rule + "novelty = true\n", "unknown setting rules.novelty"},
		{rule + "skipReport = true\n", "rule a depends on another one, which is not followed here"},
		{rule + "[[rules.required]]\nid = \"a\"\n", "rule a depends on another one, which is not followed here"},
		{strings.Replace(rule, "'''a'''", "'''('''", 1), "missing closing )"},
		{"[[rules]\n", "toml"},
	} {
		_, err := load(c.text)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := load(rule)
	assert.NoError(t, err)
}
