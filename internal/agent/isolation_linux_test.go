package agent_test

import (
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
)

// machine is one on which MergeXO runs as some user.
type machine struct {
	t    *testing.T
	top  string
	dir  string // the checkout
	wall string // this program, where everybody can execute it
	opt  agent.Options
	want agent.IsolationOptions
	cred *syscall.Credential
}

// machineOf is one that belongs to a user: 0 is root, any other one has no sudo.
func machineOf(t *testing.T, uid int) machine {
	t.Helper()
	opt, _ := walled(t)
	m := machine{t: t, dir: clone(t), opt: opt, cred: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small
	m.top = filepath.Dir(m.dir)
	m.wall = filepath.Join(m.top, "mergexo")
	self, err := agent.Self()
	require.NoError(t, err)
	replica(t, self, m.wall, 0o755)
	m.opt.Log, m.opt.Wall, m.opt.Temp = nil, m.wall, filepath.Join(m.top, "runner-temp", "temp")
	require.NoError(t, os.MkdirAll(m.opt.Temp, 0o755)) //nolint:gosec // the runner's is as open
	m.opt.Env = []string{"PATH=/usr/bin:/bin", "KEY=sk-kept"}
	m.want = agent.IsolationOptions{Setting: agent.IsolationAuto, Wall: m.wall, Path: "/usr/bin:/bin"}
	require.NoError(t, exec.Command("chown", "-R", "-h", strconv.Itoa(uid)+":"+strconv.Itoa(uid), m.dir, filepath.Dir(m.opt.Temp)).Run())
	return m
}

func (m machine) run(script string, args ...string) told {
	m.t.Helper()
	j := job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}
	cmd, out := play(m.t, m.wall, j, m.cred)
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
	passwd, err := os.ReadFile("/etc/passwd")
	require.NoError(t, err)
	assert.NotContains(t, string(passwd), name, "the user is removed")
	info, err := os.Stat(m.top)
	require.NoError(t, err)
	assert.Equal(t, "drwx------", info.Mode().String())
	acl, err := exec.Command("getfattr", "-d", "-m", "-", m.top).CombinedOutput()
	assert.NotContains(t, string(acl), "acl", err)
}

func TestForeignCodeInNamespaces(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	secret := filepath.Join(filepath.Dir(m.opt.Temp), "_runner_file_commands")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o666))
	said := m.run(`id -u; ls /proc | grep -c '^[0-9]'; ls -A /tmp "$1"; echo "$HOME"; echo $$; ls -A /dev | tr '\n' ' '; echo
		echo work > work; echo x > "$HOME/x"; echo x > "$TMPDIR/x"; echo x > /tmp/x && echo tmp
		echo x > /etc/x; echo x > "$2" || echo shut; grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status
		(setsid sleep 100000 &) ; exit 3`, filepath.Dir(m.opt.Temp), secret)
	t.Logf("%s", said.Log)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	assert.Equal(t, "exit", said.Kind, said.Error)
}
