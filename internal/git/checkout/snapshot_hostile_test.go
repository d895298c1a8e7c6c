package checkout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestASnapshotRunsNothingOfTheAgents(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("main", "attributes", map[string]string{".gitattributes": "*.up filter=up\n", "a.txt": "one\n"})
	dir := h.Workspace("main")
	c := h.Open(dir)
	start := gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	run, traces := gittest.Canary(t)
	pipe := filepath.Join(t.TempDir(), "never")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, kv := range [][2]string{
		{"core.fsmonitor", run}, {"core.hooksPath", filepath.Dir(run)}, {"filter.up.clean", run}, {"filter.evil.clean", run}, {"filter.evil.required", "true"},
		{"filter.evil.process", run}, {"core.excludesFile", pipe}, {"core.attributesFile", pipe}, {"core.alternateRefsCommand", run}, {"include.path", pipe},
	} {
		h.Git(dir, "config", "--file", ".git/config", kv[0], kv[1])
	}
	require.NoError(t, os.Symlink(run, filepath.Join(filepath.Dir(run), "post-index-change")))
	require.NoError(t, os.Symlink(run, filepath.Join(dir, ".git", "hooks", "post-index-change")))
	gittest.Write(t, dir, map[string]string{
		".gitattributes": "*.up filter=up\n*.txt filter=evil\n", "a.txt": "two\n", "x.up": "loud\n", ".git/info/exclude": "*\n",
		".git/index.lock": "somebody is at work", ".git/HEAD.lock": "x", ".git/config.lock": "x", ".git/refs/heads/mergexo/issue-5.lock": "x",
	})
	was := gittest.Files(t, c)
	sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
	assert.Equal(t, was, gittest.Files(t, c), "locks and what was configured stay as they are")
	assert.Empty(t, traces())
	for path, want := range map[string]string{"x.up": "loud\n", "a.txt": "two\n"} {
		assert.Equal(t, want, string(gittest.Must(history.Blob(gittest.Ctx, c, sha, path))(t)))
	}
	assert.Equal(t, start, gittest.Must(c.Head(gittest.Ctx))(t, "and afterwards all is mended"))
	assert.Empty(t, traces())
}

func TestASnapshotDoesNotLookForObjectsElsewhere(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, dot, foreign string) error{
		"alternates": func(_ *testing.T, dot, foreign string) error {
			return os.WriteFile(filepath.Join(dot, "objects", "info", "alternates"), []byte(foreign+"\n"), 0o644)
		},
		"a pipe for alternates": func(_ *testing.T, dot, _ string) error {
			return syscall.Mkfifo(filepath.Join(dot, "objects", "info", "alternates"), 0o600)
		},
		"a link": func(_ *testing.T, dot, foreign string) error {
			return os.Symlink(foreign, filepath.Join(dot, "objects", "zz"))
		},
		"a pipe for the index": func(t *testing.T, dot, _ string) error {
			require.NoError(t, os.Remove(filepath.Join(dot, "index")))
			return syscall.Mkfifo(filepath.Join(dot, "index"), 0o600)
		},
		"a pipe for HEAD": func(t *testing.T, dot, _ string) error {
			require.NoError(t, os.Remove(filepath.Join(dot, "HEAD")))
			return syscall.Mkfifo(filepath.Join(dot, "HEAD"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, _ := begun(t)
			gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			require.NoError(t, plant(t, filepath.Join(c.Dir(), ".git"), filepath.Join(h.Bare, "objects")))
			was := gittest.Files(t, c)
			_, err := checkout.Snapshot(gittest.Ctx, c, "", "Snapshot")
			unsafeDir := gittest.As[*git.ErrUnsafeGitDir](t, err)
			assert.Len(t, unsafeDir.Paths, 1)
			assert.Equal(t, was, gittest.Files(t, c), "it is left to Head to take it out")
			_, err = c.Head(gittest.Ctx)
			if name != "alternates" {
				require.ErrorAs(t, err, &unsafeDir)
			}
		})
	}
}

func TestASnapshotEndsWhenItIsToldTo(t *testing.T) {
	_, c, _ := begun(t)
	ended, cancel := context.WithCancel(gittest.Ctx)
	cancel()
	require.ErrorIs(t, gittest.Err(checkout.Snapshot(ended, c, "", "Snapshot")), context.Canceled)

	// git waits for what is to be ignored, for ever.
	require.NoError(t, os.Remove(filepath.Join(c.Dir(), ".gitignore")))
	pipe := filepath.Join(c.Dir(), ".gitignore")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	waiting, cancel := context.WithCancel(gittest.Ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := checkout.Snapshot(waiting, c, "", "Snapshot")
		done <- err
	}()
	opened, err := os.OpenFile(pipe, os.O_WRONLY, 0) // which waits for the reader
	require.NoError(t, err)
	defer opened.Close()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// A user of their own owns the checkout while an agent is at work in it, objects and all.
func TestASnapshotWritesNothingInTheCheckout(t *testing.T) {
	h, c, start := begun(t)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n", "new/d.txt": "d\n"})
	objects := func() (paths []string) {
		require.NoError(t, filepath.WalkDir(filepath.Join(c.Dir(), ".git", "objects"), func(path string, _ os.DirEntry, err error) error {
			paths = append(paths, path)
			return err
		}))
		return paths
	}
	was := objects()
	one := gittest.Snap(t, h, c, "")
	flat := gittest.Must(checkout.Flatten(gittest.Ctx, c, one, "Flat"))(t)
	require.NotEqual(t, start, flat)
	require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "mergexo/checkpoint/5/x", SHA: flat}))
	assert.Equal(t, was, objects())
	assert.Equal(t, flat, h.Tip("refs/heads/mergexo/checkpoint/5/x"))
}

// While git reads the files of a directory, that directory becomes a link to one that only we may read.
func TestASnapshotIsNotLedOutOfTheTree(t *testing.T) {
	_, c, _ := begun(t)
	outside, dir := t.TempDir(), filepath.Join(c.Dir(), "sub")
	gittest.Write(t, outside, map[string]string{"b.txt": "keep me secret\n"})
	gittest.Write(t, dir, map[string]string{"c.txt": "changed\n", "b.txt": "new\n"})
	pipe := filepath.Join(dir, ".gitattributes") // which git opens for the first file of the directory
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	over, led := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			opened, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails as long as nobody reads
			if err == nil {
				led <- errors.Join(os.Remove(pipe), os.Rename(dir, dir+"-moved"), os.Symlink(outside, dir), opened.Close())
				return
			}
			select {
			case <-over:
				led <- nil
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	sha, err := checkout.Snapshot(gittest.Ctx, c, "", "Snapshot")
	close(over)
	require.NoError(t, <-led)
	if err == nil {
		for path, text := range listing(t, c, sha) {
			assert.NotContains(t, text, "secret", path)
		}
	}
}

// An index can name any path, and git lists one with conflicts without a look at it.
func TestASnapshotWritesNothingOutsideItsCopies(t *testing.T) {
	_, c, _ := begun(t)
	dir := c.Dir()
	gittest.Write(t, dir, map[string]string{"commondir": "/somewhere/evil\n", "a.txt": "two\n", "d/e/f.txt": "f\n"})
	require.NoError(t, os.Symlink("d/e", filepath.Join(dir, "l")), "so that the path is inside the tree, and cleaned up is not")
	const path = "l/../../commondir"
	gittest.ForgeIndex(t, dir, path, 1)
	require.Contains(t, ask(t, c, "--git-dir="+filepath.Join(dir, ".git"), "--work-tree="+dir, "diff-files", "--name-status"), path, "or there is no trap")
	assert.Equal(t, "two", listing(t, c, gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t))["a.txt"])
	assert.NoFileExists(t, filepath.Join(c.OwnDir, "commondir"))
}
