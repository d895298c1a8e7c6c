package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// TestMain makes this program the agent when FAKE_AGENT says which one.
func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv("FAKE_AGENT"); ok {
		syscall.Exit(fakes[name]()) // os.Exit takes a second longer where the race detector watches
	}
	os.Exit(m.Run())
}

// fakes are the agents that this program can be; each returns its exit code.
var fakes = map[string]func() int{
	"echo": func() int {
		var req model.Request
		if err := json.NewDecoder(os.Stdin).Decode(&req); err != nil {
			return 9
		}
		dir, _ := os.Getwd()
		comment, _ := json.Marshal(strings.Join([]string{req.TurnKey, dir, strings.Join(os.Args[1:], ","), strings.Join(os.Environ(), "\n")}, "|"))
		fmt.Printf(`{"general_comment": %s, "review_replies": [{"review_comment_id": %d, "body": "done"}]}`, comment, req.Feedback[0].ID)
		return 0
	},
	"deaf":   func() int { fmt.Print(`{}`); return 0 }, // reads nothing of a request that does not fit into a pipe
	"exit 3": func() int { fmt.Fprint(os.Stderr, "first\nno \x1b[31mkey\x00 found"); return 3 },
	"signal": func() int { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); return forever() },
	"garbage": func() int {
		fmt.Print("Sure! Here is\x1b[0m the JSON you asked for")
		return 0
	},
	"flood": func() int {
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096)); err != nil {
				return 1
			}
		}
	},
	"noise": func() int {
		for i := range 2000 {
			fmt.Fprintf(os.Stderr, "%d %s\n", i, strings.Repeat("x", 4000))
		}
		fmt.Fprint(os.Stderr, strings.Repeat("y", 20000)+"\nthe end")
		fmt.Print(`{}`)
		return 0
	},
	// The next ones say on stderr that they are there, and then only a signal ends them.
	"hang":     func() int { fmt.Fprintln(os.Stderr, "hanging"); return forever() },
	"stubborn": func() int { return child("ignore TERM", false) },
	"family":   func() int { return child("ignore TERM", true) },
	"escaped":  func() int { return child("new session", true) },
}

// forever waits for a signal. In a program without cgo, which a machine without a C compiler builds, an empty select is a
// deadlock that the runtime notices.
func forever() int {
	r, w, err := os.Pipe()
	if err == nil {
		_, err = r.Read(make([]byte, 1))
	}
	fmt.Fprintln(os.Stderr, err)
	runtime.KeepAlive(w) // or its end of the pipe is closed as garbage
	return 8
}

// child starts a grandchild that holds all our pipes and never ends, and waits for it or leaves it behind.
func child(how string, leave bool) int {
	command := `trap "" TERM; exec 3>"$0.alive"; echo here >&3; exec cat "$0"`
	gate := filepath.Join(os.Getenv("TMPDIR"), "gate") // a fifo that nobody writes to
	cmd := exec.Command("sh", "-c", command, gate)
	cmd.Stdout, cmd.Stderr, cmd.Stdin = os.Stdout, os.Stderr, os.Stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: how == "new session"}
	if !leave {
		signal.Ignore(syscall.SIGTERM) // before the child speaks, since that is when the test goes on
	}
	if err := cmd.Start(); err != nil {
		return 8
	}
	if !leave {
		_ = cmd.Wait()
	}
	if _, err := os.ReadFile(gate + ".seen"); err != nil { // a fifo too: the test says when it has seen the child
		return 7
	}
	fmt.Print(`{"general_comment": "left a child"}`)
	return 0
}

// grace is what agents have here to end by themselves. On an impatient clock that is no time at all.
const grace = 5 * time.Second

// impatient is a clock that only a test moves, on which whoever is told to end has to end at once.
type impatient struct{ *clockwork.FakeClock }

func (i impatient) NewTimer(d time.Duration) clockwork.Timer {
	if d == grace {
		d = 0
	}
	return i.FakeClock.NewTimer(d)
}

// upAt gives opt a clock by which its time is up when the program has said the word.
func upAt(opt agent.Options, word string) agent.Options {
	c := clockwork.NewFakeClock()
	words := &clocktest.Words{To: opt.Log}
	words.At(word, func() { c.Advance(opt.Timeout) })
	opt.Log, opt.Clock = words, impatient{c}
	return opt
}

// options make this program the agent named fake.
func options(t *testing.T, fake string, log io.Writer) agent.Options {
	t.Helper()
	self := must.Get(os.Executable())(t)
	return agent.Options{
		Adapter: "command", Command: []string{self, "arg"}, Log: log, Timeout: time.Minute, Grace: grace, Clock: impatient{clockwork.NewFakeClock()},
		Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "FAKE_AGENT=" + fake},
	}
}

func run(t *testing.T, ctx context.Context, opt agent.Options, req model.Request) (model.Outcome, error) {
	t.Helper()
	return must.Get(agent.New(opt))(t).Run(ctx, t.TempDir(), req)
}

func failure(t *testing.T, err error) *agent.Error {
	t.Helper()
	var failed *agent.Error
	require.ErrorAs(t, err, &failed)
	assert.NotContains(t, err.Error(), "\n", "one line")
	assert.NotContains(t, err.Error(), "\x1b", "nothing that drives a terminal")
	return failed
}

func TestCommandGetsTheRequestAndOnlyItsEnvironment(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	opt := options(t, "echo", nil)
	opt.ExtraArgs = []string{"--fast"}
	a := must.Get(agent.New(opt))(t)
	dir := t.TempDir()
	out := must.Get(a.Run(context.Background(), dir, model.Request{TurnKey: "key", Feedback: []model.Feedback{{ID: 12}}}))(t)
	assert.Equal(t, []model.ReviewReply{{ReviewCommentID: 12, Body: "done"}}, out.ReviewReplies)
	part := strings.Split(out.GeneralComment, "|")
	assert.Equal(t, []string{"key", dir, "arg,--fast"}, part[:3])
	var names []string
	for line := range strings.SplitSeq(part[3], "\n") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	assert.ElementsMatch(t, []string{"PATH", "TMPDIR", "FAKE_AGENT", "PWD"}, names)
}

func TestRequestHasListsAndAVersion(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\ncat > " + temp + "/request\necho '{}'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent"), []byte(script), 0o755))
	a := must.Get(agent.New(agent.Options{Adapter: "command", Command: []string{"./agent"}, Env: []string{"PATH=" + os.Getenv("PATH")}}))(t)
	_ = must.Get(a.Run(context.Background(), dir, model.Request{Kind: "feedback", Prompt: "<b> & so on"}))(t, "./agent is found in the checkout")
	text := contents(t, filepath.Join(temp, "request"))
	assert.JSONEq(t, `{"version":1,"kind":"feedback","turn_key":"","repository":"","issue":null,"pull_request":null,"feedback":[],
		"changed_files":[],"ci":[],"history":[],"session":"","prompt":"<b> & so on","rules":[]}`, string(text))
	assert.Contains(t, string(text), "<b> & so on")
}

// The prompt is as clean, by package turn.
func TestTextsInARequestAreAsPeopleSeeThem(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\ncat > " + temp + "/request\necho '{}'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent"), []byte(script), 0o755))
	const prose, title, code = "Do A.<!-- Do B. --> [c](https://u \"Do D.\")\u200b\u202e", "A\u200b <!-- b -->\u2028c", "+a\u202eb\u200b <!-- c -->"
	request := model.Request{
		Kind: "feedback", Prompt: "p", Session: "s\u200b", Issue: &model.RequestIssue{Number: 1 << 60, Title: title, Body: prose},
		PullRequest: &model.RequestPull{Title: title, Body: prose, Head: "h\u200b", Base: "b"},
		Feedback: []model.Feedback{{ID: 1<<62 + 1, Author: "al\u200bice", Body: prose, Path: "a\u200b.txt", DiffHunk: code,
			Lines: model.Lines{Line: 8, Side: "RIGHT", StartLine: 5, StartSide: "LEFT"}}},
		ChangedFiles: []string{"a\u200b.txt"}, CI: []model.CIFailure{{Name: code, Log: "\x1b[31mred\x1b[0m\u202e"}}, History: []model.HistoryEntry{{Summary: prose}},
		GitResults: []model.GitResult{{Detail: code, Paths: []string{"a\u200b.txt"}}}, Design: &model.Document{Path: "a\u200b.txt", Text: prose},
	}
	_ = must.Get(ask(t, agent.Options{Adapter: "command", Command: []string{"./agent"}, Env: []string{"PATH=" + os.Getenv("PATH")}}, dir, request))(t)
	text := contents(t, filepath.Join(temp, "request"))
	const seen, named, shown = "Do A. [c](https://u)", "A <!-- b --> c", "+a[U+202E]b[U+200B] <!-- c -->"
	want := request
	want.Version, want.Rules, want.Issue = 1, []string{}, &model.RequestIssue{Number: 1 << 60, Title: named, Body: seen}
	want.PullRequest = &model.RequestPull{Title: named, Body: seen, Head: "h\u200b", Base: "b"}
	want.Feedback[0].Author, want.Feedback[0].Body, want.Feedback[0].DiffHunk = "al[U+200B]ice", seen, shown
	want.CI, want.History = []model.CIFailure{{Name: shown, Log: "red[U+202E]"}}, []model.HistoryEntry{{Summary: seen}}
	want.GitResults[0].Detail, want.Design = shown, &model.Document{Path: "a\u200b.txt", Text: seen}
	assert.JSONEq(t, string(must.Get(json.Marshal(want))(t)), string(text))
	assert.Contains(t, string(text), `"id":4611686018427387905,`)
}

func TestASecretIsGoneBeforeAnErrorCutsIt(t *testing.T) {
	for script, says := range map[string]string{
		`printf 'open"sesame' >&2; exit 1`:                  "exit code 1; its last line: ***",
		`printf '%0292dopen"sesame' 0 >&2; exit 1`:          "0***",
		`printf '{"a" %070dopen"sesame' 0`:                  "0***\"",
		`printf '{} %076dopen"sesame' 0`:                    "0***\"",
		`printf 'open"sesame\n%065527d\nend' 0 >&2; exit 1`: "its last line: end",
	} {
		opt := agent.Options{Adapter: "command", Command: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
		opt.Redact = func(said string) string { return strings.ReplaceAll(said, `open"sesame`, "***") }
		_, err := run(t, context.Background(), opt, model.Request{Kind: "feedback"})
		failed := failure(t, err)
		text := failed.Error()
		assert.Contains(t, text, says, script)
		assert.NotContains(t, text, "open", script)
		assert.NotContains(t, text, "same", script)
		assert.False(t, strings.HasPrefix(failed.Stderr, "same"), "a part of it: %s", script)
	}
}

func TestEveryWayToFailHasOneClearLine(t *testing.T) {
	for _, test := range []struct {
		fake string
		kind agent.Kind
		exit int
		text string
	}{
		{"exit 3", agent.Exit, 3, `agent: exit code 3; its last line: no \x1b[31mkey\x00 found`},
		{"signal", agent.Exit, -1, "agent: ended by signal: killed"},
		{"garbage", agent.Output, 0, `agent: its output is not JSON (invalid character 'S' at start of value): it begins with "Sure! Here is\x1b[0m the JSON you asked for"`},
		{"flood", agent.Flood, -1, "agent: it wrote more than 1000000 bytes on stdout"},
		{"hang", agent.Timeout, -1, "agent: stopped after 1m; its last line: hanging"},
	} {
		t.Run(test.fake, func(t *testing.T) {
			opt := options(t, test.fake, nil)
			opt.OutputLimit = 1e6
			if test.kind == agent.Timeout {
				opt = upAt(opt, "hanging")
			}
			_, err := run(t, context.Background(), opt, model.Request{})
			failed := failure(t, err)
			assert.Equal(t, test.kind, failed.Kind)
			assert.Equal(t, test.exit, failed.Exit)
			assert.Equal(t, test.text, err.Error())
		})
	}
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	for command, want := range map[string]string{
		"./none":       "agent: start ./none: fork/exec ",
		"no-such-name": "agent: start no-such-name: not found in PATH: install it, or give its path in command",
	} {
		opt := options(t, "", nil)
		opt.Command = []string{command}
		_, err := run(t, context.Background(), opt, model.Request{})
		assert.Equal(t, agent.Start, failure(t, err).Kind)
		assert.ErrorContains(t, err, want)
	}
}

func TestABigRequestThatNobodyReadsIsNoFailure(t *testing.T) {
	assert.NoError(t, must.Err(run(t, context.Background(), options(t, "deaf", nil), model.Request{Prompt: strings.Repeat("x", 1<<20)})))
}

func TestStderrIsPassedOnInBoundedLines(t *testing.T) {
	var log bytes.Buffer
	_ = must.Get(run(t, context.Background(), options(t, "noise", &log), model.Request{}))(t)
	assert.Less(t, log.Len(), 5<<20)
	assert.True(t, strings.HasPrefix(log.String(), "0 xxx"))
	assert.True(t, strings.HasSuffix(log.String(), "(more than 4194304 bytes: the rest is left out)\n"))
}

func TestACancelledRunStopsTheAgentAndWhatItStarted(t *testing.T) {
	opt := options(t, "stubborn", nil)
	fifos(t, opt)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := run(t, ctx, opt, model.Request{})
		result <- err
	}()
	alive := childOf(t, opt)
	cancel()
	err := <-result
	assert.Equal(t, agent.Canceled, failure(t, err).Kind)
	require.ErrorIs(t, err, context.Canceled)
	assertGone(t, alive)

	_, err = run(t, ctx, opt, model.Request{})
	assert.Equal(t, agent.Canceled, failure(t, err).Kind, "a run that is over starts nothing")
}

func TestWhatAnAgentLeavesBehindEndsWithIt(t *testing.T) {
	for _, fake := range []string{"family", "escaped"} {
		t.Run(fake, func(t *testing.T) {
			opt := options(t, fake, nil)
			fifos(t, opt)
			result := make(chan model.Outcome, 1)
			go func() {
				out, err := run(t, context.Background(), opt, model.Request{Prompt: strings.Repeat("x", 1<<20)})
				assert.NoError(t, err)
				result <- out
			}()
			alive := childOf(t, opt)
			require.NoError(t, os.WriteFile(gate(opt)+".seen", []byte("seen"), 0))
			assert.Equal(t, "left a child", (<-result).GeneralComment)
			assertGone(t, alive)
		})
	}
}

func gate(opt agent.Options) string {
	return filepath.Join(strings.TrimPrefix(opt.Env[1], "TMPDIR="), "gate")
}

func fifos(t *testing.T, opt agent.Options) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(gate(opt), 0o600))
	require.NoError(t, syscall.Mkfifo(gate(opt)+".seen", 0o600))
	require.NoError(t, syscall.Mkfifo(gate(opt)+".alive", 0o600))
}

// childOf waits for the child, and returns a pipe that the child holds for as long as it lives.
func childOf(t *testing.T, opt agent.Options) *os.File {
	t.Helper()
	opened := make(chan *os.File, 1)
	go func() { // until the child has opened it, too
		pipe, err := os.Open(gate(opt) + ".alive")
		assert.NoError(t, err)
		opened <- pipe
	}()
	ctx, cancel := context.WithTimeout(t.Context(), clocktest.Hang)
	defer cancel()
	var pipe *os.File
	select {
	case pipe = <-opened:
	case <-ctx.Done():
		t.Fatal("there is no child")
	}
	t.Cleanup(func() { _ = pipe.Close() })
	require.Equal(t, "here\n", must.Get(bufio.NewReader(pipe).ReadString('\n'))(t))
	return pipe
}

// assertGone reads the pipe to its end, which is where the child's is.
func assertGone(t *testing.T, pipe *os.File) {
	t.Helper()
	require.NoError(t, pipe.SetReadDeadline(time.Now().Add(clocktest.Hang)))
	assert.NoError(t, must.Err(io.ReadAll(pipe)), "the child is still there")
}

func TestNewNamesTheKnownAdapters(t *testing.T) {
	_, err := agent.New(agent.Options{Adapter: "comand"})
	assert.EqualError(t, err, `unknown agent adapter "comand", did you mean "command"?: known are claude, codex, command, suggestion`)
	assert.EqualError(t, must.Err(agent.New(agent.Options{Adapter: "gemini"})), `unknown agent adapter "gemini": known are claude, codex, command, suggestion`)
	assert.ErrorContains(t, must.Err(agent.New(agent.Options{Adapter: "command"})), "needs a command")
	_, err = agent.New(agent.Options{Adapter: "suggestion", Env: []string{"GITHUB_TOKEN=x"}})
	assert.EqualError(t, err, "environment of the agent: GITHUB_TOKEN must not be in it")
}

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	world := map[string]string{"PATH": "/bin", "HOME": "/root", "LANG": "C", "KEY": "k", "GITHUB_TOKEN": "t", "GH_TOKEN": "t", "INPUT_TOKEN": "t", "MERGEXO_SIGNING_KEY": "s", "OTHER": "o", "GIT_DIR": "/x"}
	lookup := func(name string) (string, bool) { value, ok := world[name]; return value, ok }
	pass := []string{"KEY", "KEY", "ABSENT", "GITHUB_TOKEN", "GH_TOKEN", "INPUT_TOKEN", "MERGEXO_SIGNING_KEY", "GIT_DIR"}
	assert.Equal(t, []string{"PATH=/bin", "HOME=/root", "LANG=C", "KEY=k", "GIT_TERMINAL_PROMPT=0"}, agent.Environment(lookup, pass, []string{"GIT_TERMINAL_PROMPT=0"}))
	assert.NoError(t, agent.CheckPass("command", []string{"ANTHROPIC_API_KEY", "GITHUB_REPOSITORY"}))
	for _, name := range []string{"GITHUB_TOKEN", "gh_token", "INPUT_TOKEN", "INPUT_SIGNING-KEY", "MERGEXO_X", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_ENV", "GIT_CONFIG_COUNT", "A=B", ""} {
		assert.ErrorContains(t, agent.CheckPass("command", []string{"OK", name}), strconv.Quote(name))
	}
}
