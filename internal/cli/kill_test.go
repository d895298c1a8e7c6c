package cli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
)

// running is a mergexo that is under way.
type running struct {
	*exec.Cmd
	out, errout bytes.Buffer
}

// held is set for a process that ends with the one that started it, which holds the other end of its descriptor 3: nobody else ends
// the leader of a group where the tests are interrupted.
const held = "MERGEXO_TEST_HELD"

// endWithParent ends this process once nobody holds it.
func endWithParent() {
	syscall.CloseOnExec(3)
	_, _ = os.NewFile(3, "held").Read(make([]byte, 1))
	os.Exit(1)
}

// prepared is mergexo as the leader of a process group of its own, to be started.
func prepared(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	hold, holder, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = hold.Close(), holder.Close() })
	cmd := mergexo(t, append([]string{held + "=1"}, env...), args...)
	cmd.ExtraFiles = []*os.File{hold}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start runs mergexo as the leader of a process group of its own.
func start(t testing.TB, env []string, args ...string) *running {
	t.Helper()
	p := &running{Cmd: prepared(t, env, args...)}
	p.Stdout, p.Stderr = &p.out, &p.errout
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // where a test failed half-way
	return p
}

// ended waits for the process.
func (p *running) ended() ran {
	_ = p.Wait() // the exit code says it all
	return ran{p.ProcessState.ExitCode(), p.out.String(), p.errout.String()}
}

// rest is a request of GitHub's API about octo/widgets.
func (h *hub) rest(login, method, path string, body any) map[string]any {
	h.t.Helper()
	return h.api(login, method, "/api/v3/repos/octo/widgets"+path, body)
}

func (h *hub) list(path string) []map[string]any {
	h.t.Helper()
	var all []map[string]any
	require.NoError(h.t, json.Unmarshal(h.raw("octo", "GET", "/api/v3/repos/octo/widgets"+path, nil), &all))
	return all
}

// label has alice open an issue and ask for a small job, and gives its number and the environment of that event's run.
func (h *hub) label(run int) (number int, env []string) {
	h.t.Helper()
	number = int(h.rest("alice", "POST", "/issues", map[string]any{"title": "Write a song", "body": "With two lines."})["number"].(float64))
	h.raw("alice", "POST", fmt.Sprintf("/api/v3/repos/octo/widgets/issues/%d/labels", number), map[string]any{"labels": []string{"agent:small-job"}})
	return number, h.delivered("issues", run)
}

// delivered is the environment of the run for the newest event of this name.
func (h *hub) delivered(name string, run int) []string {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "event.json")
	require.NoError(h.t, os.WriteFile(file, h.newest(name), 0o600))
	return h.env("GITHUB_EVENT_NAME="+name, "GITHUB_EVENT_PATH="+file, "GITHUB_RUN_ID="+strconv.Itoa(run))
}

// over tells GitHub that a workflow run has ended.
func (h *hub) over(run int) {
	h.t.Helper()
	h.api("", "PUT", fmt.Sprintf("/_sandbox/runs/%d", run), map[string]any{"status": "completed"})
}

// branches are all but the two that every hub has, in order.
func (h *hub) branches() []string {
	h.t.Helper()
	var names []string
	for _, b := range h.list("/branches?per_page=100") {
		if name := b["name"].(string); name != "main" && name != "agent/greet" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (h *hub) file(branch, path string) string {
	h.t.Helper()
	raw := h.rest("octo", "GET", "/contents/"+path+"?ref="+url.QueryEscape(branch), nil)["content"].(string)
	return string(must.Get(base64.StdEncoding.DecodeString(strings.ReplaceAll(raw, "\n", "")))(h.t))
}

// stages counts the hidden refs that MergeXO left.
func (h *hub) stages() int {
	h.t.Helper()
	out := must.Get(exec.CommandContext(context.Background(), "git", "ls-remote", h.url+"/octo/widgets", "refs/mergexo/*").Output())(h.t)
	return bytes.Count(out, []byte("\n"))
}

// bodies are what is said on a number, oldest first.
func (h *hub) bodies(number int) []string {
	h.t.Helper()
	var all []string
	for _, c := range h.list(fmt.Sprintf("/issues/%d/comments", number)) {
		all = append(all, c["body"].(string))
	}
	return all
}

// longJob is a hub whose agent writes a line, says which process it is, and stays at work for as long as there is a pipe
// that nobody writes to. Its work is saved again and again. more are further commands that it begins with.
func longJob(t testing.TB, answer, every string, more ...string) (h *hub, dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "hold"), 0o600))
	script := `cat >/dev/null; ` + strings.Join(more, "; ") + `
		echo first line >> song.txt; echo $$ > "$LEAK/pid"; mv "$LEAK/pid" "$LEAK/agent"
		[ ! -p "$LEAK/hold" ] || cat "$LEAK/hold"
		echo last line >> song.txt; echo '` + answer + `'`
	return newHub(t, command(script)+fmt.Sprintf("checkpoint_every = %q\n", every)), dir
}

// atWork waits until the agent of a longJob is at work, and gives its process.
func atWork(t testing.TB, dir string) (pid int) {
	t.Helper()
	clocktest.Until(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "agent"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err == nil
	}, "the agent is at work")
	return pid
}

// killAll has a run begin, and kills it with its agent, all at once and without a warning, when its work is on the remote.
// It gives the branch that the work is on.
func (h *hub) killAll(number int, env []string, dir string) string {
	h.t.Helper()
	p := start(h.t, append(env, "LEAK="+dir), "run", "--json")
	saved := regexp.MustCompile(fmt.Sprintf(`^mergexo/checkpoint/%d/wip-[0-9a-f]{12}$`, number))
	var found []string
	agent := atWork(h.t, dir)
	clocktest.Until(h.t, func() bool { found = h.branches(); return len(found) > 0 }, "its work is on the remote")
	require.NotEqual(h.t, syscall.Getpgrp(), agent, "it leads a group of its own")
	for _, group := range []int{p.Process.Pid, agent} {
		require.NoError(h.t, syscall.Kill(-group, syscall.SIGKILL))
	}
	got := p.ended()
	require.Equal(h.t, -1, got.exit, "it was killed")
	require.Empty(h.t, got.out)
	require.Len(h.t, found, 1)
	require.Regexp(h.t, saved, found[0])
	require.NoError(h.t, os.Remove(filepath.Join(dir, "hold")))
	return found[0]
}

func TestAKilledRunnerLosesLittleOfALongJob(t *testing.T) {
	t.Parallel()
	h, dir := longJob(t, `{"pr_title": "A song", "pr_summary": "Two lines.", "commit_message": "Write the last line"}`, "100ms")
	number, env := h.label(91)
	saved := h.killAll(number, env, dir)
	assert.Equal(t, "first line\n", h.file(saved, "song.txt"))
	require.Len(t, h.bodies(number), 1)
	assert.Contains(t, h.bodies(number)[0], saved, "people can find it")

	again := append(h.delivered("issues", 92), "LEAK="+dir)
	got := program(t, again, "run", "--json")
	assert.Equal(t, cli.ExitRetry, got.exit, "nobody knows yet that the first run is over: %s", got.out)
	h.over(91)
	program(t, again, "run", "--json").ok(t)
	assert.Equal(t, []string{"agent/small/2-write-a-song"}, h.branches())
	assert.Equal(t, "first line\nfirst line\nlast line\n", h.file("agent/small/2-write-a-song", "song.txt"), "both attempts' work")
	assert.Len(t, h.list("/pulls?head=octo:agent/small/2-write-a-song"), 1)
	require.Len(t, h.bodies(number), 1, "one status comment")
	assert.Contains(t, h.bodies(number)[0], `"status":"done"`)
	assert.Zero(t, h.stages())
}

func TestAKilledRunnerLosesLittleOfALongTurn(t *testing.T) {
	t.Parallel()
	h, dir := longJob(t, `{"general_comment": "It is a song now.", "commit_message": "Write the last line"}`, "100ms")
	head := h.rest("octo", "GET", "/git/ref/heads/agent/greet", nil)["object"].(map[string]any)["sha"]
	h.rest("alice", "POST", "/pulls/1/comments", map[string]any{"body": "Sing it.", "commit_id": head, "path": "world.txt", "line": 1, "side": "RIGHT"})
	saved := h.killAll(1, h.delivered("pull_request_review_comment", 91), dir)
	assert.Equal(t, "first line\n", h.file(saved, "song.txt"))
	assert.Equal(t, "world\n", h.file(saved, "world.txt"))

	h.over(91)
	program(t, append(h.delivered("pull_request_review_comment", 92), "LEAK="+dir), "run", "--json").ok(t)
	assert.Equal(t, "first line\nfirst line\nlast line\n", h.file("agent/greet", "song.txt"), "the turn went on from what was saved")
	said := h.bodies(1)
	receipts := slices.DeleteFunc(slices.Clone(said), func(b string) bool { return !strings.Contains(b, `"phase":"done"`) })
	require.Len(t, receipts, 1)
	assert.Contains(t, receipts[0], "Checkpoint of work on pull request 1", "the receipt names the first attempt's commit")
	assert.Empty(t, h.branches(), "the branch of the pull request holds what was saved")
	assert.NotContains(t, strings.Join(said, "\n"), `"phase":"started"`)
	assert.Zero(t, h.stages())
}
