package history_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

// forge gives an object of the checkout another content.
func forge(t *testing.T, c *git.Checkout, id, kind, content string) {
	t.Helper()
	var text bytes.Buffer
	w := zlib.NewWriter(&text)
	gittest.Must(fmt.Fprintf(w, "%s %d\x00%s", kind, len(content), content))(t)
	require.NoError(t, w.Close())
	file := filepath.Join(c.Dir(), ".git", "objects", id[:2], id[2:])
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.RemoveAll(file))
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o444))
}

// paths are those that a push of head would change.
func paths(t *testing.T, c *git.Checkout, base, head string) (changed []string, added string, err error) {
	t.Helper()
	listed, err := history.Publishes(gittest.Ctx, c, base, head, history.FetchedTips(c))
	if err != nil {
		return nil, "", err
	}
	return seen(t, c, listed)
}

// seen are the paths of what was listed, and its new lines.
func seen(t *testing.T, c *git.Checkout, listed *history.Published) (changed []string, added string, err error) {
	t.Helper()
	steps, err := listed.EveryChange(gittest.Ctx, c)
	for _, s := range steps {
		changed = append(changed, s.Status+" "+s.Path)
	}
	if err == nil {
		_, err = listed.Patches(gittest.Ctx, c, history.Scope{}, func(a history.Addition) error {
			if a.Line > 0 && a.Path != "" {
				for i, line := range strings.Split(strings.TrimSuffix(string(a.Text), "\n"), "\n") {
					if a.Fresh == nil || a.Fresh[i] {
						added += line + "\n"
					}
				}
			}
			return nil
		})
	}
	return changed, added, err
}

// An agent's work, on a base that the server has moved on from and that the agent has merged a part of.
func agentsWork(t *testing.T, more ...string) (c *git.Checkout, base, head string) {
	t.Helper()
	h := gittest.NewHub(t)
	h.Grow("main", 5)
	h.Commit("main", "files", map[string]string{"a.txt": "one\ntwo\n", "keep/b.txt": "b\n", "keep/deep/c.txt": "c\n", "license.txt": "free\n"})
	h.Git(h.Dev, "branch", "agent/x", "main")
	base = h.Commit("agent/x", "ours", map[string]string{"ours.txt": "x\n"})
	merged := h.Commit("main", "theirs", map[string]string{"theirs.txt": "t\n"})
	h.Commit("main", "later", map[string]string{"later.txt": "l\n"})
	c = h.Open(h.Workspace("agent/x", more...))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", base))
	if !slices.Contains(more, "--filter=blob:none") { // where an agent can merge nothing
		require.NoError(t, history.Deepen(gittest.Ctx, c, merged, base))
		h.Agent(c, "merge", "-q", "-m", "take theirs", merged)
	}
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "one\nmore\ntwo\n", ".github/workflows/ci.yml": "on: push\n", "copied/b.txt": "b\n", "license-too.txt": "free\n"})
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", "work")
	return c, base, h.Agent(c, "rev-parse", "HEAD")
}

func TestVerifiedSeesWhatAPushWouldPublish(t *testing.T) {
	must.Each(t, map[string][]string{"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"}}, func(t *testing.T, more []string) {
		c, base, head := agentsWork(t, more...)
		want, text, err := paths(t, c, base, head)
		require.NoError(t, err)
		assert.Contains(t, want, "A .github/workflows/ci.yml")
		assert.Equal(t, "on: push\nmore\nb\nfree\n", text)
		calls := c.NetworkCalls()
		require.NoError(t, history.Verified(gittest.Ctx, c, base, head, history.FetchedTips(c), func(own *git.Checkout, listed *history.Published) error {
			got, added, err := seen(t, own, listed)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, text, added)
			return nil
		}))
		assert.Equal(t, calls, c.NetworkCalls())
	})
}

// An agent shows one thing while its work is looked at, and another while it is pushed.
func TestVerifiedBelievesNoObjectThatHasAnotherContent(t *testing.T) {
	type row struct {
		of, kind string
		content  func(git func(args ...string) string) string
	}
	must.Each(t, map[string]row{
		"no workflow":          {"HEAD:.github", "tree", func(func(...string) string) string { return "" }},
		"a workflow all along": {"HEAD~1^{tree} BASE^{tree}", "tree", func(git func(...string) string) string { return git("cat-file", "tree", "HEAD^{tree}") }},
		"nothing added":        {"HEAD:a.txt", "blob", func(func(...string) string) string { return "one\ntwo\n" }},
		"a line all along":     {"HEAD~1:a.txt", "blob", func(git func(...string) string) string { return git("cat-file", "blob", "HEAD:a.txt") }},
	}, func(t *testing.T, test row) {
		c, base, head := agentsWork(t)
		ask := func(args ...string) string {
			for i := range args {
				args[i] = strings.NewReplacer("HEAD", head, "BASE", base).Replace(args[i])
			}
			return string(gittest.Must(c.Ask(gittest.Ctx, args...))(t))
		}
		want, text, err := paths(t, c, base, head)
		require.NoError(t, err)
		objects, content := strings.Fields(ask(append([]string{"rev-parse"}, strings.Fields(test.of)...)...)), test.content(ask)

		require.NoError(t, history.Verified(gittest.Ctx, c, base, head, history.FetchedTips(c), func(own *git.Checkout, listed *history.Published) error {
			unpack(t, c)
			for _, id := range objects {
				forge(t, c, id, test.kind, content)
			}
			got, added, err := seen(t, own, listed)
			require.NoError(t, err)
			assert.Equal(t, want, got, "what is forged now comes too late")
			assert.Equal(t, text, added)
			return nil
		}))

		got, added, err := paths(t, c, base, head)
		require.NoError(t, err)
		assert.False(t, assert.ObjectsAreEqual(want, got) && text == added, "or there is no trap")
		err = history.Verified(gittest.Ctx, c, base, head, history.FetchedTips(c), func(own *git.Checkout, listed *history.Published) error {
			got, added, err = seen(t, own, listed)
			return err
		})
		if err == nil { // without what was there before, all of a file is new
			assert.Equal(t, want, got)
			assert.Subset(t, strings.Split(added, "\n"), strings.Split(text, "\n"))
		}
	})
}

// unpack makes a file of each object, since git looks into packs first.
func unpack(t *testing.T, c *git.Checkout) {
	t.Helper()
	packs := gittest.Must(filepath.Glob(filepath.Join(c.Dir(), ".git", "objects", "pack", "*.pack")))(t)
	for _, pack := range packs {
		text := gittest.Must(os.ReadFile(pack))(t)
		for _, ext := range []string{".pack", ".idx", ".rev"} {
			require.NoError(t, os.RemoveAll(strings.TrimSuffix(pack, ".pack")+ext))
		}
		gittest.Must(c.Tell(gittest.Ctx, text, "unpack-objects", "-q"))(t)
	}
}

// A merge of something old brings an old version back, which is new on the branch.
func TestVerifiedSeesAnOldVersionThatAMergeBringsBack(t *testing.T) {
	h := gittest.NewHub(t)
	workflow := func(text string) map[string]string { return map[string]string{".github/workflows/ci.yml": text} }
	old := h.Commit("main", "old", workflow("on: push\n"))
	base := h.Commit("agent/x", "new", workflow("on: never\n"))
	c := h.Restored("agent/x", "", base, h.Workspace("agent/x"))
	h.Agent(c, "checkout", "-q", "-b", "side", old)
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "beside it")
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--no-commit", "-s", "ours", "side")
	h.Agent(c, "checkout", "-q", "side", "--", ".github")
	h.Agent(c, "commit", "-q", "-m", "merge")
	head := h.Agent(c, "rev-parse", "HEAD")
	want, _, err := paths(t, c, base, head)
	require.NoError(t, err)
	assert.Equal(t, []string{"M .github/workflows/ci.yml"}, want)
	require.NoError(t, history.Verified(gittest.Ctx, c, base, head, history.FetchedTips(c), func(own *git.Checkout, listed *history.Published) error {
		got, _, err := seen(t, own, listed)
		assert.Equal(t, want, got)
		return err
	}))
}

func TestOnlyAnAncestorOfWhatTheServerHasIsBelievedToBeThere(t *testing.T) {
	c, base, head := agentsWork(t)
	between := strings.Fields(ask(t, c, "rev-list", base))
	oldest := between[len(between)-1]
	require.NoError(t, history.CheckMerged(gittest.Ctx, c, []string{base}, []string{oldest}, between))
	require.NoError(t, history.CheckMerged(gittest.Ctx, c, []string{base}, []string{between[1]}, nil))
	assert.ErrorContains(t, history.CheckMerged(gittest.Ctx, c, []string{base}, []string{oldest}, nil), oldest+" is no ancestor of what the server has")
	assert.ErrorContains(t, history.CheckMerged(gittest.Ctx, c, []string{base}, []string{head}, between), head+" is no ancestor of what the server has")
}

func ask(t *testing.T, c *git.Checkout, args ...string) string {
	t.Helper()
	return string(gittest.Must(c.Ask(gittest.Ctx, args...))(t))
}

// An agent can merge what only a part of the history of is here.
func TestVerifiedSeesWhatHasNoHistory(t *testing.T) {
	h := gittest.NewHub(t)
	h.Grow("main", 130) // more than are fetched
	h.Git(h.Dev, "branch", "old", "main~60")
	theirs := h.Commit("old", "theirs", map[string]string{"theirs.txt": "t\n"})
	h.Git(h.Dev, "branch", "agent/x", "main")
	base := h.Commit("agent/x", "ours", map[string]string{"ours.txt": "x\n"})
	c := h.Restored("agent/x", "", base, h.Workspace("agent/x", "--depth=1"))
	require.NoError(t, history.FetchCommits(gittest.Ctx, c, theirs))
	h.Agent(c, "merge", "-q", "--allow-unrelated-histories", "-X", "ours", "-m", "take theirs", theirs)
	head := h.Agent(c, "rev-parse", "HEAD")
	known := []string{base}
	require.NotEmpty(t, c.Boundary, "or there is nothing to be seen")
	listed := gittest.Must(history.Publishes(gittest.Ctx, c, base, head, known))(t)
	want, text, err := seen(t, c, listed)
	require.NoError(t, err)
	assert.Contains(t, want, "A theirs.txt")
	require.NoError(t, history.Verified(gittest.Ctx, c, base, head, known, func(own *git.Checkout, listed *history.Published) error {
		got, added, err := seen(t, own, listed)
		assert.Equal(t, want, got)
		assert.Equal(t, text, added)
		return err
	}))
}

// A machine that lacks something says nothing about the commits.
func TestWhatTheMachineLacksIsNotTheCommitsFault(t *testing.T) {
	type row struct {
		err    error
		faulty bool
	}
	must.Each(t, map[string]row{
		"nothing wrong":         {nil, false},
		"an object that is not": {fmt.Errorf("list: %w", &git.Error{Exit: 128, Stderr: "fatal: bad object 12\n"}), true},
		"another one":           {errors.New("12 is no ancestor of what the server has"), true},
		"git was killed":        {fmt.Errorf("list: %w", &git.Error{Exit: -1}), false},
		"git lacked memory":     {fmt.Errorf("list: %w", &git.Error{Exit: 128, Failure: git.Exhausted}), false},
		"no more files":         {fmt.Errorf("list: %w", syscall.EMFILE), false},
	}, func(t *testing.T, c row) {
		err := history.Unverified(t.Context(), c.err)
		faulty := (*history.ErrUnverified)(nil)
		assert.Equal(t, c.faulty, errors.As(err, &faulty), "%v", err)
		if !c.faulty {
			assert.Equal(t, c.err, err)
		}
	})
}
