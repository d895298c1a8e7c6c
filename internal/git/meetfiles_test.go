package git_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines are n lines of a file, some of them replaced.
func lines(name string, n int, replaced map[int]string) string {
	var text strings.Builder
	for i := range n {
		if other, ok := replaced[i]; ok {
			text.WriteString(other + "\n")
		} else {
			fmt.Fprintf(&text, "line %d of %s\n", i, name)
		}
	}
	return text.String()
}

func TestMeetFillsAPartialCloneWithWhatMergingNeeds(t *testing.T) {
	t.Parallel()
	first := map[string]string{
		"both.txt": lines("both", 20, nil), "dir/one.txt": lines("one", 20, nil), "dir/two.txt": lines("two", 20, nil),
		"huge.txt": lines("huge", 20, nil), "moved.txt": lines("moved", 20, nil), "other.txt": lines("other", 20, nil),
	}
	last := map[int]string{19: "the end"}
	for name, test := range map[string]struct{ base, head map[string]string }{
		"the same file": {map[string]string{"both.txt": lines("both", 20, last)}, map[string]string{"both.txt": lines("both", 20, map[int]string{0: "top"})}},
		"renamed on the base, edited in the branch": {
			map[string]string{"moved.txt": "", "away/moved.txt": lines("moved", 20, last)}, map[string]string{"moved.txt": lines("moved", 20, map[int]string{0: "top"})},
		},
		"renamed in the branch, edited on the base": {
			map[string]string{"moved.txt": lines("moved", 20, map[int]string{0: "top"})}, map[string]string{"moved.txt": "", "away/moved.txt": lines("moved", 20, last)},
		},
		"renamed as it is, edited in the branch": {
			map[string]string{"moved.txt": "", "away/moved.txt": lines("moved", 20, nil)}, map[string]string{"moved.txt": lines("moved", 20, map[int]string{0: "top"})},
		},
		"a directory renamed on the base, a new file in the branch": {
			map[string]string{"dir/one.txt": "", "dir/two.txt": "", "to/one.txt": lines("one", 20, last), "to/two.txt": lines("two", 20, last)},
			map[string]string{"dir/new.txt": "new\n"},
		},
		"a directory renamed in the branch, a new file on the base": {
			map[string]string{"dir/new.txt": "new\n"},
			map[string]string{"dir/one.txt": "", "dir/two.txt": "", "to/one.txt": lines("one", 20, last), "to/two.txt": lines("two", 20, last)},
		},
		"different files": {map[string]string{"other.txt": lines("other", 20, last)}, map[string]string{"both.txt": lines("both", 20, last)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			h.commit("main", "files", first)
			h.git(h.dev, "branch", "agent/x")
			base := h.commit("main", "base", test.base)
			h.commit("main", "huge", map[string]string{"huge.txt": lines("huge", 20, last)})
			h.commit("agent/x", "in between", map[string]string{"both.txt": lines("both", 20, map[int]string{10: "in between"})})
			h.commit("agent/x", "head", test.head)
			assert.NotEmpty(t, base)
			dir := h.workspace("main", "--filter=blob:none", "--no-checkout")
			c := h.open(dir)
			met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
			require.NoError(t, err)
			assert.Equal(t, 2, c.NetworkCalls(), "the commits, and the files")

			h.behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
				http.Error(w, "nothing more", http.StatusForbidden)
				return true
			})
			got, _ := h.try(dir, "merge-tree", "--write-tree", "--no-messages", met.BaseSHA, met.HeadSHA) // some conflict
			want, _ := h.try(h.bare, "merge-tree", "--write-tree", "--no-messages", met.BaseSHA, met.HeadSHA)
			assert.Equal(t, want, got)
			assert.Regexp(t, `^[0-9a-f]{40}\n`, got)
			for row := range strings.Lines(h.git(h.bare, "log", "--no-merges", "--format=%H", "main..agent/x") + "\n") {
				h.git(dir, "show", strings.TrimSpace(row)) // the commits themselves are there to be looked at
			}
			missing := h.git(dir, "rev-list", "--objects", "--no-walk", "--missing=print", met.BaseSHA)
			assert.Contains(t, missing, "?"+h.git(h.bare, "rev-parse", "main:huge.txt"), "what only the base changed is not fetched")
		})
	}
}

func TestMeetFillsAPartialCloneForMergesInTheBranch(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.commit("main", "files", map[string]string{"a.txt": lines("a", 30, nil), "b.txt": lines("b", 30, nil)})
	h.commit("agent/x", "ours", map[string]string{"a.txt": lines("a", 30, map[int]string{0: "ours"})})
	h.commit("main", "theirs", map[string]string{"a.txt": lines("a", 30, map[int]string{29: "theirs"}), "b.txt": "another\n"})
	one, two := h.tip("main"), h.tip("agent/x")
	h.git(h.dev, "checkout", "-q", "agent/x")
	h.git(h.dev, "merge", "-q", "-m", "update branch", one)
	h.git(h.dev, "checkout", "-q", "main")
	h.git(h.dev, "merge", "-q", "-m", "cross", two)
	h.git(h.dev, "push", "-q", "origin", "main", "agent/x")
	h.commit("main", "more", map[string]string{"a.txt": lines("a", 30, map[int]string{0: "ours", 29: "theirs", 15: "main"})})
	h.commit("agent/x", "more", map[string]string{"a.txt": lines("a", 30, map[int]string{0: "ours", 29: "theirs", 5: "branch"})})
	dir := h.workspace("main", "--filter=blob:none", "--no-checkout")
	c := h.open(dir)
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	h.behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "nothing more", http.StatusForbidden)
		return true
	})
	for _, pair := range [][2]string{{met.BaseSHA, met.HeadSHA}, {two, one}} {
		out, err := h.try(dir, "merge-tree", "--write-tree", pair[0], pair[1])
		require.NoError(t, err, out)
		assert.Equal(t, h.git(h.bare, "merge-tree", "--write-tree", pair[0], pair[1]), strings.TrimSpace(out))
	}
	assert.Equal(t, 2, c.NetworkCalls())
}
