package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatIsReadOfHeadIsWhatGitReads(t *testing.T) {
	h, c, dot := restored(t)
	one, two := c.Refs["refs/fetched/base"], h.Git(c.Dir(), "rev-parse", "HEAD")
	require.NotEqual(t, one, two)
	const header = "# pack-refs with: peeled fully-peeled sorted \n"
	blank := strings.Repeat(" ", 5000)
	type row struct {
		files map[string]string
		read  bool
	}
	must.Each(t, map[string]row{
		"a branch":              {map[string]string{"HEAD": "ref: refs/heads/one\n"}, true},
		"blanks around":         {map[string]string{"HEAD": "ref:\t refs/heads/one \r\n"}, true},
		"a commit":              {map[string]string{"HEAD": one}, true},
		"a packed branch":       {map[string]string{"HEAD": "ref: refs/heads/three\n", "packed-refs": header + one + " refs/heads/three\n" + two + " refs/heads/two\n"}, true},
		"behind directories":    {map[string]string{"HEAD": "ref: refs/heads/three\n", "packed-refs": header + one + " refs/heads/three\n", "refs/heads/three/x/y": two}, true},
		"a chain":               {map[string]string{"HEAD": "ref: refs/heads/a\n", "refs/heads/a": "ref: refs/heads/b\n", "refs/heads/b": "ref: refs/heads/one\n"}, true},
		"a blank of Unicode":    {map[string]string{"HEAD": "ref: refs/heads/one\u00a0\n", "refs/heads/one\u00a0": two}, true},
		"after a commit":        {map[string]string{"HEAD": one + "\u00a0\n"}, false},
		"before a commit":       {map[string]string{"HEAD": " " + one + "\n"}, false},
		"something after it":    {map[string]string{"HEAD": one + " x\n"}, false},
		"far after it":          {map[string]string{"HEAD": one + blank + "x\n"}, false},
		"cut off":               {map[string]string{"refs/heads/three": "ref:" + blank[:4096-len("ref:refs/heads/one")] + "refs/heads/one2\n", "refs/heads/one2": two, "HEAD": "ref: refs/heads/three\n"}, false},
		"capitals":              {map[string]string{"HEAD": strings.ToUpper(one)}, false},
		"another kind of ref":   {map[string]string{"HEAD": "ref: refs/bisect/one\n", "refs/bisect/one": one}, false},
		"not a file's path":     {map[string]string{"HEAD": "ref: refs/heads//one\n"}, false},
		"a hidden file":         {map[string]string{"HEAD": "ref: refs/heads/.one\n", "refs/heads/.one": one}, false},
		"a lock":                {map[string]string{"HEAD": "ref: refs/heads/one.lock\n", "refs/heads/one.lock": one}, false},
		"no file":               {map[string]string{"HEAD": "", "packed-refs": header + one + " HEAD\n"}, false},
		"packed twice":          {map[string]string{"HEAD": "ref: refs/heads/three\n", "packed-refs": header + one + " refs/heads/three\n" + two + " refs/heads/three\n"}, false},
		"packed in no order":    {map[string]string{"HEAD": "ref: refs/heads/three\n", "packed-refs": header + one + " refs/heads/three\n" + two + " refs/heads/a\n"}, false},
		"packed with long rows": {map[string]string{"HEAD": "ref: refs/heads/three\n", "packed-refs": header + one + " refs/heads/three\n" + two + " refs/heads/z" + strings.Repeat("z", 70_000) + "\n"}, false},
	}, func(t *testing.T, state row) {
		require.NoError(t, os.RemoveAll(filepath.Join(dot, "refs")))
		gittest.Write(t, dot, map[string]string{"HEAD": "x", "packed-refs": header, "refs/heads/one": one + "\n", "refs/heads/two": two + "\n"})
		gittest.Write(t, dot, state.files)
		said := c.ReadHead()
		assert.Equal(t, state.read, said != "", "otherwise git is asked")
		if out, err := h.Try(c.Dir(), "--git-dir="+dot, "rev-parse", "--verify", "HEAD"); said != "" {
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(out), said)
		}
	})
}

func TestWhatGitTakesForNoRepositoryHasNoHead(t *testing.T) {
	h, c, dot := restored(t)
	h.Agent(c, "checkout", "-q", "--detach")
	require.NoError(t, os.RemoveAll(filepath.Join(dot, "refs")))
	_, err := c.Head(gittest.Ctx)
	assert.Contains(t, gittest.As[*git.Error](t, err).Stderr, "not a git repository")
}

func TestWhatIsReadOfBranchesIsWhatGitReads(t *testing.T) {
	h, c, dot := restored(t)
	one, two := c.Refs["refs/fetched/base"], h.Git(c.Dir(), "rev-parse", "HEAD")
	const header = "# pack-refs with: peeled fully-peeled sorted \n"
	for name, state := range map[string]struct {
		files map[string]string
		read  bool
	}{
		"files":                {map[string]string{"refs/heads/a/b": two}, true},
		"packed":               {map[string]string{"packed-refs": header + two + " refs/heads/one\n" + two + " refs/heads/three\n" + one + " refs/tags/v1\n"}, true},
		"a stash":              {map[string]string{"refs/stash": two}, true},
		"a packed stash":       {map[string]string{"packed-refs": header + two + " refs/stash\n"}, true},
		"a symbolic branch":    {map[string]string{"refs/heads/a": "ref: refs/heads/one\n"}, false},
		"a lock":               {map[string]string{"refs/heads/a.lock": two}, false},
		"something else":       {map[string]string{"refs/heads/a": "x"}, false},
		"below the stash":      {map[string]string{"refs/stash/a": two}, false},
		"packed in no order":   {map[string]string{"packed-refs": header + two + " refs/heads/z\n" + two + " refs/heads/three\n"}, false},
		"refs in another form": {map[string]string{"refs/heads": "this repository uses the reftable format\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Join(dot, "refs")))
			files := map[string]string{"packed-refs": header, "refs/heads/one": one + "\n"}
			if state.files["refs/heads"] != "" {
				delete(files, "refs/heads/one")
			}
			gittest.Write(t, dot, files)
			gittest.Write(t, dot, state.files)
			tips, all := git.ReadBranches(&c.Layout)
			require.Equal(t, state.read, all, "otherwise git is asked")
			if all {
				var rows []string
				for name, tip := range tips {
					rows = append(rows, tip+" "+name)
				}
				assert.ElementsMatch(t, strings.Split(h.Git(c.Dir(), "--git-dir="+dot, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/stash"), "\n"), rows)
			}
		})
	}
}
