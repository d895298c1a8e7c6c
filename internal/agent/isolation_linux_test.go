package agent_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
)

// machine is one on which MergeXO runs as some user.
type machine struct {
	t        *testing.T
	top      string
	dir      string // the checkout
	isolator string // this program, where everybody can execute it
	opt      agent.Options
	want     agent.IsolationOptions
	cred     *syscall.Credential
}

// machineOf is one that belongs to a user: 0 is root, any other one has no sudo.
func machineOf(t *testing.T, uid int) machine {
	t.Helper()
	opt, _ := isolatedOptions(t)
	m := machine{t: t, dir: clone(t), opt: opt, cred: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small
	m.top = filepath.Dir(m.dir)
	m.isolator = filepath.Join(m.top, "mergexo")
	self := must.Get(agent.Self())(t)
	replica(t, self, m.isolator, 0o755)
	m.opt.Log, m.opt.Isolator, m.opt.Temp = nil, m.isolator, filepath.Join(m.top, "runner-temp", "temp")
	require.NoError(t, os.MkdirAll(m.opt.Temp, 0o755)) //nolint:gosec // the runner's is as open
	m.opt.Env = []string{"PATH=/usr/bin:/bin", "KEY=sk-kept"}
	m.want = agent.IsolationOptions{Setting: agent.IsolationAuto, Isolator: m.isolator, Path: "/usr/bin:/bin"}
	require.NoError(t, exec.Command("chown", "-R", "-h", strconv.Itoa(uid)+":"+strconv.Itoa(uid), m.dir, filepath.Dir(m.opt.Temp)).Run())
	return m
}

func (m machine) run(script string, args ...string) told {
	m.t.Helper()
	j := job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}
	cmd, out := play(m.t, m.isolator, j, m.cred)
	require.NoError(m.t, cmd.Run())
	return answered(m.t, out)
}

func TestForeignCodeHasAUserOfItsOwn(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, 0)
	require.NoError(t, os.Chmod(m.top, 0o700)) //nolint:gosec // a runner's home is as closed
	said := m.run(`id -un; id -Gn; echo "$HOME"; stat -c %U . .git; echo work > work; cat /proc/$PPID/environ`)
	lines := strings.Split(said.Log, "\n")
	require.Greater(t, len(lines), 5, said)
	name := lines[0]
	assert.Equal(t, agent.LevelUser, said.Level)
	assert.Regexp(t, "^mergexo-[0-9a-f]{8}$", name)
	assert.Equal(t, []string{name, name, m.opt.Temp + "/user-home", name, name}, lines[:5])
	assert.Contains(t, said.Log, "Permission denied")
	allOurs(t, m.dir)
	assert.NotContains(t, string(contents(t, "/etc/passwd")), name, "the user is removed")
	assert.Equal(t, "drwx------", must.Get(os.Stat(m.top))(t).Mode().String())
	acl, err := exec.Command("getfattr", "-d", "-m", "-", m.top).CombinedOutput()
	assert.NotContains(t, string(acl), "acl", err)
}

// Two runs on one machine find the same user of a killed one.
func TestAStaleUserThatAnotherRunRemovesFirstIsNotToldAsLeft(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, 0)
	stale := fmt.Sprintf("mergexo-%08x", os.Getpid())
	var out []byte
	err := errors.New("not tried")
	for n := 0; err != nil && n < 200; n++ { // another program may hold the lock
		out, err = exec.Command("/usr/sbin/useradd", "--system", "--no-create-home", "--comment", "MergeXO run 999999999.1", stale).CombinedOutput()
	}
	require.NoError(t, err, "%s", out)
	text := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in %s) /usr/sbin/userdel \"$@\" || exit;; esac\nexec /usr/sbin/userdel \"$@\"\n", stale)
	require.NoError(t, os.WriteFile(filepath.Join(m.top, "userdel"), []byte(text), 0o755)) //nolint:gosec // it is run
	m.want.Path = m.top + ":" + m.want.Path
	assert.Regexp(t, "^mergexo-[0-9a-f]{8}\n$", m.run(`id -un`).Log)
	assert.NotContains(t, string(contents(t, "/etc/passwd")), stale)
}

// Root in a container may be without the right to give files away.
func TestRootThatMayGiveNothingAwayTakesNamespaces(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, 0)
	cmd, out := play(t, m.isolator, job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: []string{"/bin/sh", "-c", "id -u"}}, m.cred)
	cmd.Args = append([]string{"setpriv", "--bounding-set", "-chown", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/usr/bin/setpriv"
	require.NoError(t, cmd.Run())
	said := answered(t, out)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	assert.Empty(t, said.Error)
	assert.Contains(t, strings.Join(said.Why, "\n"), "give a directory away and reclaim it: ")
	passwd := contents(t, "/etc/passwd")
	assert.NotRegexp(t, "(?m)^mergexo-.*MergeXO run "+strconv.Itoa(cmd.Process.Pid)+`\.`, string(passwd), "no user is made that could not be removed")
}

func TestForeignCodeInNamespaces(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	runner := filepath.Dir(m.opt.Temp)
	commands := filepath.Join(runner, "_runner_file_commands")
	require.NoError(t, os.WriteFile(commands, []byte("x"), 0o666)) //nolint:gosec // that the agent may write to it is the point
	said := m.run(`id -u; ls -A "$1"; echo "$HOME"; ls -A /dev | tr '\n' ' '; echo; ls -d /proc/[0-9]* | wc -l
		echo work > work && echo x > "$HOME/x" && echo x > "$TMPDIR/x" && echo x > /tmp/x && echo writes
		echo x > /etc/x || echo shut; echo y > "$2"; ls /run | grep -v -e systemd -e resolvconf -e NetworkManager
		grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status | tr -s '\t' ' '; grep 'Max processes' /proc/self/limits
		(setsid sleep 100000 &) ; exit 3`, runner, commands)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	require.Equal(t, "exit", said.Kind, said.Error)
	me := strconv.Itoa(int(m.cred.Uid))
	assert.Regexp(t, "^"+strings.Join([]string{
		me, "temp", m.opt.Temp + "/user-home", "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ", "[3-9]", "writes",
		"sh: 3: cannot create /etc/x: Read-only file system", "shut",
		"CapPrm: 0000000000000000", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1", `Max processes +\d{4,5} +\d{4,5} +processes `,
	}, "\n")+"\n$", said.Log, "nothing else is to be seen in the runner's directory or in /run")
	assert.Equal(t, "x", string(must.Get(os.ReadFile(commands))(t)), "it is another file there")
	assert.Equal(t, "work\n", string(contents(t, filepath.Join(m.dir, "work"))))
	assert.NoFileExists(t, "/tmp/x")
}

// In a container job or a service, HOME is not the home of the user, and has its credentials.
func TestForeignCodeInNamespacesDoesNotSeeOurHome(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	home, err := os.MkdirTemp("/var/lib", "mergexo-home-") // the temporary directory is hidden anyway
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })
	require.NoError(t, os.Chmod(home, 0o755))                                                //nolint:gosec // that the agent may read it is the point
	require.NoError(t, os.WriteFile(filepath.Join(home, ".netrc"), []byte("secret"), 0o644)) //nolint:gosec // likewise
	for _, own := range []string{home, m.dir, filepath.Join(m.dir, ".git"), m.opt.Temp, filepath.Dir(m.opt.Temp), "/usr/bin", "/"} {
		m.want.Home = own
		said := m.run(`cat "$1/.netrc" 2>/dev/null; test -w "$TMPDIR" && test -d .git/objects && ls greet.txt`, home)
		assert.Equal(t, agent.LevelNamespace, said.Level, own)
		assert.Equal(t, map[bool]string{false: "secret"}[own == home]+"greet.txt\n", said.Log, "%s: %s", own, said.Error)
	}
}

// The objects of a commit under test lie beside what is hidden.
func TestForeignCodeInNamespacesReadsWhatItNeeds(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	objects := filepath.Join(filepath.Dir(m.opt.Temp), "clone", ".git", "objects")
	require.NoError(t, os.MkdirAll(objects, 0o755))                                                        //nolint:gosec // a clone is as open
	require.NoError(t, os.WriteFile(filepath.Join(objects, "pack"), []byte("packed\n"), 0o666))            //nolint:gosec // that it cannot be written all the same is the point
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(objects), "config"), []byte("x\n"), 0o644)) //nolint:gosec // that it is hidden is the point
	m.opt.Reads = []string{objects, filepath.Join(m.top, "nowhere")}
	said := m.run(`cat "$1/pack"; ls "$1/.."; echo spoilt > "$1/pack" || echo shut`, objects)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	assert.Equal(t, "packed\nobjects\nshut\n", strings.ReplaceAll(said.Log, "sh: 1: cannot create "+objects+"/pack: Read-only file system\n", ""), said.Error)
}

func TestProcessesAreLimitedWithoutIsolation(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	m.want.Setting = agent.IsolationNone
	said := m.run(`grep 'Max processes' /proc/self/limits | tr -s ' '`)
	assert.Equal(t, agent.LevelNone, said.Level)
	var soft, hard int // what may be started comes on top of what the user runs, which is this test and may be little else
	require.NoError(t, must.Err(fmt.Sscanf(said.Log, "Max processes %d %d processes", &soft, &hard)), said.Log)
	assert.Equal(t, hard, soft)
	assert.Greater(t, hard, 4096)
	assert.Less(t, hard, 4096+2000)
}
