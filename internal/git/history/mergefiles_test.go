package history_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

func TestMeetFillsAPartialCloneWithWhatMergingNeeds(t *testing.T) {
	t.Parallel()
	first := map[string]string{
		"both.txt": gittest.Lines("both", 20, nil), "dir/one.txt": gittest.Lines("one", 20, nil), "dir/two.txt": gittest.Lines("two", 20, nil),
		"huge.txt": gittest.Lines("huge", 20, nil), "moved.txt": gittest.Lines("moved", 20, nil), "other.txt": gittest.Lines("other", 20, nil),
	}
	last := map[int]string{19: "the end"}
	for name, test := range map[string]struct{ base, head map[string]string }{
		"edited on both sides, renamed and moved on the base": {
			map[string]string{
				"both.txt": gittest.Lines("both", 20, last), "moved.txt": "", "away/moved.txt": gittest.Lines("moved", 20, last),
				"dir/one.txt": "", "dir/two.txt": "", "to/one.txt": gittest.Lines("one", 20, last), "to/two.txt": gittest.Lines("two", 20, last),
			},
			map[string]string{"both.txt": gittest.Lines("both", 20, map[int]string{0: "top"}), "moved.txt": gittest.Lines("moved", 20, map[int]string{0: "top"}), "dir/new.txt": "new\n"},
		},
		"renamed and moved in the branch": {
			map[string]string{"moved.txt": gittest.Lines("moved", 20, map[int]string{0: "top"}), "dir/new.txt": "new\n", "other.txt": gittest.Lines("other", 20, last)},
			map[string]string{
				"moved.txt": "", "away/moved.txt": gittest.Lines("moved", 20, last),
				"dir/one.txt": "", "dir/two.txt": "", "to/one.txt": gittest.Lines("one", 20, last), "to/two.txt": gittest.Lines("two", 20, last),
			},
		},
		"renamed as it is, edited in the branch": {
			map[string]string{"moved.txt": "", "away/moved.txt": gittest.Lines("moved", 20, nil)}, map[string]string{"moved.txt": gittest.Lines("moved", 20, map[int]string{0: "top"})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := gittest.NewHub(t)
			h.Commit("main", "files", first)
			h.Git(h.Dev, "branch", "agent/x")
			h.Commit("main", "base", test.base)
			h.Commit("main", "huge", map[string]string{"huge.txt": gittest.Lines("huge", 20, last)})
			h.Commit("agent/x", "in between", map[string]string{"both.txt": gittest.Lines("both", 20, map[int]string{10: "in between"})})
			h.Commit("agent/x", "head", test.head)
			dir := h.Workspace("main", "--filter=blob:none", "--no-checkout")
			c := h.Open(dir)
			met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
			assert.Equal(t, 2, c.NetworkCalls(), "the commits, and the files")

			h.Behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
				http.Error(w, "nothing more", http.StatusForbidden)
				return true
			})
			got, _ := h.Try(dir, "merge-tree", "--write-tree", "--no-messages", met.BaseSHA, met.HeadSHA) // some conflict
			want, _ := h.Try(h.Bare, "merge-tree", "--write-tree", "--no-messages", met.BaseSHA, met.HeadSHA)
			assert.Equal(t, want, got)
			assert.Regexp(t, `^[0-9a-f]{40}\n`, got)
			for row := range strings.Lines(h.Git(h.Bare, "log", "--no-merges", "--format=%H", "main..agent/x") + "\n") {
				h.Git(dir, "show", strings.TrimSpace(row)) // the commits themselves are there to be looked at
			}
			missing := h.Git(dir, "rev-list", "--objects", "--no-walk", "--missing=print", met.BaseSHA)
			assert.Contains(t, missing, "?"+h.Git(h.Bare, "rev-parse", "main:huge.txt"), "what only the base changed is not fetched")
		})
	}
}

func TestMeetFillsAPartialCloneForMergesInTheBranch(t *testing.T) {
	t.Parallel()
	h := gittest.NewHub(t)
	h.Commit("main", "files", map[string]string{"a.txt": gittest.Lines("a", 30, nil), "b.txt": gittest.Lines("b", 30, nil)})
	h.Commit("agent/x", "ours", map[string]string{"a.txt": gittest.Lines("a", 30, map[int]string{0: "ours"})})
	h.Commit("main", "theirs", map[string]string{"a.txt": gittest.Lines("a", 30, map[int]string{29: "theirs"}), "b.txt": "another\n"})
	one, two := h.Tip("main"), h.Tip("agent/x")
	h.Git(h.Dev, "checkout", "-q", "agent/x")
	h.Git(h.Dev, "merge", "-q", "-m", "update branch", one)
	h.Git(h.Dev, "checkout", "-q", "main")
	h.Git(h.Dev, "merge", "-q", "-m", "cross", two)
	h.Git(h.Dev, "push", "-q", "origin", "main", "agent/x")
	h.Commit("main", "more", map[string]string{"a.txt": gittest.Lines("a", 30, map[int]string{0: "ours", 29: "theirs", 15: "main"})})
	h.Commit("agent/x", "more", map[string]string{"a.txt": gittest.Lines("a", 30, map[int]string{0: "ours", 29: "theirs", 5: "branch"})})
	dir := h.Workspace("main", "--filter=blob:none", "--no-checkout")
	c := h.Open(dir)
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	h.Behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "nothing more", http.StatusForbidden)
		return true
	})
	for _, pair := range [][2]string{{met.BaseSHA, met.HeadSHA}, {two, one}} {
		out, err := h.Try(dir, "merge-tree", "--write-tree", pair[0], pair[1])
		require.NoError(t, err, out)
		assert.Equal(t, h.Git(h.Bare, "merge-tree", "--write-tree", pair[0], pair[1]), strings.TrimSpace(out))
	}
	assert.Equal(t, 2, c.NetworkCalls())
}
