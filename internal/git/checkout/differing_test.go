package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

// differing is what a checkout differs in from its commit before anybody has worked there.
type differing struct {
	raw     map[string]string                // files as they are stored
	then    map[string]string                // and those of a later commit
	prepare func(h *gittest.Hub, dir string) // what a workflow does to its workspace
	paths   []string                         // what differs
}

var differences = map[string]differing{
	"by its attributes": {
		raw: map[string]string{
			".gitattributes": "*.txt text\n*.bat text eol=crlf\n*.c ident\n*.u working-tree-encoding=UTF-16LE-BOM eol=lf text\n*.png filter=lfs -text\n",
			"old.txt":        "x\r\ny\r\n", "a \"b\"\n*.txt": "x\r\n", "run.bat": "x\r\ny\r\n", "mixed.bat": "x\r\ny\n", "id.c": "/* $Id: 1 $ */\n",
			"utf8.u": "x\r\n", "a.png": "a picture", "dir/.gitattributes": "* text\n", "dir/old.md": "x\r\ny\r\n",
			"lf/.gitattributes": "* text eol=lf\n", "lf/.github/workflows/ci.yml": "on: push\r\n",
		},
		paths: []string{"a \"b\"\n*.txt", "a.png", "dir/old.md", "id.c", "lf/.github/workflows/ci.yml", "mixed.bat", "old.txt", "run.bat", "utf8.u"},
	},
	"attributes that came later": {raw: map[string]string{"old.txt": "x\r\ny\r\n"}, then: map[string]string{".gitattributes": "*.txt text\n"}, paths: []string{"old.txt"}},
	"files not to be looked at": {
		raw: map[string]string{"one.json": "{}\n", "two.json": "{}\n"}, prepare: overlooks(map[string]string{"one.json": "--assume-unchanged", "two.json": "--skip-worktree"}),
		paths: []string{"one.json", "two.json"},
	},
}

// overlooks changes files and tells the index not to look at them.
func overlooks(how map[string]string) func(h *gittest.Hub, dir string) {
	return func(h *gittest.Hub, dir string) {
		for name, flag := range how {
			h.Git(dir, "update-index", flag, name)
			gittest.Write(h.T, dir, map[string]string{name: "{\"local\": true}\n"})
		}
	}
}

// lfs is a PATH with a Git LFS that makes pointers of what it is given.
func lfs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ncase $1 in clean) sha256sum | cut -c1-64;; smudge) cat;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git-lfs"), []byte(script), 0o755))
	return dir + ":" + os.Getenv("PATH")
}

// begin restores a checkout that differs, on a branch in which a.txt is to be changed.
func (d differing) begin(t *testing.T) (h *gittest.Hub, c *git.Checkout, start string) {
	t.Helper()
	h = gittest.NewHub(t)
	h.Raw("agent/x", "raw", d.raw)
	h.Raw("agent/x", "more", map[string]string{"b.txt": "b\n"})
	dir := h.Workspace("agent/x", "-c", "filter.lfs.smudge=cat", "-c", "filter.lfs.clean=cat")
	for key, value := range map[string]string{"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f", "filter.lfs.required": "true"} {
		h.Git(dir, "config", key, value)
	}
	if d.prepare != nil {
		d.prepare(h, dir)
	}
	start = h.Raw("agent/x", "start", map[string]string{"a.txt": "one\n"})
	if d.then != nil {
		start = h.Raw("agent/x", "attributes", d.then)
	}
	path := lfs(t)
	c = h.Open(dir, func(o *git.Options) { o.Path = path })
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", start))
	return h, c, start
}

func TestWhatDifferedBeforeIsNobodysWork(t *testing.T) {
	for name, d := range differences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, c, start := d.begin(t)
			env := append(c.AgentEnv(), "PATH="+lfs(t))
			agent := func(args ...string) {
				t.Helper()
				out, err := h.With(c.Dir(), env, args...)
				require.NoError(t, err, out)
			}
			clean := func(what string) {
				t.Helper()
				assert.False(t, gittest.Must(gittest.Dirty(c))(t), what)
			}
			changed := func(head string) string {
				t.Helper()
				return h.Git(c.Dir(), "diff", "--name-only", start, head)
			}
			own := func() string {
				t.Helper()
				head := gittest.Must(c.Head(gittest.Ctx))(t)
				done := gittest.Must(checkout.Recommit(gittest.Ctx, c, start, head, nil, func(m string) string { return m }))(t)
				require.NoError(t, checkout.Follow(gittest.Ctx, c, done))
				return done.Head
			}
			now := map[string]string{}
			read := func() (files []string) {
				for _, path := range d.paths {
					files = append(files, gittest.Read(t, c.Dir(), path))
				}
				return files
			}
			for i, text := range read() {
				now[d.paths[i]] = text
			}
			was := read()
			agent("add", "-A")
			agent("stash", "-q")
			assert.Empty(t, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t), "it was put on the stash")
			assert.Equal(t, was, read())
			clean("nothing has been done")
			gittest.Write(t, c.Dir(), now)
			clean("it was written again")
			agent("add", "-A")
			clean("it was staged")

			gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			saved := gittest.Must(checkout.Snapshot(gittest.Ctx, gittest.Quarantine(t, c), "", "Snapshot"))(t)
			sha := gittest.Committed(t, c, "two")
			assert.Equal(t, "a.txt", changed(sha))
			assert.NotEmpty(t, saved)
			clean("it is committed")

			gittest.Write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
			gittest.Write(t, c.Dir(), now)
			agent("commit", "-q", "-a", "-m", "mine")
			assert.Equal(t, "a.txt", changed(own()), "the agent has committed it along")
			clean("and it is committed no more")
			gittest.Write(t, c.Dir(), now)
			agent("commit", "-q", "-a", "--allow-empty", "-m", "nothing else")
			assert.Equal(t, "a.txt", changed(own()))

			for path, text := range now {
				gittest.Write(t, c.Dir(), map[string]string{path: text + text})
			}
			sha = gittest.Committed(t, c, "more")
			assert.ElementsMatch(t, append([]string{"a.txt"}, d.paths...), strings.Split(strings.TrimSuffix(h.Git(c.Dir(), "diff", "-z", "--name-only", start, sha), "\x00"), "\x00"))
		})
	}
}
