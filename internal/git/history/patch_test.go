package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

// turned is a checkout of agent/x whose base main has gone on; start is its head, tip is main's.
func turned(t *testing.T, files map[string]string) (h *gittest.Hub, c *git.Checkout, start, tip string) {
	h = gittest.NewHub(t)
	h.Commit("main", "base", files)
	start = h.Commit("agent/x", "work", map[string]string{"work.txt": "work\n"})
	tip = h.Commit("main", "gone on", map[string]string{".github/workflows/new.yml": "on: push\n", "main.txt": "main\n"})
	c = h.Open(h.Workspace("agent/x"))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", start))
	return h, c, start, tip
}

// does makes a commit as an agent would.
func does(h *gittest.Hub, c *git.Checkout, message string, files map[string]string) string {
	h.T.Helper()
	gittest.Write(h.T, c.Dir(), files)
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", message)
	return h.Agent(c, "rev-parse", "HEAD")
}

// added is what of a range is new, line by line, as "commit path:line text"; a commit's headers are left out.
func added(t *testing.T, c *git.Checkout, from, to string, known ...string) []string {
	t.Helper()
	var list []string
	unseen := gittest.Must(patches(gittest.Ctx, c, from, to, known, history.Scope{}, func(a history.Addition) error {
		if a.Fresh != nil {
			assert.Len(t, a.Fresh, len(bytes.SplitAfter(bytes.TrimSuffix(a.Text, []byte("\n")), []byte("\n"))))
		}
		for i, row := range strings.Split(strings.TrimSuffix(string(a.Text), "\n"), "\n") {
			if (a.Fresh == nil || a.Fresh[i]) && (a.Path != "" || a.Line+i > 0) {
				list = append(list, fmt.Sprintf("%.7s %s:%d %s", a.Commit, a.Path, a.Line+i, row))
			}
		}
		return nil
	}))(t)
	assert.Empty(t, unseen)
	return list
}

func TestEveryCommitOfAPushIsHandedOut(t *testing.T) {
	h, c, start, _ := turned(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	first := does(h, c, "add\n\nwith words", map[string]string{"a.txt": "one\nleaked\ntwo\nthree\n", ".github/workflows/ci.yml": "on: push\n"})
	second := does(h, c, "take it back", map[string]string{"a.txt": "one\ntwo\nthree\n", ".github/workflows/ci.yml": ""})
	assert.Equal(t, []string{
		first[:7] + " .github/workflows/ci.yml:0 .github/workflows/ci.yml",
		first[:7] + " :1 add", first[:7] + " :2 ", first[:7] + " :3 with words",
		first[:7] + " .github/workflows/ci.yml:1 on: push", first[:7] + " a.txt:2 leaked",
		second[:7] + " :1 take it back",
	}, added(t, c, start, second))

	assert.Equal(t, []string{
		first[:7] + " A .github/workflows/ci.yml 000000 100644 9", first[:7] + " M a.txt 100644 100644 21",
		second[:7] + " D .github/workflows/ci.yml 100644 000000 0", second[:7] + " M a.txt 100644 100644 14",
	}, changed(t, c, start, second))
}

// patches lists what a push would publish and visits its text.
func patches(ctx context.Context, c *git.Checkout, from, to string, known []string, scope history.Scope, visit func(history.Addition) error) ([]history.Unseen, error) {
	p, err := history.Publishes(ctx, c, from, to, known)
	if err != nil {
		return nil, err
	}
	return p.Patches(ctx, c, scope, visit)
}

// everyChange lists what a push would publish, and its changes.
func everyChange(c *git.Checkout, from, to string, known ...string) ([]history.Step, error) {
	p, err := history.Publishes(gittest.Ctx, c, from, to, known)
	if err != nil {
		return nil, err
	}
	return p.EveryChange(gittest.Ctx, c)
}

// changed is EveryChange as text.
func changed(t *testing.T, c *git.Checkout, from, to string, known ...string) []string {
	t.Helper()
	steps := gittest.Must(everyChange(c, from, to, known...))(t)
	var list []string
	for _, s := range steps {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%.7s %s %s %s %s %d %s", s.Commit, s.Status, s.Path, s.OldMode, s.NewMode, s.Size, s.Target)))
	}
	return list
}

func TestAMergeHandsOutWhatItBringsAndWhatItMakesUp(t *testing.T) {
	h, c, start, tip := turned(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n", ".github/workflows/old.yml": "on: push\n"})
	h.Agent(c, "checkout", "-q", "-b", "side")
	side := does(h, c, "side", map[string]string{"side.txt": "leaked\n"})
	gone := does(h, c, "hide", map[string]string{"side.txt": ""})
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--no-ff", "-m", "merge side", "side")
	mid := h.Agent(c, "rev-parse", "HEAD")
	h.Agent(c, "merge", "-q", "--no-ff", "--no-commit", "origin/main")
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "one\nmade up\n", ".github/workflows/old.yml": ""})
	head := does(h, c, "merge main", nil)
	assert.Equal(t, []string{
		side[:7] + " side.txt:0 side.txt", side[:7] + " :1 side", side[:7] + " side.txt:1 leaked", gone[:7] + " :1 hide",
		mid[:7] + " :1 merge side", head[:7] + " :1 merge main", head[:7] + " a.txt:2 made up",
	}, added(t, c, start, head, tip))
	assert.Equal(t, []string{
		side[:7] + " A side.txt 000000 100644 7", gone[:7] + " D side.txt 100644 000000 0",
		head[:7] + " D .github/workflows/old.yml 100644 000000 0", head[:7] + " M a.txt 100644 100644 12",
	}, changed(t, c, start, head, tip), "main's new workflow is main's")

	without := strings.Join(changed(t, c, start, head), "\n")
	assert.Contains(t, without, "A .github/workflows/new.yml", "nobody said that main is there already")
	assert.ErrorContains(t, gittest.Err(everyChange(c, start, head, "0123456789012345678901234567890123456789")), "bad object")
	assert.ErrorContains(t, gittest.Err(everyChange(c, start, "--all")), "not commit ids")
}

func TestContentIsFollowedFromParentToChildWhateverTheirDates(t *testing.T) {
	h, c, start, tip := turned(t, nil)
	dated := func(date int, message string, files map[string]string) string {
		gittest.Write(t, c.Dir(), files)
		env := append(c.AgentEnv(), fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", date))
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", message}} {
			out, err := h.With(c.Dir(), env, args...)
			require.NoError(t, err, out)
		}
		return h.Agent(c, "rev-parse", "HEAD")
	}
	adds := dated(1_800_000_000, "adds", map[string]string{"x.txt": "leaked\n"})
	h.Agent(c, "checkout", "-q", "-b", "side")
	dated(1_900_000_000, "goes on", nil)
	h.Agent(c, "checkout", "-q", "agent/x")
	dated(1_750_000_000, "removes", map[string]string{"x.txt": ""})
	h.Agent(c, "merge", "-q", "--no-ff", "-m", "merge", "side")
	assert.Contains(t, added(t, c, start, h.Agent(c, "rev-parse", "HEAD"), tip), adds[:7]+" x.txt:1 leaked")
}

func TestAMergeIsComparedWithTheParentThatItIsMostLike(t *testing.T) {
	h, c, start, tip := turned(t, map[string]string{"run.sh": "1\n"})
	h.Agent(c, "checkout", "-q", "-b", "side")
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "run.sh"), 0o755))
	does(h, c, "side", map[string]string{"run.sh": "2\n"})
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--no-ff", "--no-commit", "side")
	head := does(h, c, "merge", map[string]string{"run.sh": "3\n"})
	assert.Contains(t, changed(t, c, start, head, tip), head[:7]+" M run.sh 100755 100755 2")
}

func TestAnOldVersionTakenFromFarBackIsAChange(t *testing.T) {
	h := gittest.NewHub(t)
	old := h.Commit("main", "old", map[string]string{".github/workflows/ci.yml": "on: pull_request_target\n"})
	h.Commit("main", "mended", map[string]string{".github/workflows/ci.yml": "on: pull_request\n"})
	start := h.Commit("agent/x", "work", map[string]string{"work.txt": "work\n"})
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	h.Agent(c, "checkout", "-q", "-b", "side", old)
	does(h, c, "side", map[string]string{"side.txt": "x\n"})
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--no-ff", "--no-commit", "side")
	h.Agent(c, "checkout", "-q", "side", "--", ".github") // as in one parent, so the merge by itself shows nothing
	head := does(h, c, "merge", nil)
	assert.Contains(t, changed(t, c, start, head, h.Tip("main")), head[:7]+" M .github/workflows/ci.yml 100644 100644 24")
}

func TestAHistoryOfItsOwnIsHandedOut(t *testing.T) {
	h, c, start, tip := turned(t, nil)
	h.Agent(c, "checkout", "-q", "--orphan", "own")
	h.Agent(c, "rm", "-q", "-r", "-f", ".")
	root := does(h, c, "root", map[string]string{"own.txt": "leaked\n"})
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "take nothing", "own")
	head := h.Agent(c, "rev-parse", "HEAD")
	assert.Contains(t, added(t, c, start, head, tip), root[:7]+" own.txt:1 leaked")
	assert.Equal(t, []string{root[:7] + " A own.txt 000000 100644 7"}, changed(t, c, start, head, tip))
}

func TestOnlyNewContentIsNew(t *testing.T) {
	h, c, start, _ := turned(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "mode.sh": "#!/bin/sh\n"})
	for _, step := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"white space", map[string]string{"a.txt": "  one\r\n\n\ttwo  \n\nthree"}, nil},
		{"another order", map[string]string{"a.txt": "three\none\ntwo\n"}, nil},
		{"another name", map[string]string{"a.txt": "", "dir/b.txt": "three\none\ntwo\n"}, nil},
		{"a line", map[string]string{"dir/b.txt": "one\ntwo\nthree and more\n"}, []string{"dir/b.txt:3 three and more"}},
		{"a file", map[string]string{"c.txt": "one"}, []string{"c.txt:1 one"}},
	} {
		head := does(h, c, step.name, step.files)
		var got []string
		for _, g := range added(t, c, start, head) {
			if !strings.Contains(g, ":0 ") && !strings.Contains(g, " :1 ") { // neither a name nor a message
				got = append(got, strings.TrimPrefix(g, head[:7]+" "))
			}
		}
		assert.Equal(t, step.want, got, step.name)
		start = head
	}
	does(h, c, "other", map[string]string{"c.txt": "other"})
	back := does(h, c, "back", map[string]string{"c.txt": "one"})
	assert.NotContains(t, strings.Join(added(t, c, start, back), "\n"), back[:7]+" c.txt", "it was there before, or was handed out already")
	start = back
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "mode.sh"), 0o755))
	require.NoError(t, os.Symlink("../../etc", filepath.Join(c.Dir(), "link")))
	head := does(h, c, "modes", nil)
	assert.Equal(t, []string{head[:7] + " link:0 link", head[:7] + " :1 modes", head[:7] + " link:1 ../../etc"}, added(t, c, start, head))
	assert.Equal(t, []string{head[:7] + " A link 000000 120000 9 ../../etc", head[:7] + " M mode.sh 100644 100755 10"}, changed(t, c, start, head))
}

func TestWhatIsAroundANewLineComesWithIt(t *testing.T) {
	numbers := func(also ...int) string {
		var b strings.Builder
		for i := 1; i <= 200; i++ {
			fmt.Fprintln(&b, i)
			for _, a := range also {
				if a == i {
					fmt.Fprintf(&b, "after %d\n", a)
				}
			}
		}
		return b.String()
	}
	h, c, start, _ := turned(t, map[string]string{"n.txt": numbers()})
	head := does(h, c, "three", map[string]string{"n.txt": numbers(3, 100, 115, 200)})
	var got []string
	_ = gittest.Must(patches(gittest.Ctx, c, start, head, nil, history.Scope{}, func(a history.Addition) error {
		if a.Path != "" {
			rows := strings.Split(strings.TrimSuffix(string(a.Text), "\n"), "\n")
			got = append(got, fmt.Sprintf("%d: %s to %s", a.Line, rows[0], rows[len(rows)-1]))
		}
		return nil
	}))(t)
	assert.Equal(t, []string{"1: 1 to 13", "92: 91 to 125", "194: 191 to after 200"}, got)
}

func TestNothingInTheCheckoutDecidesWhatIsSeen(t *testing.T) {
	h, c, start, _ := turned(t, map[string]string{"a.txt": "one\n"})
	run, traces := gittest.Canary(t)
	for _, kv := range [][2]string{
		{"diff.evil.textconv", run}, {"diff.evil.command", run}, {"diff.evil.binary", "true"}, {"diff.external", run}, {"diff.noprefix", "true"},
		{"diff.ignoreSubmodules", "all"}, {"diff.orderFile", run}, {"core.bigFileThreshold", "1"}, {"log.showRoot", "false"}, {"i18n.logOutputEncoding", "UTF-16"},
	} {
		h.Git(c.Dir(), "config", kv[0], kv[1])
	}
	odd := "caf\xe9 \t\"quoted\"\n:100644 x.txt"
	head := does(h, c, "hidden", map[string]string{".gitattributes": "* -diff binary diff=evil -text\n", odd: "leaked \xff\n"})
	gittest.Write(t, c.Dir(), map[string]string{".git/info/attributes": "* -diff\n", "more.txt": "more\n"})
	require.Equal(t, head, gittest.Must(c.Head(gittest.Ctx))(t))
	got := strings.Join(added(t, c, start, head), "\n")
	assert.Contains(t, got, odd+":0 "+odd[:strings.Index(odd, "\n")])
	assert.Contains(t, got, odd+":1 leaked \xff")
	assert.Contains(t, got, head[:7]+" .gitattributes:1 * -diff")
	steps := gittest.Must(everyChange(c, start, head))(t)
	paths := map[string]bool{}
	for _, s := range steps {
		paths[s.Path] = true
	}
	assert.Equal(t, map[string]bool{".gitattributes": true, odd: true}, paths)
	assert.Empty(t, traces())
}

func TestWhatIsTooLargeOrBinaryIsSaid(t *testing.T) {
	h, c, start, _ := turned(t, map[string]string{"grown.txt": "small\n", "shrunk.txt": strings.Repeat("x\n", 6000)})
	head := does(h, c, "sizes", map[string]string{
		"big.txt": strings.Repeat("x", 9000), "big.bin": "\x00" + strings.Repeat("x", 9000), "grown.txt": strings.Repeat("y\n", 5000),
		"shrunk.txt": "x\nnew\n", "small.bin": "a\x00b\n", "small.txt": "s\n",
	})
	var got []string
	visit := func(a history.Addition) error {
		if a.Line > 0 {
			got = append(got, fmt.Sprintf("%s binary=%v fresh=%v", a.Path, a.Binary, a.Fresh))
		}
		return nil
	}
	unseen := gittest.Must(patches(gittest.Ctx, c, start, head, nil, history.Scope{File: 8000}, visit))(t)
	assert.Equal(t, []history.Unseen{
		{Commit: head, Path: "big.bin", Size: 9001, Why: history.TooLarge, Binary: true}, {Commit: head, Path: "big.txt", Size: 9000, Why: history.TooLarge},
		{Commit: head, Path: "grown.txt", Size: 10000, Why: history.TooLarge},
	}, unseen)
	assert.Equal(t, []string{
		"shrunk.txt binary=false fresh=[true true]", "small.bin binary=true fresh=[true]", "small.txt binary=false fresh=[true]",
	}, got, "what cannot be compared with what was there is new")

	got = nil
	unseen = gittest.Must(patches(gittest.Ctx, c, start, head, nil, history.Scope{Total: 19000}, visit))(t)
	assert.Len(t, got, 4)
	require.Len(t, unseen, 2)
	assert.Equal(t, history.Unseen{Commit: head, Path: "grown.txt", Size: 10000, Why: history.TooMuch}, unseen[0])

	enough := errors.New("enough")
	require.ErrorIs(t, gittest.Err(patches(gittest.Ctx, c, start, head, nil, history.Scope{}, func(history.Addition) error { return enough })), enough)
	over, cancel := context.WithCancel(gittest.Ctx)
	require.ErrorIs(t, gittest.Err(patches(over, c, start, head, nil, history.Scope{}, func(history.Addition) error { cancel(); return nil })), context.Canceled)
}

func TestContentThatIsNotHereIsSaid(t *testing.T) {
	h, c, start, _ := turned(t, nil)
	head := does(h, c, "lost", map[string]string{"lost.txt": "lost\n"})
	id := h.Git(c.Dir(), "rev-parse", "HEAD:lost.txt")
	require.NoError(t, os.Remove(filepath.Join(c.Dir(), ".git", "objects", id[:2], id[2:])))
	unseen := gittest.Must(patches(gittest.Ctx, c, start, head, nil, history.Scope{}, func(history.Addition) error { return nil }))(t)
	assert.Equal(t, []history.Unseen{{Commit: head, Path: "lost.txt", Why: history.NotHere}}, unseen)
	assert.ErrorContains(t, gittest.Err(everyChange(c, start, head)), `the content of "lost.txt" in `+head+" is not here")
}

func TestAWholeRangeTakesAFewProcesses(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "0\n"})
	path, notes := gittest.Recorder(t)
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"), func(o *git.Options) { o.Path = path })
	for i := range 5 {
		require.NoError(t, os.Symlink("a.txt", filepath.Join(c.Dir(), fmt.Sprint("link", i))))
		does(h, c, "more", map[string]string{"a.txt": fmt.Sprint(i+1, "\n")})
	}
	head := h.Agent(c, "rev-parse", "HEAD")
	calls := func(do func()) int {
		before := len(gittest.Must(filepath.Glob(notes + "/*.argv"))(t))
		do()
		return len(gittest.Must(filepath.Glob(notes+"/*.argv"))(t)) - before
	}
	var listed *history.Published
	assert.Equal(t, 4, calls(func() {
		listed = gittest.Must(history.Publishes(gittest.Ctx, c, start, head, nil))(t)
	}))
	assert.Equal(t, 1, calls(func() {
		_ = gittest.Must(listed.Patches(gittest.Ctx, c, history.Scope{}, func(history.Addition) error { return nil }))(t)
	}))
	assert.Equal(t, 1, calls(func() {
		assert.Len(t, gittest.Must(listed.EveryChange(gittest.Ctx, c))(t), 10)
	}), "the targets of the links")
}

func TestAGitThatFailsAfterItsAnswerIsNotBelieved(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "0\n"})
	program := gittest.Must(exec.LookPath("git"))(t)
	for _, command := range []string{"*rev-list*", "*--batch", "*diff-tree*", "*--buffer"} {
		dir := t.TempDir()
		script := "#!/bin/sh\n" + program + " \"$@\" || exit\ncase \"$*\" in " + command + ") exit 3 ;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
		c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"),
			func(o *git.Options) { o.Path = dir + ":" + os.Getenv("PATH") })
		head := does(h, c, "more", map[string]string{"a.txt": "1\n"})
		assert.ErrorContains(t, gittest.Err(patches(gittest.Ctx, c, start, head, nil, history.Scope{}, func(history.Addition) error { return nil })), "exit status 3", command)
	}
}
