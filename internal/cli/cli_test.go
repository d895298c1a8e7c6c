package cli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
)

// limited is what gives a program the machine's clock. Without it, nothing that it does is ever too late.
const limited = "MERGEXO_TEST_LIMITS=1"

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "gh" {
		if err := standInGH(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("MERGEXO_TEST_MAIN") != "" {
		if os.Getenv(held) != "" {
			_ = os.Unsetenv(held) // it is nothing to what this process starts
			go endWithParent()
		}
		streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Clock: clocktest.Unlimited()}
		if slices.Contains(os.Environ(), limited) {
			streams.Clock = nil
		}
		os.Exit(cli.Main(os.Args, streams))
	}
	programs, err := standInMake()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	exit := m.Run()
	if err := errors.Join(os.RemoveAll(yards.dir), os.RemoveAll(programs)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(exit)
}

// standInMake puts a make before all others that runs every recipe, and fails as make does: a machine with Go and git need not have one.
func standInMake() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "mergexo-make-"); err != nil {
		return "", err
	}
	return dir, errors.Join(
		os.WriteFile(filepath.Join(dir, "make"), []byte("#!/bin/sh\nsed -n 's/^\t@*//p' Makefile | sh -e || exit 2\n"), 0o755),
		os.Setenv("PATH", dir+":"+os.Getenv("PATH")),
	)
}

// ran is how one invocation of the program ended.
type ran struct {
	exit        int
	out, errout string
}

// ok requires that it ended well.
func (r ran) ok(t testing.TB) ran {
	t.Helper()
	return r.exits(t, 0)
}

// exits requires that it ended with this code.
func (r ran) exits(t testing.TB, exit int) ran {
	t.Helper()
	require.Equal(t, exit, r.exit, r.out+r.errout)
	return r
}

// fails requires that it ended with this code, and said this of it.
func (r ran) fails(t testing.TB, exit int, says string) ran {
	t.Helper()
	require.Contains(t, r.exits(t, exit).errout, says)
	return r
}

// program runs mergexo as a process of its own, with nothing in its environment but what is given and PATH.
func program(t testing.TB, env []string, args ...string) ran {
	t.Helper()
	return runs(t, mergexo(t, env, args...))
}

// mergexo is the program, not yet started.
func mergexo(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append([]string{"MERGEXO_TEST_MAIN=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	return cmd
}

// runs lets the program run to its end.
func runs(t testing.TB, cmd *exec.Cmd) ran {
	t.Helper()
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	holdsItsSchema(t, cmd.Args[1:], out.String())
	return ran{cmd.ProcessState.ExitCode(), out.String(), errout.String()}
}

// hub is a sandbox with octo/widgets, one open pull request from agent/greet and one review comment by alice.
type hub struct {
	t       testing.TB
	url     string
	payload string // file
	mu      sync.Mutex
	asked   []*request   // what the workflow's token asked for
	behind  atomic.Int64 // how far its clock is behind, as a time.Duration
}

// request is one of an API, as it came.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// noting keeps the requests that the workflow's token makes, and passes them on.
func (h *hub) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") && r.Header.Get("Authorization") == "Bearer sandbox-actions" {
			body, _ := io.ReadAll(r.Body)
			h.mu.Lock()
			h.asked = append(h.asked, &request{r.Method, r.URL.RequestURI(), r.Header.Clone(), body})
			h.mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

// newHub is a hub of its own. Equal settings make equal hubs: the first is made, the others are copies of it as it was.
func newHub(t testing.TB, settings string) *hub {
	t.Helper()
	made, _ := hubs.LoadOrStore(settings, sync.OnceValue(func() hubAtRest { return makeHub(t, settings) }))
	rest, dir := made.(func() hubAtRest)(), t.TempDir()
	require.NoError(t, os.CopyFS(dir, rest.files))
	h, _ := openHub(t, dir, rest.url)
	h.payload = filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(h.payload, h.newest("issue_comment"), 0o600))
	return h
}

func (h *hub) raw(login, method, path string, body any) []byte {
	h.t.Helper()
	raw := must.Get(json.Marshal(body))(h.t)
	req := must.Get(http.NewRequestWithContext(context.Background(), method, h.url+path, bytes.NewReader(raw)))(h.t)
	if login != "" {
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
	}
	resp := must.Get(http.DefaultClient.Do(req))(h.t)
	defer resp.Body.Close()
	out := must.Get(io.ReadAll(resp.Body))(h.t)
	require.Less(h.t, resp.StatusCode, 300, "%s %s: %s", method, path, out)
	return out
}

func (h *hub) api(login, method, path string, body any) map[string]any {
	h.t.Helper()
	var o map[string]any
	if out := h.raw(login, method, path, body); len(out) > 0 {
		require.NoError(h.t, json.Unmarshal(out, &o))
	}
	return o
}

func (h *hub) write(branch, path, text string) {
	h.t.Helper()
	h.api("octo", "PUT", "/api/v3/repos/octo/widgets/contents/"+path, map[string]any{
		"message": "Write " + path, "branch": branch, "content": base64.StdEncoding.EncodeToString([]byte(text)),
	})
}

func (h *hub) comments() string {
	h.t.Helper()
	return string(h.raw("octo", "GET", "/api/v3/repos/octo/widgets/issues/1/comments", nil))
}

// env is what a workflow's step would have, with more behind it.
func (h *hub) env(more ...string) []string {
	return append([]string{
		"GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH=" + h.payload, "GITHUB_REPOSITORY=octo/widgets",
		"GITHUB_API_URL=" + h.url + "/api/v3", "GITHUB_GRAPHQL_URL=" + h.url + "/api/graphql", "GITHUB_SERVER_URL=" + h.url,
		"GITHUB_TOKEN=sandbox-actions",
	}, more...)
}

// command is a settings file whose agent is this shell script.
func command(script string) string {
	return fmt.Sprintf("[repo]\ntrack = [\"agent/*\"]\n[agent]\nadapter = \"command\"\ncommand = [\"sh\", \"-c\", %q]\npass_env = [\"LEAK\"]\n", script)
}

const answers = `cat >/dev/null; echo more >> world.txt; echo '{"commit_message": "Say more", "general_comment": "Said."}'`

func TestRunInAWorkflowsStep(t *testing.T) {
	h := newHub(t, command(answers))
	dir := t.TempDir()
	output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	got := program(t, h.env("GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_RUN_ID=12", "GITHUB_ACTIONS=true"), "run", "--json").ok(t)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &report), got.out)
	assert.Equal(t, "done", report["result"])
	assert.EqualValues(t, 0, report["exit"])
	assert.EqualValues(t, 1, report["number"])
	assert.Len(t, report["turn_key"], 64)
	assert.Contains(t, h.comments(), "/actions/runs/12")
	assert.Regexp(t, `^result=done\npr=1\n(.*\n)*head-sha=[0-9a-f]{40}\n`, text(t, output))
	assert.NotEmpty(t, text(t, summary))
}

func TestMistakesOfAWorkflowsStep(t *testing.T) {
	h := newHub(t, command(answers))
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	whole := text(t, h.payload)
	truncated := file("truncated.json", whole[:len(whole)/2])
	foreign := file("foreign.json", `{"object_kind": "note"}`)
	absent := file("absent.json", strings.ReplaceAll(whole, `"number":1,`, `"number":404,`))
	mistakes(t, map[string]mistake{
		"a missing number":        {h.env("GITHUB_EVENT_PATH=" + absent), []string{"run"}, "404"},
		"no payload":              {h.env("GITHUB_EVENT_PATH=/nowhere.json"), []string{"run"}, "/nowhere.json"},
		"a truncated payload":     {h.env("GITHUB_EVENT_PATH=" + truncated), []string{"run"}, truncated},
		"a foreign payload":       {h.env("GITHUB_EVENT_PATH=" + foreign), []string{"run"}, foreign + ": payload: repository: missing"},
		"another repository":      {h.env("GITHUB_REPOSITORY=octo/gadgets"), []string{"run"}, "octo/widgets, but GITHUB_REPOSITORY is octo/gadgets"},
		"a wrong token":           {h.env("GITHUB_TOKEN=nonsense"), []string{"run"}, "(401); set GITHUB_TOKEN"},
		"a bad run id":            {h.env("GITHUB_RUN_ID=x"), []string{"run"}, "GITHUB_RUN_ID: want a number"},
		"apply without live":      {nil, []string{"replay", "--event", h.payload, "--apply"}, "--apply needs --live"},
		"sandbox without a state": {nil, []string{"sandbox"}, "sandbox needs --state DIR"},
	})
	assert.NotContains(t, h.comments(), "mergexo", "nothing was said")
}

func TestEveryExitButAUsageErrorPrintsTheReport(t *testing.T) {
	h := newHub(t, "")
	for name, env := range map[string][]string{
		"no settings":   h.env(),
		"a wrong token": h.env("GITHUB_TOKEN=nonsense"),
		"no token":      h.env("GITHUB_TOKEN="),
		"no payload":    h.env("GITHUB_EVENT_PATH=/nowhere.json"),
	} {
		got := program(t, env, "run", "--json")
		assert.Equal(t, 2, got.exit, name)
		var report map[string]any
		require.NoError(t, json.Unmarshal([]byte(got.out), &report), "%s: %s", name, got.out)
		assert.Equal(t, "failed", report["result"], name)
		assert.EqualValues(t, 2, report["exit"], name)
		assert.NotEmpty(t, report["reason"], name)
	}
}

func TestOurOwnDeliveriesCanBeReplayed(t *testing.T) {
	h := newHub(t, command(answers))
	require.Equal(t, 0, program(t, h.env(), "run").exit)
	clone := filepath.Join(t.TempDir(), "clone")
	gitIn(t, ".", "clone", "-q", h.url+"/octo/widgets", clone)
	replayed := map[string]bool{}
	for i, d := range h.deliveries() {
		var is struct{ Action string }
		require.NoError(t, json.Unmarshal(d.Payload, &is))
		kind := d.Event + " " + is.Action
		if replayed[kind] {
			continue // which the program takes in the same way
		}
		replayed[kind] = true
		file := filepath.Join(t.TempDir(), fmt.Sprint(i)+".json")
		require.NoError(t, os.WriteFile(file, d.Payload, 0o600))
		got := program(t, nil, "replay", "--event", file, "--name", d.Event, "--checkout", clone)
		assert.Equal(t, 0, got.exit, "%s\n%s", d.Event, got.errout)
	}
}

func TestAnEventThatIsNotOursIsFine(t *testing.T) {
	h := newHub(t, command(answers))
	assert.Contains(t, program(t, h.env("GITHUB_EVENT_NAME=watch"), "run", "--json").ok(t).out, `"result":"nothing"`)
}

func TestTheActionTurnsABlockIntoAWarning(t *testing.T) {
	h := newHub(t, command(`cat >/dev/null; echo '{"blocked_reason": "Which way?"}'`))
	env := h.env("GITHUB_ACTIONS=true", "MERGEXO_FAIL_ON=failed")
	got := program(t, env, "run", "--json").ok(t)
	assert.Contains(t, got.out, `"exit":3`)
	assert.Contains(t, got.errout, "::warning::mergexo: ")
	got = program(t, h.env("MERGEXO_FAIL_ON=failed,blocked"), "run").exits(t, 3)
	assert.True(t, strings.Contains(got.errout, "\nmergexo: ") || strings.HasPrefix(got.errout, "mergexo: "), got.errout)
}

func TestNoChildCanFindTheToken(t *testing.T) {
	leak := filepath.Join(t.TempDir(), "leak")
	// Everything an agent of the same user can look at: its environment, that of its ancestors, their command lines, the
	// checkout's configuration and remotes, and all files below the runner's temporary directory.
	script := `cat >/dev/null; { env; pid=$$; while [ "$pid" -gt 1 ]; do
		tr '\0' '\n' < /proc/$pid/environ; tr '\0' ' ' < /proc/$pid/cmdline; [ $pid = $$ ] || [ -z "$(tr '\0' '\n' < /proc/$pid/environ | grep MERGEXO_TEST_MAIN)" ] || echo "saw the program";
		pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status); done
		git config --list --show-origin; git remote -v; grep -rs sandbox-a "$TMPDIR" .git && echo "in a file"; git push origin HEAD; } > "$LEAK" 2>&1
		echo '{"general_comment": "x"}'`
	h := newHub(t, command(script))
	temp := t.TempDir()
	sealing := "AGE-SECRET-" + "KEY-1233X72RPXYWDPVTPCG82J38VHYV4XRPFUNMSTMNPT42GDM6LD0SQJQYECW"
	workspace := filepath.Join(temp, "work")
	gitIn(t, ".", "clone", "-q", h.url+"/octo/widgets", workspace)
	header := "AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:sandbox-actions"))
	gitIn(t, workspace, "config", "http."+h.url+"/.extraheader", header)
	got := program(t, h.env("INPUT_TOKEN=sandbox-actions", "MERGEXO_SIGNING_KEY=signing-secret", "MERGEXO_TRANSCRIPT_KEY="+sealing, "LEAK="+leak, "RUNNER_TEMP="+temp, "GITHUB_WORKSPACE="+workspace), "run", "--verbose").ok(t)
	seen := text(t, leak)
	assert.Contains(t, seen, "saw the program", "the script really looked at our process")
	for _, secret := range []string{"sandbox-actions", "signing-secret", sealing, base64.StdEncoding.EncodeToString([]byte("x-access-token:sandbox-actions"))} {
		assert.NotContains(t, seen, secret)
		assert.NotContains(t, got.errout+got.out, secret)
	}
	assert.Contains(t, h.comments(), `\"sig\":\"`)
}

func TestTheSandboxServesAndRemembers(t *testing.T) {
	state := t.TempDir()
	serve := func() (string, func()) {
		cmd := mergexo(t, nil, "sandbox", "--listen", "127.0.0.1:0", "--state", state)
		out := must.Get(cmd.StdoutPipe())(t)
		require.NoError(t, cmd.Start())
		var urls struct {
			API        string `json:"api_url"`
			GraphQL    string `json:"graphql_url"`
			Server     string `json:"server_url"`
			Repository string
		}
		require.NoError(t, json.NewDecoder(out).Decode(&urls))
		assert.Equal(t, "octo/widgets", urls.Repository)
		return urls.API, func() {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			require.NoError(t, cmd.Wait())
		}
	}
	request := func(method, url, body string) int {
		req := must.Get(http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body)))(t)
		req.Header.Set("Authorization", "Bearer sandbox-octo")
		resp := must.Get(http.DefaultClient.Do(req))(t)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	api, end := serve()
	require.Equal(t, 201, request("POST", api+"/repos/octo/widgets/issues", `{"title": "Remember me"}`))
	end()
	api, end = serve()
	defer end()
	assert.Equal(t, 200, request("GET", api+"/repos/octo/widgets/issues/1", ""))
}

// A URL that is none is named by its variable, with what it should be; not its text, which could hold a password.
func TestAnAddressThatIsNoneIsNamed(t *testing.T) {
	h := newHub(t, command(answers)) // which nothing gets to
	for name, value := range map[string]string{"GITHUB_API_URL": "::", "GITHUB_GRAPHQL_URL": "ftp://h", "GITHUB_SERVER_URL": "https://me:secret@api.example.com"} {
		got := program(t, h.env(name+"="+value), "run").exits(t, 2)
		first, _, _ := strings.Cut(got.errout, "\n")
		assert.Regexp(t, "^mergexo: "+name+": .+: set it to ", first)
		assert.NotContains(t, got.errout, "secret")
	}
}

// text is what a file holds.
func text(t testing.TB, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}
