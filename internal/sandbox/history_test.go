package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// Two lines that merge each other crosswise, and one that begins by itself: where git is not asked, the answer is git's.
func TestHistoriesAreReadAsGitReadsThem(t *testing.T) {
	w := newTown(t)
	r, git := w.s.st.Repositories[0], gitIn(w)
	commits := map[string]string{"": git("", "rev-parse", "main")}
	for _, c := range []string{"a ", "b a", "c a", "d b c", "e c b", "f d", "g e", "h f", "i", "j i h"} { // a name, and its parents
		name, parents, hasParents := strings.Cut(c, " ")
		var shas []string
		for p := range strings.SplitSeq(parents, " ") {
			if hasParents {
				shas = append(shas, commits[p])
			}
		}
		by := signedAt("Ada", "ada@example.com", inventedAt)
		sha := must.Get(w.s.git.commitTree(r, emptyTree, shas, name, by, by))(t)
		commits[name] = sha
	}
	bases, lines := map[string]int{}, map[string]int{}
	for nameA, a := range commits {
		for nameB, b := range commits {
			if base, ok := w.s.git.onlyBase(r, a, b); ok {
				out, err := w.s.git.run(r, "merge-base", "--all", a, b)
				require.LessOrEqual(t, exitCode(err), 1)
				assert.Equal(t, out, base, "%s and %s", nameA, nameB)
				bases[fmt.Sprint(base != "")]++
			} else {
				bases["several"]++
			}
			if line, ok := w.s.git.line(r, a, b); ok {
				assert.Equal(t, strings.Fields(git("", "rev-list", "--topo-order", a, "^"+b)), append([]string{}, line...), "%s without %s", nameA, nameB)
				lines["ours"]++
			} else {
				lines["git's"]++
			}
		}
	}
	assert.Equal(t, map[string]int{"true": 87, "false": 18, "several": 16}, bases)
	assert.Equal(t, map[string]int{"ours": 72, "git's": 49}, lines)
	line, ok := w.s.git.line(r, commits["h"], commits["b"], commits["d"])
	assert.Equal(t, []any{[]string{commits["h"], commits["f"]}, true}, []any{line, ok}, "without several")

	require.NoError(t, os.WriteFile(filepath.Join(w.s.git.path(r), "shallow"), []byte(commits["f"]+"\n"), 0o600))
	clear(w.s.memos)
	assert.Empty(t, must.Get(w.s.git.commitOf(r, commits["f"]))(t).Parents, "as in a copy that ends there")
}
