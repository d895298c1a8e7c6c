package git_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// eachGit runs a test with the git on PATH, and with the one below MERGEXO_TEST_GIT, a directory, where that is set.
func eachGit(t *testing.T, test func(t *testing.T, path string)) {
	t.Parallel()
	paths := map[string]string{"git on PATH": gitPath()}
	if other := os.Getenv("MERGEXO_TEST_GIT"); other != "" {
		paths["MERGEXO_TEST_GIT"] = other + string(filepath.ListSeparator) + gitPath()
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, path)
		})
	}
}

// oneGit runs a test with the git on PATH alone: nothing in it depends on how a version of git merges.
func oneGit(t *testing.T, test func(t *testing.T, path string)) {
	t.Helper()
	t.Parallel()
	test(t, gitPath())
}

// repo is a workspace whose commits are made without its files, and a checkout on it. Whatever is built in it must leave
// it as it is.
type repo struct {
	t       testing.TB
	dir     string
	path    string
	home    string
	temp    string
	program string
	c       *git.Checkout
	n       int
}

func newRepo(t testing.TB, path string) *repo {
	t.Helper()
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "widgets"), path: path, home: t.TempDir(), program: "git"}
	if other := filepath.Join(filepath.SplitList(path)[0], "git"); path != gitPath() {
		r.program = other
	}
	require.NoError(t, os.Mkdir(r.dir, 0o755))
	r.git("init", "-q", "--template=", "--initial-branch=main", ".")
	r.git("remote", "add", "origin", "https://git.example/octo/widgets")
	for name, text := range map[string]string{"dirty.txt": "somebody works here\n", ".gitattributes": "* merge=union\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
	}
	r.temp = t.TempDir()
	c, err := git.Open(ctx, git.Options{
		URL: "https://git.example/octo/widgets", Workspace: r.dir, Temp: r.temp, Path: path,
		Identity: git.Identity{Name: "MergeXO", Email: "mergexo@example.com"},
		Now:      func() time.Time { return time.Unix(1800000000, 0) },
	})
	require.NoError(t, err)
	require.Equal(t, r.dir, c.Dir())
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	r.c = c
	return r
}

// git runs git in the workspace.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.run(r.dir, "", args...)
	require.NoError(r.t, err, "git %v: %s", args, out)
	return strings.TrimSuffix(out, "\n")
}

func (r *repo) run(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command(r.program, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + r.path, "HOME=" + r.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_MERGE_AUTOEDIT=no", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com",
	}
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return out.String() + failed.String(), err
	}
	return out.String(), nil
}

// edit is what a commit makes of a path; the zero value removes it.
type edit struct{ mode, text string }

// texts are contents of ordinary files; "" removes one.
func texts(pairs ...string) map[string]edit {
	all := map[string]edit{}
	for i := 0; i < len(pairs); i += 2 {
		if all[pairs[i]] = (edit{"100644", pairs[i+1]}); pairs[i+1] == "" {
			all[pairs[i]] = edit{}
		}
	}
	return all
}

// commit makes a commit; its files are those of the first parent, edited.
func (r *repo) commit(message string, edits map[string]edit, parents ...string) string {
	r.t.Helper()
	r.n++
	return r.commitBy(fmt.Sprintf("Dev <dev@example.com> %d +0200", 1700000000+r.n), message, edits, parents...)
}

func (r *repo) commitBy(author, message string, edits map[string]edit, parents ...string) string {
	r.t.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "commit refs/made\nmark :1\nauthor %s\ncommitter %s\n", author, author[strings.Index(author, "<"):])
	if strings.Contains(message, "\xe9") {
		s.WriteString("encoding ISO-8859-1\n")
	}
	fmt.Fprintf(&s, "data %d\n%s\n", len(message), message)
	for i, parent := range parents {
		s.WriteString([]string{"from ", "merge "}[min(i, 1)] + parent + "\n")
	}
	for path, e := range edits {
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
		switch e.mode {
		case "":
			s.WriteString("D " + quoted + "\n")
		case git.ModeSubmodule:
			s.WriteString("M 160000 " + e.text + " " + quoted + "\n")
		default:
			fmt.Fprintf(&s, "M %s inline %s\ndata %d\n%s\n", e.mode, quoted, len(e.text), e.text)
		}
	}
	s.WriteString("\nget-mark :1\nreset refs/made\nfrom 0000000000000000000000000000000000000000\n")
	out, err := r.run(r.dir, s.String(), "fast-import", "--quiet", "--force")
	require.NoError(r.t, err, out)
	return strings.TrimSpace(out)
}

// merge is git's own merge of two commits in a plain working tree, where it is clean: the merge commit.
func (r *repo) merge(base, head string, settings ...string) (string, bool) {
	r.t.Helper()
	dir := r.t.TempDir()
	out, err := r.run(dir, "", "init", "-q", "--template=", ".")
	require.NoError(r.t, err, out)
	require.NoError(r.t, os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(filepath.Join(r.dir, ".git", "objects")+"\n"), 0o600))
	settings = append([]string{"-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"}, settings...)
	out, err = r.run(dir, "", append(settings, "-c", "advice.detachedHead=false", "checkout", "-q", "--detach", base)...)
	require.NoError(r.t, err, out)
	if out, err = r.run(dir, "", append(settings, "merge", "-q", "--no-ff", "-m", "git's own", head)...); err != nil {
		require.Contains(r.t, out, "CONFLICT")
		return "", false
	}
	out, err = r.run(dir, "", "rev-parse", "HEAD")
	require.NoError(r.t, err)
	out = strings.TrimSpace(out)
	_, err = r.run(dir, "", "push", "-q", r.dir, out+":refs/oracle/"+out)
	require.NoError(r.t, err)
	r.git("update-ref", "-d", "refs/oracle/"+out)
	return out, true
}

// offered is the message that git merge --squash offers, without spaces at the end of lines.
func (r *repo) offered(base, head string) string {
	r.t.Helper()
	dir := r.t.TempDir()
	for _, args := range [][]string{{"clone", "-q", "--shared", "--no-checkout", r.dir, "."}, {"checkout", "-q", "--detach", base}, {"merge", "--squash", "-q", head}} {
		out, err := r.run(dir, "", args...)
		require.NoError(r.t, err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".git", "SQUASH_MSG"))
	require.NoError(r.t, err)
	return strings.TrimSpace(regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(string(text), ""))
}

func (r *repo) tree(rev string) string {
	r.t.Helper()
	return r.git("rev-parse", rev+"^{tree}")
}

// state is a sum of everything in the workspace but its objects.
func (r *repo) state() string {
	sum := sha256.New()
	require.NoError(r.t, filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "objects" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d %x\n", path, d.Type(), text)
		return err
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// build builds a merge, and requires that the workspace stays as it is and that the merge stands the guard.
func (r *repo) build(m git.Merge) (git.Merged, error) {
	r.t.Helper()
	if m.Title == "" {
		m.Title = "Title (#7)"
	}
	before := r.state()
	made, err := r.c.Build(ctx, m)
	if err == nil {
		require.NoError(r.t, r.c.Verify(ctx, m, made))
		assert.Equal(r.t, r.tree(made.Tip), made.Tree)
		assert.Equal(r.t, r.git("rev-list", "--count", made.Tip, "^"+m.Base), strconv.Itoa(made.Count))
		if made.Count <= 250 {
			assert.Len(r.t, made.Commits, made.Count)
		}
		assert.Equal(r.t, made.Tip, made.Commits[len(made.Commits)-1].SHA)
	}
	assert.Equal(r.t, before, r.state(), "the workspace is not touched")
	left, failed := filepath.Glob(filepath.Join(r.temp, "mergexo-[ap]*"))
	require.NoError(r.t, failed)
	assert.Empty(r.t, left, "directories of a merge are removed")
	return made, err
}

func (r *repo) must(m git.Merge) git.Merged {
	r.t.Helper()
	made, err := r.build(m)
	require.NoError(r.t, err)
	return made
}

// log is what a range says, oldest first, a line each.
func (r *repo) log(format, base, tip string) string {
	r.t.Helper()
	return r.git("log", "--reverse", "--topo-order", "--format="+format, tip, "^"+base)
}

// numbers is a text of lines 1 to n, some of them replaced.
func numbers(n int, replace ...string) string {
	var out strings.Builder
	for i := 1; i <= n; i++ {
		text := strconv.Itoa(i)
		for k := 0; k+1 < len(replace); k += 2 {
			if replace[k] == text {
				text = replace[k+1]
				break
			}
		}
		out.WriteString(text + "\n")
	}
	return out.String()
}

func shas(list []model.Commit) []string {
	var all []string
	for _, c := range list {
		all = append(all, c.SHA)
	}
	return all
}

// gitPath is where the git of tests is that need no more than one.
func gitPath() string { return os.Getenv("PATH") }

func epoch() time.Time { return time.Unix(1800000000, 0) }

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
