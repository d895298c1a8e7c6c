package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// What means the same has one key, however it is written.
func TestClausesThatMeanTheSame(t *testing.T) {
	for _, same := range [][]string{
		{"a && b", "${{ b &&\n a }}", "(a) && (b) && a && true", "!(!a || !b)", "A && success() && B"},
		{"a == 'x' || b", "b || 'X' == a", "!(a != 'x' && !b)", "b || (b || a == 'x')"},
		{"github.event.comment.body", "github.event['comment'].body", "GitHub.Event.Comment.Body"},
		{"github.event.inputs.number", "inputs.number"},
		{"contains(a, 'x,y') && x[0].y", "x[0].Y && contains(a,'x,y')"},
	} {
		var want []string
		for _, text := range same {
			all := must.Get(clauses(text))(t, text)
			var keys []string
			for _, c := range all {
				keys = append(keys, c.key)
			}
			if want == nil {
				want = sorted(keys)
			}
			assert.Equal(t, want, sorted(keys), text)
		}
	}
	for a, b := range map[string]string{"a || b": "a && b", "a == b": "a != b", "a": "!a", "'a b'": "'ab'", "f(a, b)": "f(b, a)", "a && (b || c)": "a && b || c"} {
		x, _, err := parse(a + "}}")
		require.NoError(t, err)
		y, _, err := parse(b + "}}")
		require.NoError(t, err)
		assert.NotEqual(t, x.key, y.key)
	}
}

func TestExpressionsThatGitHubRejects(t *testing.T) {
	for text, says := range map[string]string{
		"a ==": "unexpected end of input", "a b": "remaining token", "(a": "closing ')'", "a[1": "closing bracket", ")a(": `unexpected token ")"`,
		"\"a\" == b": "unexpected character", "&&": "unexpected token", "a || ": "unexpected end of input", "'open": "unexpected EOF while lexing end of string",
		strings.Repeat("(", 1<<20) + "a": "more than 21000 characters", "a }} b": "always true", "${{ a": "does not end", "${{ a }} && ${{ b }}": "always true", "a && ${{ b }}": "always true",
	} {
		assert.ErrorContains(t, must.Err(clauses(text)), says, text)
	}
	assert.ErrorContains(t, must.Err(canonical("x-${{ a || b")), "does not end")
}
