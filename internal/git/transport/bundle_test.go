package transport_test

import (
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
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// twoJobs is a pull request from agent/x with a checkout for each job: the agent's, and the one on a fresh runner that
// may push.
func twoJobs(t *testing.T, options ...string) (h *gittest.Hub, agents, ours *git.Checkout, start string) {
	t.Helper()
	h = gittest.NewHub(t)
	h.Grow("main", 60) // more than a shallow checkout has
	h.Git(h.Bare, "branch", "agent/x", "main")
	start = h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n"})
	agents, ours = h.Open(h.Workspace("agent/x", options...)), h.Open(h.Workspace("agent/x", options...))
	require.NoError(t, checkout.Restore(gittest.Ctx, agents, "agent/x", "main", start))
	require.NoError(t, checkout.Restore(gittest.Ctx, ours, "agent/x", "main", start))
	return h, agents, ours, start
}

// work makes n commits in a checkout, as an agent does, and returns HEAD.
func work(t *testing.T, h *gittest.Hub, c *git.Checkout, n int) string {
	t.Helper()
	for i := range n {
		gittest.Write(t, c.Dir(), map[string]string{"sub/b.txt": strings.Repeat("more\n", i+2), "new/c.txt": "c\n"})
		h.Agent(c, "add", "-A")
		h.Agent(c, "commit", "-q", "-m", "agent")
	}
	return gittest.Must(c.Head(gittest.Ctx))(t)
}

// packs lists what is among the packs of a checkout, and what a quarantine would leave beside them.
func packs(t *testing.T, c *git.Checkout) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"pack/*", "tmp_*"} {
		found := gittest.Must(filepath.Glob(filepath.Join(c.Dir(), ".git", "objects", pattern)))(t)
		names = append(names, found...)
	}
	return names
}

func TestABundleBringsCommitsFromOneJobToTheNext(t *testing.T) {
	must.Each(t, map[string][]string{
		"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"},
	}, func(t *testing.T, options []string) {
		h, agents, ours, start := twoJobs(t, options...)
		head := work(t, h, agents, 3)
		file := filepath.Join(t.TempDir(), "commits.bundle")
		calls := agents.NetworkCalls()
		require.NoError(t, transport.WriteBundle(gittest.Ctx, agents, file, start, head))
		assert.Equal(t, calls, agents.NetworkCalls())
		assert.Equal(t, head+" "+transport.BundleRef, h.Git(h.Dev, "bundle", "list-heads", file), "a person can look into it")
		info := gittest.Must(os.Stat(file))(t)
		assert.Less(t, info.Size(), int64(5000))
		assert.EqualValues(t, 0o600, info.Mode())

		before, calls := gittest.Files(t, ours), ours.NetworkCalls()
		require.NoError(t, transport.ReadBundle(gittest.Ctx, ours, file, start, head))
		assert.Equal(t, calls, ours.NetworkCalls())
		assert.Equal(t, before, gittest.Files(t, ours), "nothing but objects came in")
		assert.NotContains(t, strings.Join(packs(t, ours), " "), "tmp_", "the quarantine is gone")
		require.NoError(t, transport.ReadBundle(gittest.Ctx, ours, file, start, head), "the same once more does no harm")

		assert.Len(t, gittest.Must(history.List(gittest.Ctx, ours, start, head))(t), 3)
		assert.Len(t, gittest.Must(history.Changes(gittest.Ctx, ours, start, head))(t), 2)
		require.NoError(t, transport.Stage(gittest.Ctx, ours, gittest.Stage, head))
		require.NoError(t, transport.Publish(gittest.Ctx, ours, transport.Update{Branch: "agent/x", Start: start, SHA: head, Stage: gittest.Stage}))
		assert.Equal(t, head, h.Tip("refs/heads/agent/x"))
		h.Git(h.Bare, "fsck", "--strict")
	})
}

func TestABundleOfAMergeBuildsOnWhatTheServerHas(t *testing.T) {
	h, agents, ours, start := twoJobs(t, "--depth=1")
	tip := h.Commit("main", "by others", map[string]string{"theirs.txt": strings.Repeat("theirs\n", 100)})
	gittest.Must(checkout.FetchOrigin(gittest.Ctx, agents, "main"))(t)
	merged := gittest.Must(checkout.MergeOrigin(gittest.Ctx, agents, tip, "Merge main"))(t)
	head := work(t, h, agents, 1)
	require.NotEqual(t, merged, head)
	file := filepath.Join(t.TempDir(), "commits.bundle")
	require.NoError(t, transport.WriteBundle(gittest.Ctx, agents, file, start, head))

	text := gittest.Read(t, file)
	assert.Contains(t, text, "-"+start+"\n")
	assert.Contains(t, text, "-"+tip+"\n")

	refused := gittest.As[*transport.ErrBundle](t, transport.ReadBundle(gittest.Ctx, ours, file, start, head),
		"no branch that was fetched here has it")
	assert.Equal(t, transport.BundlePrerequisite, refused.Reason)

	h.Grow("main", 60)
	gittest.Must(checkout.FetchOrigin(gittest.Ctx, ours, "main"))(t)
	require.NoError(t, transport.ReadBundle(gittest.Ctx, ours, file, start, head))
	require.NoError(t, transport.Publish(gittest.Ctx, ours, transport.Update{Branch: "agent/x", Start: start, SHA: head}))
	assert.Equal(t, head, h.Tip("refs/heads/agent/x"))
}

func TestABundleOfWhatTheServerHasIsEmpty(t *testing.T) {
	h, agents, ours, start := twoJobs(t)
	h.Git(h.Dev, "checkout", "-q", "main")
	h.Git(h.Dev, "merge", "-q", "--no-ff", "agent/x", "-m", "merged elsewhere")
	h.Git(h.Dev, "push", "-q", "origin", "main")
	tip := h.Tip("main")
	for _, c := range []*git.Checkout{agents, ours} {
		gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main"))(t)
	}
	head := gittest.Must(checkout.MergeOrigin(gittest.Ctx, agents, tip, "never used"))(t)
	require.Equal(t, tip, head)
	file := filepath.Join(t.TempDir(), "commits.bundle")
	require.NoError(t, transport.WriteBundle(gittest.Ctx, agents, file, start, head))
	before := packs(t, ours)
	require.NoError(t, transport.ReadBundle(gittest.Ctx, ours, file, start, head))
	assert.Equal(t, before, packs(t, ours))

	require.NoError(t, os.WriteFile(file, []byte(gittest.Read(t, file)+"more"), 0o600))
	require.ErrorContains(t, transport.ReadBundle(gittest.Ctx, ours, file, start, head), "bundle refused (corrupt): bytes follow its empty pack")
}

func TestWhatCannotBeHandedOver(t *testing.T) {
	h, agents, _, start := twoJobs(t, "--depth=1")
	head := work(t, h, agents, 1)
	file := filepath.Join(t.TempDir(), "commits.bundle")

	rewind := gittest.As[*git.ErrRewind](t, transport.WriteBundle(gittest.Ctx, agents, file, head, start))
	assert.Equal(t, model.Behind, rewind.Relation)
	require.ErrorContains(t, transport.WriteBundle(gittest.Ctx, agents, file, start, start), "not two commit ids")
	require.ErrorContains(t, transport.WriteBundle(gittest.Ctx, agents, file, "--all", head), "not two commit ids")
	require.Error(t, transport.WriteBundle(gittest.Ctx, agents, filepath.Join(file, "x"), start, head))
	require.NoError(t, os.MkdirAll(filepath.Join(file, "in the way"), 0o700))
	require.Error(t, transport.WriteBundle(gittest.Ctx, agents, file, start, head))
	require.NoError(t, os.RemoveAll(file))

	// What the workflow fetched of another branch, and cut off: nobody knows what is behind it.
	h.Git(h.Dev, "checkout", "-q", "--orphan", "other")
	h.Commit("other", "root", nil)
	h.Grow("other", 3)
	h.Git(agents.Dir(), "-c", "http.extraheader="+gittest.Header, "fetch", "-q", "--depth=1", h.Url, "other:other")
	again := h.Open(agents.Dir())
	require.NoError(t, checkout.Restore(gittest.Ctx, again, "agent/x", "main", start))
	h.Agent(again, "merge", "-q", "--allow-unrelated-histories", "-m", "all of it", "other")
	head = h.Agent(again, "rev-parse", "HEAD")
	require.ErrorContains(t, transport.WriteBundle(gittest.Ctx, again, file, start, head), "bundle refused (incomplete): the history behind ")

	assert.Empty(t, gittest.Must(os.ReadDir(filepath.Dir(file)))(t))
}

func TestAFloodIsNotHeldInMemory(t *testing.T) {
	h := gittest.NewHub(t)
	program := gittest.Must(exec.LookPath("git"))(t)
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *' log '*) exec yes ;; *) exec " + program + " \"$@\" ;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	c := h.Open("", func(o *git.Options) { o.Path = dir + ":" + os.Getenv("PATH") })
	require.ErrorContains(t, gittest.Err(history.List(gittest.Ctx, c, h.Tip("main"), h.Tip("main"))), "it wrote over 128 MiB")
}
