package cli_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// tested are settings whose tests look for a word in a file.
const tested = "[merge]\nlock_timeout = \"1s\"\ntests = [\"grep\", \"-q\", \"hello\", \"greeting.txt\"]\n"

// yard is a bare repository and a person's clone of it: branch fix changes two files, and the base has moved since.
type yard struct {
	t                       testing.TB
	home, bare, writer, dir string
	limits                  bool // its programs go by the machine's clock
}

// newYard gives a copy of the first one that was made; each origin is at a relative path. more is a further commit of the base.
func newYard(t testing.TB, more map[string]string) *yard {
	t.Helper()
	root := t.TempDir()
	y := &yard{t: t, home: filepath.Join(root, "home"), bare: filepath.Join(root, "origin.git"), writer: filepath.Join(root, "writer"), dir: filepath.Join(root, "clone")}
	require.NoError(t, os.CopyFS(root, os.DirFS(firstYard(t))))
	if len(more) > 0 {
		y.commit("main", "main", "Settings", more)
	}
	return y
}

var yards struct {
	sync.Once
	dir string
}

// firstYard fills a repository by way of a clone of somebody else. TestMain takes it away.
func firstYard(t testing.TB) string {
	t.Helper()
	yards.Do(func() {
		root := must.Get(os.MkdirTemp("", "mergexo-yard-"))(t)
		y := &yard{t: t, home: filepath.Join(root, "home"), bare: filepath.Join(root, "origin.git"), writer: filepath.Join(root, "writer"), dir: filepath.Join(root, "clone")}
		require.NoError(t, os.Mkdir(y.home, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(y.home, ".gitconfig"), []byte("[user]\nname = Ada\nemail = ada@example.com\n[init]\ndefaultBranch = main\n[core]\nfsync = none\n"), 0o600))
		y.git(root, "init", "-q", "--bare", "--template=", y.bare)
		y.git(root, "clone", "-q", "--template=", y.bare, y.writer)
		y.git(y.writer, "remote", "set-url", "origin", "../origin.git")
		y.commit("main", "", "Begin", map[string]string{".github/mergexo.toml": tested, "greeting.txt": "hello\nworld\n", "notes.txt": "one\n"})
		y.commit("fix", "main", "Exclaim", map[string]string{"greeting.txt": "hello\nworld!\n"})
		y.commit("fix", "fix", "Say more", map[string]string{"more.txt": "more\n"})
		y.commit("main", "main", "Meanwhile", map[string]string{"notes.txt": "one\ntwo\n"})
		y.clone("clone", "-q", "--template=", y.bare)
		y.git(y.dir, "remote", "set-url", "origin", "../origin.git")
		yards.dir = root
	})
	return yards.dir
}

func (y *yard) clone(args ...string) {
	y.t.Helper()
	require.NoError(y.t, os.RemoveAll(y.dir))
	y.git(filepath.Dir(y.dir), append(args, y.dir)...)
}

func (y *yard) git(dir string, args ...string) string {
	y.t.Helper()
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + y.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-01-02T10:00:00Z", "GIT_COMMITTER_DATE=2026-01-02T10:00:00Z"}
	out, err := cmd.CombinedOutput()
	require.NoError(y.t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

// commit pushes a commit on a branch, from where start is; "": without a parent. A file with no text is deleted.
func (y *yard) commit(branch, start, subject string, files map[string]string) {
	y.t.Helper()
	if start == "" {
		y.git(y.writer, "checkout", "-q", "--orphan", "fresh"+branch)
	} else {
		y.git(y.writer, "checkout", "-q", "-B", branch, start)
	}
	for name, text := range files {
		path := filepath.Join(y.writer, name)
		if text == "" {
			require.NoError(y.t, os.Remove(path))
			continue
		}
		require.NoError(y.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(y.t, os.WriteFile(path, []byte(text), 0o600))
	}
	y.git(y.writer, "add", "-A")
	y.git(y.writer, "commit", "-q", "-m", subject)
	y.git(y.writer, "checkout", "-q", "-B", branch)
	y.git(y.writer, "push", "-q", "--force", "origin", branch)
}

// env is what a terminal of this person has.
func (y *yard) env(more ...string) []string {
	env := append([]string{"HOME=" + y.home, "GIT_CONFIG_NOSYSTEM=1"}, more...)
	if y.limits {
		env = append(env, limited)
	}
	return env
}

// merge runs mergexo merge in the clone.
func (y *yard) merge(args ...string) ran {
	y.t.Helper()
	return program(y.t, y.env(), append([]string{"merge", "--checkout", y.dir}, args...)...)
}

func (y *yard) origin(ref string) string {
	y.t.Helper()
	return y.git(y.bare, "rev-parse", "--verify", ref)
}

func (y *yard) here(ref string) string {
	y.t.Helper()
	return y.git(y.dir, "rev-parse", "--verify", ref)
}

// refs are all refs of the origin, hidden ones among them.
func (y *yard) refs() string {
	y.t.Helper()
	return y.git(y.bare, "for-each-ref")
}

// subjects are those of the newest commits of a branch of the origin, newest first.
func (y *yard) subjects(branch string, n int) []string {
	y.t.Helper()
	return strings.Split(y.git(y.bare, "log", "--first-parent", "--format=%s", fmt.Sprintf("-%d", n), branch), "\n")
}

// checkout is all of a clone but the objects of its repository: every file with its bytes and when it was written.
func (y *yard) checkout() string {
	y.t.Helper()
	var rows []string
	require.NoError(y.t, filepath.WalkDir(y.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path == filepath.Join(y.dir, ".git", "objects") {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rows = append(rows, fmt.Sprintf("%s %s %s %x", path, info.Mode(), info.ModTime(), sha256.Sum256(text)))
		return err
	}))
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}
