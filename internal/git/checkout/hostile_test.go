package checkout_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestWhatAnAgentLeavesInTheCheckoutIsNeverRun(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	path, notes := gittest.Recorder(t)
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x", "--depth=1"), func(o *git.Options) { o.Path = path })
	dir, before := c.Dir(), gittest.Read(t, c.Dir(), ".git/config")

	run, traces := gittest.Canary(t)
	for _, kv := range [][2]string{
		{"core.fsmonitor", run}, {"core.hooksPath", filepath.Dir(run)}, {"core.sshCommand", run}, {"core.pager", run}, {"core.editor", run},
		{"core.askPass", run}, {"credential.helper", "!" + run}, {"filter.evil.clean", run}, {"filter.evil.smudge", run}, {"filter.evil.required", "true"},
		{"diff.evil.textconv", run}, {"diff.external", run}, {"merge.evil.driver", run}, {"gpg.program", run}, {"commit.gpgSign", "true"}, {"core.alternateRefsCommand", run},
		{"url.ext::" + run + " .insteadOf", h.Url}, {"url.ext::" + run + " .pushInsteadOf", h.Url}, {"remote.origin.uploadpack", run}, {"remote.origin.receivepack", run},
		{"remote." + h.Url + ".proxy", "http://127.0.0.1:1"}, {"http.proxy", "http://127.0.0.1:1"}, {"protocol.ext.allow", "always"}, {"include.path", run + ".config"},
	} {
		h.Git(dir, "config", kv[0], kv[1])
	}
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "pre-push", "post-index-change", "reference-transaction", "post-checkout"} {
		require.NoError(t, os.Symlink(run, filepath.Join(dir, ".git", "hooks", hook)))
		require.NoError(t, os.Symlink(run, filepath.Join(filepath.Dir(run), hook)))
	}
	gittest.Write(t, dir, map[string]string{".gitattributes": "* filter=evil diff=evil merge=evil\n", "a.txt": "two\n", "b.txt": "b\n"})

	assert.Equal(t, start, gittest.Must(c.Head(gittest.Ctx))(t))
	assert.Equal(t, before, gittest.Read(t, dir, ".git/config"), "what the agent configured is gone")
	assert.True(t, gittest.Must(gittest.Dirty(c))(t))
	sha := gittest.Committed(t, c, "change")
	gittest.Must(history.Changes(gittest.Ctx, c, start, sha))(t)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	theirs := h.Commit("agent/x", "by a person", map[string]string{"c.txt": "c\n"})
	onto := gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x"))(t)
	require.Equal(t, theirs, onto)
	now := gittest.Must(checkout.Replay(gittest.Ctx, c, start, sha, onto))(t)
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: onto, SHA: now, Stage: gittest.Stage}))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", now), "a further round on the same checkout")

	assert.Empty(t, traces(), "nothing that the agent configured has been run")
	assert.Equal(t, now, h.Tip("refs/heads/agent/x"))
	assert.Equal(t, before, gittest.Read(t, dir, ".git/config"), "later steps of the workflow find the configuration as it was")
	checkNotes(t, notes)
	for _, place := range []string{dir, filepath.Dir(run)} {
		gittest.AssertNoCredential(t, place)
	}
}

// checkNotes sees to it that the credential was in no argv and no environment.
func checkNotes(t *testing.T, notes string) {
	t.Helper()
	argvs := gittest.Must(filepath.Glob(notes + "/*.argv"))(t)
	network := 0
	for _, file := range argvs {
		argv, env := gittest.Read(t, file), gittest.Read(t, strings.TrimSuffix(file, "argv")+"env")
		assert.NotContains(t, argv, gittest.Token)
		assert.NotContains(t, argv, gittest.Encoded)
		assert.NotContains(t, env, "SSH_AUTH_SOCK", "the environment is built from nothing")
		if strings.Contains(argv, "\nfetch\n") || strings.Contains(argv, "\npush\n") {
			network++
			assert.NotContains(t, env, "GIT_WORK_TREE", "a network child never looks at the files")
		}
		assert.NotContains(t, env, gittest.Encoded, argv)
		assert.NotContains(t, env, gittest.Token, argv)
	}
	assert.Equal(t, 5, network)
}

func TestTheCredentialIsInNoFileOfOurOwn(t *testing.T) {
	h := gittest.NewHub(t)
	temp := t.TempDir()
	c := h.Restored("main", "", h.Tip("main"), "", func(o *git.Options) { o.Temp = temp })
	gittest.AssertNoCredential(t, temp)
	require.NoError(t, c.Close())
	left := gittest.Must(os.ReadDir(temp))(t)
	assert.Empty(t, left, "nothing is left behind")
}

func TestALyingCommitGraphAndShallowFileAreNotBelieved(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	h.Agent(c, "checkout", "-q", "--orphan", "fresh")
	h.Agent(c, "commit", "-q", "-m", "a rewrite")
	orphan := h.Agent(c, "rev-parse", "HEAD")
	// A graft by replacement makes git in the checkout believe that the rewrite descends from start.
	h.Agent(c, "replace", "--graft", orphan, start)
	require.Equal(t, "3", h.Agent(c, "rev-list", "--count", "HEAD"))
	h.Agent(c, "commit-graph", "write", "--reachable")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	assert.EqualValues(t, "diverged", gittest.Must(history.Relation(gittest.Ctx, c, start, head))(t))
	// Declaring start a shallow boundary does not hide the rewrite behind "unknown" either.
	gittest.Write(t, c.Dir(), map[string]string{".git/shallow": orphan + "\n"})
	assert.EqualValues(t, "diverged", gittest.Must(history.Relation(gittest.Ctx, c, start, head))(t))
}

func TestACancelledCallEndsTheWholeGroup(t *testing.T) {
	h := gittest.NewHub(t)
	dir := t.TempDir()
	alive, never := filepath.Join(dir, "alive"), filepath.Join(dir, "never")
	program := gittest.Must(exec.LookPath("git"))(t)
	require.NoError(t, syscall.Mkfifo(alive, 0o600))
	require.NoError(t, syscall.Mkfifo(never, 0o600))
	// A fetch starts a child that waits for ever, ignores SIGTERM, and holds a pipe open for as long as it lives.
	script := `#!/bin/sh
case "$*" in *" fetch "*) (trap '' TERM; exec 3>` + alive + `; echo here >&3; exec cat ` + never + `) ;; *) exec ` + program + ` "$@" ;; esac
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	c := h.Open("", func(o *git.Options) { o.Path = dir + ":" + os.Getenv("PATH") })
	running, cancel := context.WithCancel(gittest.Ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- checkout.Restore(running, c, "main", "", h.Tip("main")) }()
	pipe := gittest.Must(os.Open(alive))(t)
	assert.Equal(t, "here\n", gittest.Must(bufio.NewReader(pipe).ReadString('\n'))(t))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, pipe.SetReadDeadline(time.Now().Add(clocktest.Hang)))
	gittest.Must(io.ReadAll(pipe))(t, "the child still holds its pipe")
	assert.Error(t, gittest.Err(c.Head(gittest.Ctx)), "an empty clone has no HEAD, and the checkout is still usable to ask")
}
