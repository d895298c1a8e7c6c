package nearest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/nearest"
)

func TestHint(t *testing.T) {
	t.Parallel()
	strategies := []string{"rebase", "squash", "no-ff"}
	const all = "; use one of rebase, squash, no-ff"
	for word, want := range map[string]string{
		"rebas":                    "; did you mean rebase?",
		"REBASE":                   "; did you mean rebase?",
		"rebase-all":               "; did you mean rebase?", // one is a part of the other
		"sqaush":                   "; did you mean squash?",
		"noff":                     "; did you mean no-ff?",
		"fast":                     all,
		"sq":                       all,
		"":                         all,
		strings.Repeat("x", 1<<20): all,
	} {
		assert.Equal(t, want, nearest.Hint(word, strategies), word[:min(len(word), 20)])
	}
	_, ok := nearest.To("a", nil)
	assert.False(t, ok)
	_, ok = nearest.To("z", []string{"a"})
	assert.False(t, ok, "nothing of it is the same")
}
