package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// isolatedOptions are options behind the isolator, with a log to look at. Programs are shell scripts: the test program itself lies where
// no other user gets to.
func isolatedOptions(t *testing.T) (agent.Options, *bytes.Buffer) {
	t.Helper()
	self := must.Get(agent.Self())(t)
	log := &bytes.Buffer{}
	return agent.Options{
		Isolator: self, Log: log, Grace: grace, Timeout: time.Minute, Clock: impatient{clockwork.NewFakeClock()}, Temp: filepath.Join(publicDir(t), "temp"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "KEY=sk-kept", "GIT_CONFIG_COUNT=0"},
	}, log
}

// publicDir is a directory that every user can get to, with nothing in it: the temporary one must be such.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "mergexo-isolator-"))(t)
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // that is the point
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

var tenants atomic.Int64

// tenant is the number of a user that nobody else is: everything of that user is killed. Nor has it a name, so that the
// machine need not be changed for it. Numbers above 60,000 are systemd's, and there may be none above 65,535.
func tenant() int { return 20_000 + (os.Getpid()*17+int(tenants.Add(1)))%40_000 }

// sh runs a script as required tests are run, and gives what it printed.
func sh(t *testing.T, opt agent.Options, dir, script string) (string, error) {
	t.Helper()
	log := &bytes.Buffer{}
	opt.Log = log
	err := agent.RunTests(context.Background(), dir, []string{"/bin/sh", "-c", script}, opt)
	return log.String(), err
}

// clone is a checkout on common ground, with things in it that can be got wrong.
func clone(t *testing.T) string {
	t.Helper()
	top := publicDir(t)
	dir := filepath.Join(top, "checkout")
	require.NoError(t, os.Rename(checkout(t), dir))
	require.NoError(t, os.WriteFile(filepath.Join(top, "outside"), []byte("ours"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(top, "outside"), filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(top, filepath.Join(dir, "up")))
	require.NoError(t, os.Link(filepath.Join(top, "outside"), filepath.Join(dir, "other-name")))
	return dir
}

// owner is who a file belongs to, a symbolic link itself too.
func owner(t *testing.T, path ...string) int {
	t.Helper()
	return int(must.Get(os.Lstat(filepath.Join(path...)))(t).Sys().(*syscall.Stat_t).Uid)
}

// allOurs holds that everything in a directory is ours again and can be read and removed.
func allOurs(t *testing.T, dir string) {
	t.Helper()
	assert.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		assert.Equal(t, os.Geteuid(), owner(t, path), path)
		info := must.Get(entry.Info())(t)
		if entry.IsDir() {
			assert.Equal(t, os.FileMode(0o700), info.Mode()&0o700, path)
		} else if entry.Type().IsRegular() {
			assert.NotZero(t, info.Mode()&0o400, path)
		}
		if entry.Type()&os.ModeSymlink == 0 {
			assert.Zero(t, info.Mode()&(os.ModeSetuid|os.ModeSetgid|0o022), path)
		}
		return nil
	}))
}

func TestBehindTheWallThereIsLessToBeHad(t *testing.T) {
	leak := must.Get(os.Open("/dev/null"))(t)
	defer leak.Close()
	_, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, leak.Fd(), syscall.F_SETFD, 0)
	require.Zero(t, errno)
	defer syscall.Umask(syscall.Umask(0))

	opt, _ := isolatedOptions(t)
	said := must.Get(sh(t, opt, checkout(t), `
		ls /proc/$$/fd
		grep NoNewPrivs /proc/self/status | tr -s '\t' ' '
		grep -E '^Max (core file|file size|open files|address space)' /proc/self/limits | tr -s ' '
		umask; id -u; echo "$KEY"; cat; printf 'no end'`))(t)
	assert.True(t, strings.HasPrefix(said, "0\n1\n2\nNoNewPrivs: 1\nMax "), said)
	assert.Contains(t, said, "\nMax core file size 0 0 bytes \n")
	assert.Contains(t, said, "\nMax file size 4294967296 4294967296 bytes \n")
	assert.Contains(t, said, "\nMax address space unlimited unlimited ")
	assert.Regexp(t, `\nMax open files (\d{1,4}|[1-5]\d{4}|6[0-5]\d{3}) `, said)
	assert.True(t, strings.HasSuffix(said, "\n0022\n"+strconv.Itoa(os.Getuid())+"\nsk-kept\nno end\n"), said)
}

func TestACommandBehindTheWallIsTheSameCommand(t *testing.T) {
	opt := options(t, "echo", nil)
	opt.Isolator = must.Get(agent.Self())(t)
	opt.ExtraArgs = []string{"a b", "\xff\xfe", ""}
	opt.Env = append(opt.Env, "BYTES=\xff")
	out := must.Get(run(t, context.Background(), opt, model.Request{TurnKey: "key", Feedback: []model.Feedback{{ID: 12}}, Prompt: strings.Repeat("x", 1<<20)}))(t)
	assert.Contains(t, out.GeneralComment, "key|/")
	assert.Contains(t, out.GeneralComment, "|arg,a b,\uFFFD\uFFFD,|", "as JSON shows bytes that are no text")
	assert.Contains(t, out.GeneralComment, "BYTES=\uFFFD\n")

	opt = options(t, "exit 3", nil)
	opt.Isolator = must.Get(agent.Self())(t)
	assert.EqualError(t, must.Err(run(t, context.Background(), opt, model.Request{})), `agent: exit code 3; its last line: no \x1b[31mkey\x00 found`)
}

// "Cannot fork" alone sounds like a broken machine, and is a limit of ours.
func TestOurLimitOfProcessesIsNamed(t *testing.T) {
	self := must.Get(agent.Self())(t)
	const hint = " (processes could not be started: MergeXO allows 4096 processes and threads at once, so run fewer in parallel)"
	for _, tt := range []struct{ said, isolator, want string }{
		{"sh: 1: Cannot fork", self, hint},
		{"bash: fork: retry: Resource temporarily unavailable", self, hint},
		{"sh: 1: Cannot fork", "", ""},
		{"no key found", self, ""},
	} {
		err := agent.RunTests(t.Context(), t.TempDir(), []string{"sh", "-c", `echo "$0"; exit 2`, tt.said}, agent.Options{Isolator: tt.isolator, Env: []string{"PATH=" + os.Getenv("PATH")}, Temp: t.TempDir()})
		assert.EqualError(t, err, "agent: exit code 2"+tt.want+"; its last line: "+tt.said)
	}
}

func TestWhatTheWallCannotBecome(t *testing.T) {
	opt, log := isolatedOptions(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o755)) //nolint:gosec // as it would be
	for program, errno := range map[string]syscall.Errno{"./none": syscall.ENOENT, "./text": syscall.ENOEXEC, "/": syscall.EACCES} {
		opt.Adapter, opt.Command = "command", []string{program}
		a := must.Get(agent.New(opt))(t)
		_, err := a.Run(context.Background(), dir, model.Request{})
		assert.Equal(t, agent.Start, failure(t, err).Kind)
		assert.EqualError(t, err, "agent: start "+program+": "+errno.Error())
		assert.ErrorIs(t, err, errno)
	}
	said, err := sh(t, opt, dir, "echo 'mergexo-0123 no such file' >&2; exit 126")
	assert.Equal(t, agent.Exit, failure(t, err).Kind, "only the isolator can say so")
	assert.Equal(t, "mergexo-0123 no such file\n", said)
	assert.Empty(t, log.String(), "what the isolator says is for us")
}

// Whatever reads our environment or memory finds the token.
func TestOurProcessIsShutToAnAgent(t *testing.T) {
	const dumpable, notDumpable = 1, 0 // as the command line sets it
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, notDumpable, 0)
	require.Zero(t, errno)
	defer func() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, dumpable, 0) }()
	opt, _ := isolatedOptions(t)
	script := fmt.Sprintf(`for f in environ mem maps fd/0 cwd/.; do cat /proc/%d/$f >/dev/null 2>&1 && echo open: $f; done; cat /proc/%[1]d/stat`, os.Getpid())
	users := []string{""}
	if os.Getuid() == 0 {
		users = append(users, strconv.Itoa(tenant()))
	}
	for _, opt.User = range users {
		said := must.Get(sh(t, opt, clone(t), script+"; true"))(t)
		assert.NotContains(t, said, "open")
		assert.Contains(t, said, strconv.Itoa(os.Getpid())+" (", "it has looked at the right place")
	}
}

// hold is a script that leaves a process behind, which has nothing of ours but a pipe.
const hold = `env -i PATH="$PATH" setsid sh -c 'trap "" TERM HUP; (exec 3>"$0"; echo here >&3; while :; do sleep 1000; done) &' "$0" </dev/null >/dev/null 2>&1 &
	until [ -e "$0.seen" ]; do sleep 0.01; done`

// held runs a script with a process in it that only a pipe tells of, and holds that it is gone when stop has returned.
func held(t *testing.T, run func(pipe string), script func() error) {
	t.Helper()
	pipe := filepath.Join(publicDir(t), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Chmod(pipe, 0o666)) //nolint:gosec // also for another user
	done := make(chan struct{})
	go func() { defer close(done); run(pipe) }()
	opened := make(chan *os.File, 1)
	go func() { // until the script has opened it, too
		r, err := os.Open(pipe)
		assert.NoError(t, err)
		opened <- r
	}()
	var r *os.File
	select {
	case r = <-opened:
	case <-done:
		t.Fatal("it has ended and said nothing")
	}
	defer r.Close()
	here := make([]byte, 5)
	_ = must.Get(io.ReadFull(r, here))(t)
	require.NoError(t, os.WriteFile(pipe+".seen", nil, 0o644)) //nolint:gosec // also for another user
	if script != nil {
		require.NoError(t, script())
	}
	<-done
	require.NoError(t, r.SetReadDeadline(time.Now().Add(clocktest.Hang)))
	assert.NoError(t, must.Err(io.ReadAll(r)), "it is still there")
}

func TestNothingOutlivesItsAgent(t *testing.T) {
	opt, _ := isolatedOptions(t)
	users := []string{""}
	if os.Getuid() == 0 {
		users = append(users, strconv.Itoa(tenant()))
	}
	for _, user := range users {
		opt.User = user
		held(t, func(pipe string) {
			opt.Reads = []string{filepath.Dir(pipe)}
			assert.NoError(t, agent.RunTests(context.Background(), clone(t), []string{"/bin/sh", "-c", hold, pipe}, opt))
		}, nil)
		held(t, func(pipe string) {
			opt.Reads = []string{filepath.Dir(pipe)}
			err := agent.RunTests(context.Background(), clone(t), []string{"/bin/sh", "-c", `trap "" TERM; ` + hold + "; echo held; while :; do sleep 1000; done", pipe}, upAt(opt, "held"))
			assert.Equal(t, agent.Timeout, failure(t, err).Kind)
		}, nil)
	}
}

// job is what a process that plays MergeXO is told.
type job struct {
	Options agent.Options
	Dir     string
	Argv    []string
	Secrets []string
	UpAt    string // the word at which the time is up
	Isolate *agent.IsolationOptions
	Request *model.Request // for the agent; nil: Argv are tests
}

type told struct {
	Log, Error, Kind, Exposed string
	Events                    string
	Outcome                   model.Outcome
	Level                     agent.Level
	Why                       []string
}

func init() {
	fakes["mergexo"] = func() int {
		var j job
		if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
			return 9
		}
		var log, events bytes.Buffer
		var said told
		const setDumpable = 4 // as MergeXO is: nobody of its user may look into it
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0); errno != 0 {
			return 7
		}
		j.Options.Events = slog.New(slog.NewTextHandler(&events, nil))
		j.Options.Log, j.Options.Clock = &log, clocktest.Unlimited()
		if j.UpAt != "" {
			j.Options = upAt(j.Options, j.UpAt)
		}
		var err error
		if j.Isolate != nil {
			j.Isolate.Log = slog.New(slog.NewTextHandler(&log, nil))
			if j.Options.Isolation, err = agent.Isolate(context.Background(), *j.Isolate); err == nil {
				said.Level, said.Why = j.Options.Isolation.Level, j.Options.Isolation.Why
				err = j.Options.Isolation.Holds(j.Options.Network)
			}
		}
		if err != nil {
			said.Kind = fmt.Sprintf("%T", err)
		} else if len(j.Secrets) > 0 {
			said.Exposed, err = j.Options.Exposed(j.Secrets...)
		} else if j.Request != nil {
			said.Outcome, err = j.answer()
		} else {
			err = agent.RunTests(context.Background(), j.Dir, j.Argv, j.Options)
		}
		err = errors.Join(err, j.Options.Isolation.Close())
		said.Log, said.Events = log.String(), events.String()
		if err != nil {
			said.Error = err.Error()
		}
		if failed := (*agent.Error)(nil); as(err, &failed) {
			said.Kind = string(failed.Kind)
		}
		if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
			return 8
		}
		return 0
	}
}

func (j job) answer() (model.Outcome, error) {
	a, err := agent.New(j.Options)
	if err != nil {
		return model.Outcome{}, err
	}
	return a.Run(context.Background(), j.Dir, *j.Request)
}

// play runs this program as MergeXO, as another user where cred says so.
func play(t *testing.T, program string, j job, cred *syscall.Credential) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	j.Options.Clock = nil
	text := must.Get(json.Marshal(j))(t)
	var out bytes.Buffer
	cmd := exec.Command(program)
	cmd.Env = []string{"FAKE_AGENT=mergexo", "PATH=" + os.Getenv("PATH")}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	cmd.Dir = "/"
	return cmd, &out
}

func answered(t *testing.T, out *bytes.Buffer) told {
	t.Helper()
	var said told
	require.NoError(t, json.Unmarshal(out.Bytes(), &said), "%s", out)
	return said
}

func TestAnAgentEndsWithMergeXO(t *testing.T) {
	opt, _ := isolatedOptions(t)
	opt.Log = nil
	var cmd *exec.Cmd
	started := make(chan struct{})
	held(t, func(pipe string) {
		opt.Reads = []string{filepath.Dir(pipe)}
		cmd, _ = play(t, opt.Isolator, job{Options: opt, Dir: t.TempDir(), Argv: []string{"/bin/sh", "-c", `exec 3>"$0"; echo here >&3; exec sleep 100000`, pipe}}, nil)
		assert.NoError(t, cmd.Start())
		close(started)
		_ = cmd.Wait()
	}, func() error { <-started; return cmd.Process.Kill() })
}

func TestAnAncestorWithTheTokenIsNamed(t *testing.T) {
	opt, _ := isolatedOptions(t)
	opt.Log = nil
	look := func(opt agent.Options) string {
		cmd, out := play(t, "/bin/sh", job{Options: opt, Secrets: []string{"", "ghs_exposed"}}, nil)
		cmd.Args = []string{"sh", "-c", `unset GITHUB_TOKEN; "$0"; exit $?`, opt.Isolator}
		cmd.Env = append(cmd.Env, "GITHUB_TOKEN=ghs_exposed")
		require.NoError(t, cmd.Run())
		said := answered(t, out)
		assert.Empty(t, said.Error)
		return said.Exposed
	}
	if rooted(t) {
		assert.Empty(t, look(opt), "an agent that is root has less than the shell")
		opt.User = strconv.Itoa(tenant())
		assert.Empty(t, look(opt), "another user's")
	} else {
		assert.Regexp(t, `^sh \(process \d+\)$`, look(opt))
	}
	opt.Isolator = ""
	assert.Empty(t, must.Get(opt.Exposed("ghs_exposed"))(t))
}

func TestTheWallIsForNobodyElse(t *testing.T) {
	self := must.Get(agent.Self())(t)
	for stdin, want := range map[string]string{
		"":          "mergexo: read what to do: EOF\n",
		"ls -l /\n": "mergexo: read what to do: this is for mergexo itself, not for people\n",
	} {
		cmd := exec.Command(self, isolate.Word)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		assert.Equal(t, want, string(out))
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, isolate.Refused, exit.ExitCode())
	}
}

func TestTheWallStandsBeforeTheRestOfUs(t *testing.T) {
	cmd := exec.Command(must.Get(agent.Self())(t), isolate.Word)
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "init os @")
	assert.NotContains(t, string(out), "init net/http @")
	assert.NotContains(t, string(out), "init path/filepath @", "it waits for nothing that comes late")
}

func BenchmarkWall(b *testing.B) {
	self := must.Get(agent.Self())(b)
	for name, path := range map[string]string{"without": "", "with": self} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				require.NoError(b, agent.RunTests(context.Background(), "/", []string{"/bin/true"}, agent.Options{Isolator: path, Env: []string{}}))
			}
		})
	}
}
