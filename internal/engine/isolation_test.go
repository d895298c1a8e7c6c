package engine_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// isolated has the settings isolate a shell script as the agent: no other user gets to the test program.
func (w *world) isolated(script string) {
	w.t.Helper()
	text := strings.Replace(w.fileOf("main", ".github/mergexo.toml"), `isolation = "none"`, `isolation = "auto"`, 1)
	line := `command = ["sh", "-c", ` + strconv.Quote("cat > /dev/null; "+script) + "]"
	w.write("octo", "main", ".github/mergexo.toml", regexp.MustCompile(`(?m)^command = .*$`).ReplaceAllLiteralString(text, line))
}

// rooted says whether this test may make a user for foreign code. Where it may not, namespaces are tried by the agent's tests.
func rooted() bool { return os.Getuid() == 0 }

const whoAmI = `id -un > who; echo '{"commit_message": "Who", "general_comment": "'$(id -un)'"}'`

func TestForeignCodeOfATurnHasAUserOfItsOwn(t *testing.T) {
	if !rooted() {
		return
	}
	w := newWorld(t, `required_tests = ["sh", "-c", "test -w who && id -un >&2 && exit 1"]`)
	w.isolated(whoAmI)
	e := w.engine()
	rep := w.gives(model.ResultBlocked, w.by(e, w.say("alice", "Who are you?"))) // the tests fail
	name := regexp.MustCompile(`mergexo-[0-9a-f]{8}\b`).FindString(rep.Reason)
	require.NotEmpty(t, name, rep.Reason)
	assert.Contains(t, string(contents(t, "/etc/passwd")), name, "one user serves the run")
	require.NoError(t, e.Close())
	assert.NotContains(t, string(contents(t, "/etc/passwd")), name)
}

func TestForeignCodeOfATurnHasANetworkOfItsOwn(t *testing.T) {
	if !rooted() {
		return
	}
	w := newWorld(t, `required_tests = ["sh", "-c", "test $(wc -l < /proc/net/dev) = 3"]`)
	w.isolated(`wc -l < /proc/net/dev > devices; echo '{"commit_message": "Count", "general_comment": "counted"}'`)
	w.agentSetting(`adapter = "command"`, "adapter = \"command\"\nnetwork = \"model\"")
	w.done(w.read(w.say("alice", "Which networks are there?")))
	assert.Equal(t, "3\n", w.fileOf("agent/greet", "devices"), "two lines of titles, and the loopback device")
}

func TestAJobWithoutATokenHoldsTheNetworkToo(t *testing.T) {
	w := newWorld(t)
	w.isolated(whoAmI)
	w.agentSetting(`adapter = "command"`, "adapter = \"command\"\nnetwork = \"model\"")
	ev, e := w.say("alice", "Who are you?"), w.engine()
	e.Isolator, e.Phase, e.Bundle = "", "agent", filepath.Join(t.TempDir(), "handoff")
	assert.ErrorContains(t, must.Err(e.Handle(context.Background(), ev)), `[agent] network = "model": this runner cannot keep agents and tests from the network (isolation is none`)
}

func TestAMachineThatCannotIsolateSaysSoFirst(t *testing.T) {
	w := newWorld(t)
	w.isolated(whoAmI)
	ev, e := w.say("alice", "Who are you?"), w.engine()
	e.Isolator = ""
	err := must.Err(e.Handle(context.Background(), ev))
	for _, way := range []string{`isolation = "auto"`, "user namespaces", "sudo without a password", "two jobs", `isolation = "none" under [agent]`} {
		assert.ErrorContains(t, err, way)
	}
	assert.Empty(t, w.marked("turn", ""), "nothing is said")
}

func TestAJobWithoutATokenGoesOnWithoutIsolation(t *testing.T) {
	w := newWorld(t)
	w.isolated(whoAmI)
	ev, e := w.say("alice", "Who are you?"), w.engine()
	e.Isolator, e.Phase, e.Bundle = "", "agent", filepath.Join(t.TempDir(), "handoff")
	var warnings []string
	e.Warn = func(text string) { warnings = append(warnings, text) }
	w.done(w.by(e, ev))
	assert.Contains(t, w.logged.String(), "level=WARN msg=isolation level=none")
	assert.Equal(t, []string{
		"agents and tests run without isolation in this job, which has no token that can write (isolation needs Linux): allow user namespaces or sudo without a password on this runner",
	}, warnings)
}

// atHome are tests that need a home.
const atHome = `required_tests = ["sh", "-c", 'touch "$HOME/x" "$TMPDIR/x"']`

// The next process has the tests without having had an agent.
func TestRequiredTestsHaveAHomeWhereNoAgentRan(t *testing.T) {
	t.Parallel()
	if !rooted() {
		return
	}
	t.Run("for a turn that is put on a new head", func(t *testing.T) {
		w := newWorld(t, atHome)
		w.isolated(whoAmI)
		ev := w.say("alice", "Who are you?")
		w.diesAt(writePlan, ev)
		require.Len(t, w.marked("turn", "planned"), 1)
		w.write("bob", w.head, "other.txt", "bob\n")
		w.done(w.handle(ev))
		w.settled(0, 1, 2)
		assert.Equal(t, 1, strings.Count(w.logged.String(), "agent_started"))
		assert.Contains(t, w.logged.String(), "turn_replayed")
	})
	t.Run("for a fork", func(t *testing.T) {
		w := newExternal(t,
			`evaluate = ["sh", "-c", 'cat >/dev/null; if [ -f mended ]; then echo "{\"verdict\":\"approve\"}"; else echo "{\"verdict\":\"fix\",\"reason\":\"mend it\"}"; fi']`,
			`fix = ["sh", "-c", "cat >/dev/null; echo yes >mended"]`)
		w.setting(atHome)
		w.isolated("exit 1")
		w.admits("carol")
		assert.Equal(t, "merged", w.badge(), w.said())
	})
}

// A process whose files are another user's counts as that user's, but that user cannot end it: what outlives its step is
// like this, whatever kept it.
func init() {
	if os.Getenv("OUTLIVING") == "" {
		return
	}
	uid, _ := strconv.Atoi(os.Getenv("OUTLIVING"))
	runtime.LockOSThread() // it is the main thread, whose users are those of the process
	_ = syscall.Setfsuid(uid)
	_, _ = os.Stdout.WriteString("here\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// overdue is a clock by which what foreign code has to end is over at once, and nothing else ever is.
type overdue struct{ clockwork.Clock }

func (o overdue) NewTimer(d time.Duration) clockwork.Timer {
	if d == 10*time.Second {
		return clockwork.NewRealClock().NewTimer(0)
	}
	return o.Clock.NewTimer(d)
}

func TestWhatOutlivesItsStepEndsTheRun(t *testing.T) {
	if !rooted() {
		return
	}
	w := newWorld(t)
	w.isolated(`echo work > work; echo "uid=$(id -u)." >&2; echo ` + atWork + ` >&2; echo '{"commit_message": "Work"}'`)
	outliving := exec.Command("/proc/self/exe")
	stop := must.Get(outliving.StdinPipe())(t)
	said := must.Get(outliving.StdoutPipe())(t)
	var printed bytes.Buffer
	w.printed.To = &printed
	w.printed.At(atWork, func() {
		outliving.Env = []string{"OUTLIVING=" + regexp.MustCompile(`uid=(\d+)`).FindStringSubmatch(printed.String())[1]}
		assert.NoError(t, outliving.Start())
		_, err := said.Read(make([]byte, 8))
		assert.NoError(t, err)
	})
	w.talk("alice", "Work.")
	before := w.tip()
	e := w.engine()
	e.Clock = overdue{clocktest.Unlimited()}
	temp := e.Git.Temp
	rep, err := e.Handle(context.Background(), w.delivery("issue_comment"))
	require.NotNil(t, outliving.Process, "%v %v", rep, err)
	require.NoError(t, stop.Close())
	require.NoError(t, outliving.Wait())
	require.NoError(t, err)
	assert.Equal(t, model.ResultFailed, rep.Result)
	assert.Contains(t, rep.Reason, "1 of its processes do not end within 10s")
	bundle := regexp.MustCompile(temp + `/mergexo-kept-\S+\.bundle`).FindString(rep.Reason)
	require.NotEmpty(t, bundle, rep.Reason)
	heads, err := exec.Command("git", "bundle", "list-heads", bundle).CombinedOutput()
	require.NoError(t, err, "%s", heads)
	assert.Equal(t, before, w.tip())
	assert.Empty(t, w.checkpoints())
	assert.Empty(t, w.stages())
	assert.Empty(t, w.marked("turn", "failed"))
}
