package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// written is the page of a board.
func written(t *testing.T, b model.Board) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Write(&out, b))
	return out.String()
}

// What is folded away counts, and what two pull requests tell of each other counts once.
func TestTheCountersAgreeWithWhatIsListed(t *testing.T) {
	for name, b := range map[string]model.Board{"sample": sample(t), "everything": everything(), "many": many(1000)} {
		p := newPage(b)
		facts := map[string]string{}
		for _, f := range p.Facts {
			facts[f.Name] = f.Value
		}
		blocked := 0
		for _, one := range b.Pulls {
			if one.State == model.StatusBlocked {
				blocked++
			}
		}
		assert.Equal(t, fmt.Sprint(len(b.Needs())), facts["need a person"], name)
		assert.Len(t, append(p.Needs, p.More...), len(b.Needs()), name)
		assert.Equal(t, fmt.Sprint(blocked), facts["blocked"], name)
		assert.Equal(t, fmt.Sprint(len(p.Grid.Pairs)+p.Grid.More), facts["conflicts"], name)
	}
}

func TestPages(t *testing.T) {
	for name, b := range map[string]model.Board{
		"sample.html":     sample(t),
		"everything.html": everything(),
		"empty.html":      {Repo: model.Repo{Owner: "octo", Name: "empty"}, URL: "https://github.com/octo/empty", At: now},
	} {
		t.Run(name, func(t *testing.T) { golden.File(t, name, written(t, b)) })
	}
}
