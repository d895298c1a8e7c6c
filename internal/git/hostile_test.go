package git_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
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

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/git"
)

var encoded = base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))

// recorder puts a git in front of the real one that notes argv and environment of every call, one file each.
func recorder(t *testing.T) (path, notes string) {
	t.Helper()
	program, err := exec.LookPath("git")
	require.NoError(t, err)
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

// canary is a command line that leaves a trace when it is run: its whole environment.
func canary(t *testing.T) (command string, traces func() []string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "canary")
	text := "#!/bin/sh\n{ echo \"ran as $0 $*\"; env; tr '\\0' '\\n' </proc/$PPID/environ; } >> " + dir + "/trace.$$\ncat\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o755))
	return script, func() []string {
		files, err := filepath.Glob(dir + "/trace.*")
		require.NoError(t, err)
		return files
	}
}

func TestWhatAnAgentLeavesInTheCheckoutIsNeverRun(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	path, notes := recorder(t)
	c := h.open(h.workspace("agent/x", "--depth=1"), func(o *git.Options) { o.Path = path })
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	dir, before := c.Dir(), read(t, c.Dir(), ".git/config")

	run, traces := canary(t)
	for _, kv := range [][2]string{
		{"core.fsmonitor", run}, {"core.hooksPath", filepath.Dir(run)}, {"core.sshCommand", run}, {"core.pager", run}, {"core.editor", run},
		{"core.askPass", run}, {"credential.helper", "!" + run}, {"filter.evil.clean", run}, {"filter.evil.smudge", run}, {"filter.evil.required", "true"},
		{"diff.evil.textconv", run}, {"diff.external", run}, {"merge.evil.driver", run}, {"gpg.program", run}, {"commit.gpgSign", "true"}, {"core.alternateRefsCommand", run},
		{"url.ext::" + run + " .insteadOf", h.url}, {"url.ext::" + run + " .pushInsteadOf", h.url}, {"remote.origin.uploadpack", run}, {"remote.origin.receivepack", run},
		{"remote." + h.url + ".proxy", "http://127.0.0.1:1"}, {"http.proxy", "http://127.0.0.1:1"}, {"protocol.ext.allow", "always"}, {"include.path", run + ".config"},
	} {
		h.git(dir, "config", kv[0], kv[1])
	}
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "pre-push", "post-index-change", "reference-transaction", "post-checkout"} {
		require.NoError(t, os.Symlink(run, filepath.Join(dir, ".git", "hooks", hook)))
		require.NoError(t, os.Symlink(run, filepath.Join(filepath.Dir(run), hook)))
	}
	write(t, dir, map[string]string{".gitattributes": "* filter=evil diff=evil merge=evil\n", "a.txt": "two\n", "b.txt": "b\n"})

	head, err := c.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, start, head)
	assert.Equal(t, before, read(t, dir, ".git/config"), "what the agent configured is gone")
	dirty, err := c.Dirty(ctx)
	require.NoError(t, err)
	assert.True(t, dirty)
	sha, made, err := c.Commit(ctx, "change")
	require.NoError(t, err)
	require.True(t, made)
	_, err = c.Changes(ctx, start, sha)
	require.NoError(t, err)
	require.NoError(t, c.Stage(ctx, stage, sha))
	theirs := h.commit("agent/x", "by a person", map[string]string{"c.txt": "c\n"})
	onto, err := c.FetchRef(ctx, "refs/heads/agent/x")
	require.NoError(t, err)
	require.Equal(t, theirs, onto)
	now, err := c.Replay(ctx, start, sha, onto)
	require.NoError(t, err)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: onto, SHA: now, Stage: stage}))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", now), "a further round on the same checkout")

	assert.Empty(t, traces(), "nothing that the agent configured has been run")
	assert.Equal(t, now, h.tip("refs/heads/agent/x"))
	assert.Equal(t, before, read(t, dir, ".git/config"), "later steps of the workflow find the configuration as it was")
	checkNotes(t, notes)
	for _, place := range []string{dir, filepath.Dir(run)} {
		assertNoCredential(t, place)
	}
}

// checkNotes sees to it that the credential was in no argv and no environment.
func checkNotes(t *testing.T, notes string) {
	t.Helper()
	argvs, err := filepath.Glob(notes + "/*.argv")
	require.NoError(t, err)
	network := 0
	for _, file := range argvs {
		argv, env := read(t, file), read(t, strings.TrimSuffix(file, "argv")+"env")
		assert.NotContains(t, argv, token)
		assert.NotContains(t, argv, encoded)
		assert.NotContains(t, env, "SSH_AUTH_SOCK", "the environment is built from nothing")
		if strings.Contains(argv, "\nfetch\n") || strings.Contains(argv, "\npush\n") {
			network++
			assert.NotContains(t, env, "GIT_WORK_TREE", "a network child never looks at the files")
		}
		assert.NotContains(t, env, encoded, argv)
		assert.NotContains(t, env, token, argv)
	}
	assert.Equal(t, 5, network)
}

// assertNoCredential looks through every file below a directory.
func assertNoCredential(t *testing.T, root string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			text := read(t, file)
			assert.NotContains(t, text, token, file)
			assert.NotContains(t, text, encoded, file)
		}
		return err
	}))
}

func TestTheCredentialIsInNoFileOfOurOwn(t *testing.T) {
	h := newHub(t)
	temp := t.TempDir()
	c := h.open("", func(o *git.Options) { o.Temp = temp })
	require.NoError(t, c.Restore(ctx, "main", "", h.tip("main")))
	assertNoCredential(t, temp)
	require.NoError(t, c.Close())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is left behind")
}

func TestALyingCommitGraphAndShallowFileAreNotBelieved(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	c := h.open(h.workspace("agent/x"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	h.agent(c, "checkout", "-q", "--orphan", "fresh")
	h.agent(c, "commit", "-q", "-m", "a rewrite")
	orphan := h.agent(c, "rev-parse", "HEAD")
	// A graft by replacement makes git in the checkout believe that the rewrite descends from start.
	h.agent(c, "replace", "--graft", orphan, start)
	require.Equal(t, "3", h.agent(c, "rev-list", "--count", "HEAD"))
	h.agent(c, "commit-graph", "write", "--reachable")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	relation, err := c.Relation(ctx, start, head)
	require.NoError(t, err)
	assert.EqualValues(t, "diverged", relation)
	// Declaring start a shallow boundary does not hide the rewrite behind "unknown" either.
	write(t, c.Dir(), map[string]string{".git/shallow": orphan + "\n"})
	relation, err = c.Relation(ctx, start, head)
	require.NoError(t, err)
	assert.EqualValues(t, "diverged", relation)
}

func TestACancelledCallEndsTheWholeGroup(t *testing.T) {
	h := newHub(t)
	dir := t.TempDir()
	alive, never := filepath.Join(dir, "alive"), filepath.Join(dir, "never")
	program, err := exec.LookPath("git")
	require.NoError(t, err)
	require.NoError(t, syscall.Mkfifo(alive, 0o600))
	require.NoError(t, syscall.Mkfifo(never, 0o600))
	// A fetch starts a child that waits for ever, ignores SIGTERM, and holds a pipe open for as long as it lives.
	script := `#!/bin/sh
case "$*" in *" fetch "*) (trap '' TERM; exec 3>` + alive + `; echo here >&3; exec cat ` + never + `) ;; *) exec ` + program + ` "$@" ;; esac
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	c := h.open("", func(o *git.Options) { o.Path = dir + ":" + os.Getenv("PATH") })
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.Restore(running, "main", "", h.tip("main")) }()
	pipe, err := os.Open(alive)
	require.NoError(t, err)
	said, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "here\n", said)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, pipe.SetReadDeadline(time.Now().Add(clocktest.Hang)))
	_, err = io.ReadAll(pipe)
	require.NoError(t, err, "the child still holds its pipe")
	_, err = c.Head(ctx)
	assert.Error(t, err, "an empty clone has no HEAD, and the checkout is still usable to ask")
}
