package git_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// twoJobs is a pull request from agent/x with a checkout for each job: the agent's, and the one on a fresh runner that
// may push.
func twoJobs(t *testing.T, options ...string) (h *hub, agents, ours *git.Checkout, start string) {
	t.Helper()
	h = newHub(t)
	h.grow("main", 60) // more than a shallow checkout has
	h.git(h.bare, "branch", "agent/x", "main")
	start = h.commit("agent/x", "work", map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n"})
	agents, ours = h.open(h.workspace("agent/x", options...)), h.open(h.workspace("agent/x", options...))
	require.NoError(t, agents.Restore(ctx, "agent/x", "main", start))
	require.NoError(t, ours.Restore(ctx, "agent/x", "main", start))
	return h, agents, ours, start
}

// work makes n commits in a checkout, as an agent does, and returns HEAD.
func work(t *testing.T, h *hub, c *git.Checkout, n int) string {
	t.Helper()
	for i := range n {
		write(t, c.Dir(), map[string]string{"sub/b.txt": strings.Repeat("more\n", i+2), "new/c.txt": "c\n"})
		h.agent(c, "add", "-A")
		h.agent(c, "commit", "-q", "-m", "agent")
	}
	head, err := c.Head(ctx)
	require.NoError(t, err)
	return head
}

// files lists everything below a checkout's git directory but its objects, with what is in it.
func files(t *testing.T, c *git.Checkout) map[string]string {
	t.Helper()
	seen := map[string]string{}
	root := filepath.Join(c.Dir(), ".git")
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root+"/")
		if strings.HasPrefix(name, "objects/") && !strings.HasPrefix(name, "objects/info") {
			return nil
		}
		if seen[name] = ""; err == nil && e.Type().IsRegular() {
			seen[name] = read(t, path)
		}
		return err
	}))
	return seen
}

// packs lists what is among the packs of a checkout, and what a quarantine would leave beside them.
func packs(t *testing.T, c *git.Checkout) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"pack/*", "tmp_*"} {
		found, err := filepath.Glob(filepath.Join(c.Dir(), ".git", "objects", pattern))
		require.NoError(t, err)
		names = append(names, found...)
	}
	return names
}

func TestABundleBringsCommitsFromOneJobToTheNext(t *testing.T) {
	for name, options := range map[string][]string{
		"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"},
	} {
		t.Run(name, func(t *testing.T) {
			h, agents, ours, start := twoJobs(t, options...)
			head := work(t, h, agents, 3)
			file := filepath.Join(t.TempDir(), "commits.bundle")
			calls := agents.NetworkCalls()
			require.NoError(t, agents.WriteBundle(ctx, file, start, head))
			assert.Equal(t, calls, agents.NetworkCalls())
			assert.Equal(t, head+" "+git.BundleRef, h.git(h.dev, "bundle", "list-heads", file), "a person can look into it")
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.Less(t, info.Size(), int64(5000))
			assert.EqualValues(t, 0o600, info.Mode())

			before, calls := files(t, ours), ours.NetworkCalls()
			require.NoError(t, ours.ReadBundle(ctx, file, start, head))
			assert.Equal(t, calls, ours.NetworkCalls())
			assert.Equal(t, before, files(t, ours), "nothing but objects came in")
			assert.NotContains(t, strings.Join(packs(t, ours), " "), "tmp_", "the quarantine is gone")
			require.NoError(t, ours.ReadBundle(ctx, file, start, head), "the same once more does no harm")

			commits, err := ours.Commits(ctx, start, head)
			require.NoError(t, err)
			assert.Len(t, commits, 3)
			changes, err := ours.Changes(ctx, start, head)
			require.NoError(t, err)
			assert.Len(t, changes, 2)
			require.NoError(t, ours.Stage(ctx, stage, head))
			require.NoError(t, ours.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: head, Stage: stage}))
			assert.Equal(t, head, h.tip("refs/heads/agent/x"))
			h.git(h.bare, "fsck", "--strict")
		})
	}
}

func TestABundleOfAMergeBuildsOnWhatTheServerHas(t *testing.T) {
	h, agents, ours, start := twoJobs(t, "--depth=1")
	tip := h.commit("main", "by others", map[string]string{"theirs.txt": strings.Repeat("theirs\n", 100)})
	_, err := agents.FetchOrigin(ctx, "main")
	require.NoError(t, err)
	merged, err := agents.MergeOrigin(ctx, tip, "Merge main")
	require.NoError(t, err)
	head := work(t, h, agents, 1)
	require.NotEqual(t, merged, head)
	file := filepath.Join(t.TempDir(), "commits.bundle")
	require.NoError(t, agents.WriteBundle(ctx, file, start, head))

	text := read(t, file)
	assert.Contains(t, text, "-"+start+"\n")
	assert.Contains(t, text, "-"+tip+"\n")

	var refused *git.ErrBundle
	require.ErrorAs(t, ours.ReadBundle(ctx, file, start, head), &refused, "no branch that was fetched here has it")
	assert.Equal(t, git.BundlePrerequisite, refused.Reason)

	h.grow("main", 60)
	_, err = ours.FetchOrigin(ctx, "main")
	require.NoError(t, err)
	require.NoError(t, ours.ReadBundle(ctx, file, start, head))
	require.NoError(t, ours.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: head}))
	assert.Equal(t, head, h.tip("refs/heads/agent/x"))
}

func TestABundleOfWhatTheServerHasIsEmpty(t *testing.T) {
	h, agents, ours, start := twoJobs(t)
	h.git(h.dev, "checkout", "-q", "main")
	h.git(h.dev, "merge", "-q", "--no-ff", "agent/x", "-m", "merged elsewhere")
	h.git(h.dev, "push", "-q", "origin", "main")
	tip := h.tip("main")
	for _, c := range []*git.Checkout{agents, ours} {
		_, err := c.FetchOrigin(ctx, "main")
		require.NoError(t, err)
	}
	head, err := agents.MergeOrigin(ctx, tip, "never used")
	require.NoError(t, err)
	require.Equal(t, tip, head)
	file := filepath.Join(t.TempDir(), "commits.bundle")
	require.NoError(t, agents.WriteBundle(ctx, file, start, head))
	before := packs(t, ours)
	require.NoError(t, ours.ReadBundle(ctx, file, start, head))
	assert.Equal(t, before, packs(t, ours))

	require.NoError(t, os.WriteFile(file, []byte(read(t, file)+"more"), 0o600))
	require.ErrorContains(t, ours.ReadBundle(ctx, file, start, head), "bundle refused (corrupt): bytes follow its empty pack")
}

func TestWhatCannotBeHandedOver(t *testing.T) {
	h, agents, _, start := twoJobs(t, "--depth=1")
	head := work(t, h, agents, 1)
	file := filepath.Join(t.TempDir(), "commits.bundle")

	var rewind *git.ErrRewind
	require.ErrorAs(t, agents.WriteBundle(ctx, file, head, start), &rewind)
	assert.Equal(t, model.Behind, rewind.Relation)
	require.ErrorContains(t, agents.WriteBundle(ctx, file, start, start), "not two commit ids")
	require.ErrorContains(t, agents.WriteBundle(ctx, file, "--all", head), "not two commit ids")
	require.Error(t, agents.WriteBundle(ctx, filepath.Join(file, "x"), start, head))
	require.NoError(t, os.MkdirAll(filepath.Join(file, "in the way"), 0o700))
	require.Error(t, agents.WriteBundle(ctx, file, start, head))
	require.NoError(t, os.RemoveAll(file))

	// What the workflow fetched of another branch, and cut off: nobody knows what is behind it.
	h.git(h.dev, "checkout", "-q", "--orphan", "other")
	h.commit("other", "root", nil)
	h.grow("other", 3)
	h.git(agents.Dir(), "-c", "http.extraheader="+header, "fetch", "-q", "--depth=1", h.url, "other:other")
	again := h.open(agents.Dir())
	require.NoError(t, again.Restore(ctx, "agent/x", "main", start))
	h.agent(again, "merge", "-q", "--allow-unrelated-histories", "-m", "all of it", "other")
	head = h.agent(again, "rev-parse", "HEAD")
	require.ErrorContains(t, again.WriteBundle(ctx, file, start, head), "bundle refused (incomplete): the history behind ")

	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAFloodIsNotHeldInMemory(t *testing.T) {
	h := newHub(t)
	program, err := exec.LookPath("git")
	require.NoError(t, err)
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *' log '*) exec yes ;; *) exec " + program + " \"$@\" ;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	c := h.open("", func(o *git.Options) { o.Path = dir + ":" + os.Getenv("PATH") })
	_, err = c.Commits(ctx, h.tip("main"), h.tip("main"))
	require.ErrorContains(t, err, "it wrote over 128 MiB")
}
