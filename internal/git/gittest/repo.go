package gittest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

// EachGit runs a test with the git on PATH, and with the one below MERGEXO_TEST_GIT, a directory, where that is set.
func EachGit(t *testing.T, test func(t *testing.T, path string)) {
	t.Parallel()
	paths := map[string]string{"git on PATH": GitPath()}
	if other := os.Getenv("MERGEXO_TEST_GIT"); other != "" {
		paths["MERGEXO_TEST_GIT"] = other + string(filepath.ListSeparator) + GitPath()
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, path)
		})
	}
}

// Repo is a workspace whose commits are made without its files, and a checkout on it. Whatever is built in it must leave
// it as it is.
type Repo struct {
	T       testing.TB
	Dir     string
	Path    string
	Home    string
	Temp    string
	Program string
	C       *git.Checkout
	N       int
}

// EachRepo is EachGit with a repository.
func EachRepo(t *testing.T, test func(t *testing.T, r *Repo)) {
	EachGit(t, func(t *testing.T, path string) { test(t, NewRepo(t, path)) })
}

// OneRepo is a repository for a parallel test with the git on PATH alone: nothing in it depends on how a version of git merges.
func OneRepo(t *testing.T) *Repo {
	t.Helper()
	t.Parallel()
	return NewRepo(t, GitPath())
}

func NewRepo(t testing.TB, path string) *Repo {
	t.Helper()
	r := &Repo{T: t, Dir: filepath.Join(t.TempDir(), "widgets"), Path: path, Home: t.TempDir(), Program: "git"}
	if other := filepath.Join(filepath.SplitList(path)[0], "git"); path != GitPath() {
		r.Program = other
	}
	require.NoError(t, os.Mkdir(r.Dir, 0o755))
	r.Git("init", "-q", "--template=", "--initial-branch=main", ".")
	r.Git("remote", "add", "origin", "https://git.example/octo/widgets")
	for name, text := range map[string]string{"dirty.txt": "somebody works here\n", ".gitattributes": "* merge=union\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600))
	}
	r.Temp = t.TempDir()
	c, err := git.Open(Ctx, git.Options{
		URL: "https://git.example/octo/widgets", Workspace: r.Dir, Temp: r.Temp, Path: path,
		Identity: git.Identity{Name: "MergeXO", Email: "mergexo@example.com"},
		Now:      func() time.Time { return time.Unix(1800000000, 0) },
	})
	require.NoError(t, err)
	require.Equal(t, r.Dir, c.Dir())
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	r.C = c
	return r
}

// Git runs git in the workspace.
func (r *Repo) Git(args ...string) string {
	r.T.Helper()
	out, err := r.Run(r.Dir, "", args...)
	require.NoError(r.T, err, "git %v: %s", args, out)
	return strings.TrimSuffix(out, "\n")
}

func (r *Repo) Run(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command(r.Program, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + r.Path, "HOME=" + r.Home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_MERGE_AUTOEDIT=no", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com",
	}
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return out.String() + failed.String(), err
	}
	return out.String(), nil
}

// Edit is what a commit makes of a path; the zero value removes it.
type Edit struct{ Mode, Text string }

// Texts are contents of ordinary files; "" removes one.
func Texts(pairs ...string) map[string]Edit {
	all := map[string]Edit{}
	for i := 0; i < len(pairs); i += 2 {
		if all[pairs[i]] = (Edit{"100644", pairs[i+1]}); pairs[i+1] == "" {
			all[pairs[i]] = Edit{}
		}
	}
	return all
}

// Commit makes a commit; its files are those of the first parent, edited.
func (r *Repo) Commit(message string, edits map[string]Edit, parents ...string) string {
	r.T.Helper()
	r.N++
	return r.CommitBy(fmt.Sprintf("Dev <dev@example.com> %d +0200", 1700000000+r.N), message, edits, parents...)
}

func (r *Repo) CommitBy(author, message string, edits map[string]Edit, parents ...string) string {
	r.T.Helper()
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
		switch e.Mode {
		case "":
			s.WriteString("D " + quoted + "\n")
		case git.ModeSubmodule:
			s.WriteString("M 160000 " + e.Text + " " + quoted + "\n")
		default:
			fmt.Fprintf(&s, "M %s inline %s\ndata %d\n%s\n", e.Mode, quoted, len(e.Text), e.Text)
		}
	}
	s.WriteString("\nget-mark :1\nreset refs/made\nfrom 0000000000000000000000000000000000000000\n")
	out, err := r.Run(r.Dir, s.String(), "fast-import", "--quiet", "--force")
	require.NoError(r.T, err, out)
	return strings.TrimSpace(out)
}

// Merge is git's own merge of two commits in a plain working tree, where it is clean: the merge commit.
func (r *Repo) Merge(base, head string, settings ...string) (string, bool) {
	r.T.Helper()
	dir := r.T.TempDir()
	out, err := r.Run(dir, "", "init", "-q", "--template=", ".")
	require.NoError(r.T, err, out)
	require.NoError(r.T, os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(filepath.Join(r.Dir, ".git", "objects")+"\n"), 0o600))
	settings = append([]string{"-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"}, settings...)
	out, err = r.Run(dir, "", append(settings, "-c", "advice.detachedHead=false", "checkout", "-q", "--detach", base)...)
	require.NoError(r.T, err, out)
	if out, err = r.Run(dir, "", append(settings, "merge", "-q", "--no-ff", "-m", "git's own", head)...); err != nil {
		require.Contains(r.T, out, "CONFLICT")
		return "", false
	}
	out, err = r.Run(dir, "", "rev-parse", "HEAD")
	require.NoError(r.T, err)
	out = strings.TrimSpace(out)
	_, err = r.Run(dir, "", "push", "-q", r.Dir, out+":refs/oracle/"+out)
	require.NoError(r.T, err)
	r.Git("update-ref", "-d", "refs/oracle/"+out)
	return out, true
}

// Offered is the message that git merge --squash offers, without spaces at the end of lines.
func (r *Repo) Offered(base, head string) string {
	r.T.Helper()
	dir := r.T.TempDir()
	for _, args := range [][]string{{"clone", "-q", "--shared", "--no-checkout", r.Dir, "."}, {"checkout", "-q", "--detach", base}, {"merge", "--squash", "-q", head}} {
		out, err := r.Run(dir, "", args...)
		require.NoError(r.T, err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".git", "SQUASH_MSG"))
	require.NoError(r.T, err)
	return strings.TrimSpace(regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(string(text), ""))
}

func (r *Repo) Tree(rev string) string {
	r.T.Helper()
	return r.Git("rev-parse", rev+"^{tree}")
}

// State is a sum of everything in the workspace but its objects.
func (r *Repo) State() string {
	sum := sha256.New()
	require.NoError(r.T, filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
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

// Build builds a merge, and requires that the workspace stays as it is and that the merge stands the guard.
func (r *Repo) Build(m merging.Request) (merging.Merged, error) {
	r.T.Helper()
	if m.Title == "" {
		m.Title = "Title (#7)"
	}
	before := r.State()
	made, err := merging.Build(Ctx, r.C, m)
	if err == nil {
		require.NoError(r.T, merging.Verify(Ctx, r.C, m, made))
		assert.Equal(r.T, r.Tree(made.Tip), made.Tree)
		assert.Equal(r.T, r.Git("rev-list", "--count", made.Tip, "^"+m.Base), strconv.Itoa(made.Count))
		if made.Count <= 250 {
			assert.Len(r.T, made.Commits, made.Count)
		}
		assert.Equal(r.T, made.Tip, made.Commits[len(made.Commits)-1].SHA)
	}
	assert.Equal(r.T, before, r.State(), "the workspace is not touched")
	left, failed := filepath.Glob(filepath.Join(r.Temp, "mergexo-[ap]*"))
	require.NoError(r.T, failed)
	assert.Empty(r.T, left, "directories of a merge are removed")
	return made, err
}

func (r *Repo) Must(m merging.Request) merging.Merged {
	r.T.Helper()
	made, err := r.Build(m)
	require.NoError(r.T, err)
	return made
}

// Log is what a range says, oldest first, a line each.
func (r *Repo) Log(format, base, tip string) string {
	r.T.Helper()
	return r.Git("log", "--reverse", "--topo-order", "--format="+format, tip, "^"+base)
}

// Numbers is a text of lines 1 to n, some of them replaced.
func Numbers(n int, replace ...string) string {
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

func Shas(list []model.Commit) []string {
	var all []string
	for _, c := range list {
		all = append(all, c.SHA)
	}
	return all
}

// GitPath is where the git of tests is that need no more than one.
func GitPath() string { return os.Getenv("PATH") }

func Epoch() time.Time { return time.Unix(1800000000, 0) }

func WriteFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

// Growth is by how many KiB this process was larger during do than before it, at most; 0 where the system does not tell.
// https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html
func Growth(b *testing.B, do func()) int {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // the peak is now what there is now
		do()
		return 0
	}
	before := peak(b)
	do()
	return peak(b) - before
}

// peak is how much memory this process has had at most, in KiB.
func peak(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	require.True(b, found)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(b, err)
	return kib
}

// GrowLarge makes the repository of the budget: a base that has gone on for a thousand commits since the branch began.
func GrowLarge(r *Repo) (base, head string) {
	var s strings.Builder
	file := func(i int, first string) {
		path := fmt.Sprintf("d%d/e%d/f%d", i%50, i/50%20, i)
		text := first + Numbers(8)
		fmt.Fprintf(&s, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	commit := func(ref string, n int, from string) {
		mark := ""
		if from == "begun" {
			mark, from = "mark :1\n", ""
		}
		fmt.Fprintf(&s, "commit refs/%s\n%scommitter Dev <dev@example.com> %d +0200\ndata 1\nc\n%s", ref, mark, 1600000000+n, from)
	}
	commit("base", 0, "")
	for i := range 50000 {
		file(i, fmt.Sprintln("file", i))
	}
	for k := 1; k < 20000; k++ {
		mark := ""
		if k == 19000 {
			mark = "begun"
		}
		commit("base", k, mark)
		file(k*7919%50000, fmt.Sprintln("changed", k))
	}
	for k := range 10 {
		from := ""
		if k == 0 {
			from = "from :1\n"
		}
		commit("head", 20000+k, from)
		file(k*4999, "by the branch\n")
	}
	out, err := r.Run(r.Dir, s.String(), "fast-import", "--quiet")
	require.NoError(r.T, err, out)
	return r.Git("rev-parse", "refs/base"), r.Git("rev-parse", "refs/head")
}
