package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

func TestPeekLeavesOutWhatIsLargeOrNotHere(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	sha := r.Commit("files", gittest.Texts("small", "small\n", "large", strings.Repeat("x", 100)))
	ids := []string{r.Git("rev-parse", sha+":large"), strings.Repeat("1", 40), r.Git("rev-parse", sha+":small")}
	var seen []string
	require.NoError(t, git.Peek(gittest.Ctx, r.C, ids, 100, func(text []byte) { seen = append(seen, string(text)) }))
	assert.Equal(t, []string{"small\n"}, seen)
	require.NoError(t, git.Peek(gittest.Ctx, r.C, nil, 100, nil))
}
