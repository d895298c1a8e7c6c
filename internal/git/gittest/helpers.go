// Package gittest helps tests of git: a server with a repository, repositories with any history, a person's clone, and traps that
// report whether something ran. Only tests import it.
package gittest

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/must"
)

var Ctx = context.Background()

const Fresh = "mergexo/issue-5"

// Must takes what a call returns, and gives its value to a test that its error ends.
func Must[T any](value T, err error) func(t testing.TB, said ...any) T { return must.Get(value, err) }

// Err takes what a call returns, and gives its error alone.
func Err[T any](_ T, err error) error { return err }

// As is the error of a type that an error is or holds; the test ends where there is none.
func As[E error](t testing.TB, err error, said ...any) (found E) {
	t.Helper()
	require.ErrorAs(t, err, &found, said...)
	return found
}

// CPU is the processor time so far of this process and of those that it has waited for. What else the machine does changes it little.
func CPU() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		_ = syscall.Getrusage(who, &used)
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}

// Files lists everything below a checkout's git directory but its objects, with what is in it.
func Files(t *testing.T, c *git.Checkout) map[string]string {
	t.Helper()
	seen := map[string]string{}
	root := filepath.Join(c.Dir(), ".git")
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root+"/")
		if strings.HasPrefix(name, "objects/") && !strings.HasPrefix(name, "objects/info") {
			return nil
		}
		if seen[name] = ""; err == nil && e.Type().IsRegular() {
			seen[name] = Read(t, path)
		}
		return err
	}))
	return seen
}

// Lines are n lines of a file, some of them replaced.
func Lines(name string, n int, replaced map[int]string) string {
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

// state is all that an agent can see of a checkout: what git says, every byte of the git directory but the objects, and
// every file of the working tree with its time.
func state(t *testing.T, h *Hub, c *git.Checkout) map[string]string {
	t.Helper()
	seen := Files(t, c)
	said, err := h.Try(c.Dir(), "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "include.path=/dev/null", "status", "--porcelain=v2", "--branch", "--untracked-files=all")
	seen["status"] = fmt.Sprint(said, err)
	require.NoError(t, filepath.WalkDir(c.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := e.Info()
		seen["/"+path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		return err
	}))
	return seen
}

// Quarantine is a view of a checkout as Snapshot is meant for, for as long as the test lasts.
func Quarantine(t *testing.T, c *git.Checkout) *git.Checkout {
	t.Helper()
	view, leave, err := git.Quarantine(c, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, leave()) })
	return view
}

// Snap takes a snapshot and sees to it that nothing of the checkout has changed.
func Snap(t *testing.T, h *Hub, c *git.Checkout, before string) string {
	t.Helper()
	was := state(t, h, c)
	sha, err := checkout.Snapshot(Ctx, c, before, "Snapshot")
	require.NoError(t, err)
	assert.Equal(t, was, state(t, h, c), "the agent sees nothing of it")
	return sha
}

func Begun(t *testing.T, more ...string) (h *Hub, c *git.Checkout, start string) {
	h = NewHub(t)
	h.Grow("main", 60)
	start = h.Commit("main", "files", map[string]string{"a.txt": "one\n", "b.txt": "b\n", "sub/c.txt": "c\n"})
	c = h.Open(h.Workspace("main", more...))
	_, err := checkout.Begin(Ctx, c, Fresh, "main")
	require.NoError(t, err)
	return h, c, start
}

var Encoded = base64.StdEncoding.EncodeToString([]byte("x-access-token:" + Token))

// Recorder puts a git in front of the real one that notes argv and environment of every call, one file each.
func Recorder(t *testing.T) (path, notes string) {
	t.Helper()
	program := must.Get(exec.LookPath("git"))(t)
	dir, notes := t.TempDir(), t.TempDir()
	script := `#!/bin/sh
note=$(mktemp ` + notes + `/XXXXXX)
printf '%s\n' "$@" > "$note.argv"
tr '\0' '\n' < /proc/$$/environ > "$note.env"
exec ` + program + ` "$@"
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	return dir + ":" + os.Getenv("PATH"), notes
}

// Canary is a command line that leaves a trace when it is run: its whole environment.
func Canary(t *testing.T) (command string, traces func() []string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "canary")
	text := "#!/bin/sh\n{ echo \"ran as $0 $*\"; env; tr '\\0' '\\n' </proc/$PPID/environ; } >> " + dir + "/trace.$$\ncat\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o755))
	return script, func() []string {
		return must.Get(filepath.Glob(dir + "/trace.*"))(t)
	}
}

// AssertNoCredential looks through every file below a directory.
func AssertNoCredential(t *testing.T, root string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			text := Read(t, file)
			assert.NotContains(t, text, Token, file)
			assert.NotContains(t, text, Encoded, file)
		}
		return err
	}))
}
