package agent_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func as(err error, target **agent.Error) bool { return errors.As(err, target) }

// rooted reports whether this test may change users. Where it may not, it holds that this is said, and how.
func rooted(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return true
	}
	opt, _ := isolatedOptions(t)
	opt.User, opt.Env = strconv.Itoa(tenant()), []string{"PATH=" + t.TempDir()}
	_, err := sh(t, opt, clone(t), "true")
	assert.Equal(t, agent.Start, failure(t, err).Kind)
	assert.ErrorContains(t, err, "only root can start programs as another user, and there is no sudo in PATH")
	return false
}

func TestAnAgentOfAnotherUser(t *testing.T) {
	if !rooted(t) {
		return
	}
	before := must.Get(syscall.Getgroups())(t)
	require.NoError(t, syscall.Setgroups([]int{0, 4})) // of which nothing must be left
	defer func() { assert.NoError(t, syscall.Setgroups(before)) }()
	opt, _ := isolatedOptions(t)
	uid, dir := tenant(), clone(t)
	opt.User, opt.Reads = strconv.Itoa(uid), []string{filepath.Dir(dir)}
	opt.Sessions = filepath.Join(publicDir(t), "sessions")
	require.NoError(t, os.Mkdir(opt.Sessions, 0o700))
	said, err := sh(t, opt, dir, `
		id -u; id -g; id -G; echo "$HOME"; echo "$TMPDIR"; echo "$KEY"; pwd
		stat -c %u . greet.txt .git/config link "$HOME" "$TMPDIR" `+opt.Sessions+` | sort -u
		stat -c '%u %n' other-name "`+filepath.Dir(dir)+`/outside"
		grep -E 'NoNewPrivs|CapPrm|CapInh|CapBnd|CapAmb' /proc/self/status | tr -s '\t' ' '
		grep 'Max processes' /proc/self/limits | tr -s ' '
		git -c user.name=o -c user.email=o@example.com commit -q --allow-empty -m work && git log -1 --format=%s
		echo x > other-name || echo shut
		cp /bin/sh evil; chmod 6777 evil; cp /bin/sh plain; chmod 666 plain
		mkdir -p locked/in; echo kept > locked/in/file; chmod 000 locked/in/file locked/in locked
		mkfifo pipe; ln -s /etc/passwd passwd; ln greet.txt again; chmod 000 greet.txt
		echo x > "$HOME/x"; echo x > "$TMPDIR/x"; echo x > `+opt.Sessions+`/x; exit 3`)
	assert.Equal(t, 3, failure(t, err).Exit)
	opensStreams(t, func(script string) string {
		said, err := sh(t, opt, dir, script)
		require.NoError(t, err, said)
		return said
	})
	me := strconv.Itoa(uid)
	assert.Equal(t, strings.Join([]string{
		me, me, me, opt.Temp + "/user-home", opt.Temp + "/user-tmp", "sk-kept", dir,
		me,
		"0 other-name", "0 " + filepath.Dir(dir) + "/outside",
		"CapInh: 0000000000000000", "CapPrm: 0000000000000000",
	}, "\n"), strings.Join(strings.Split(said, "\n")[:12], "\n"), said)
	assert.Contains(t, said, "CapAmb: 0000000000000000\nNoNewPrivs: 1\nMax processes 4096 4096 processes \nwork\n")
	assert.Contains(t, said, "\nshut\n", "a file with another name elsewhere is not given away by this one")

	for _, place := range []string{dir, opt.Temp, opt.Sessions} {
		allOurs(t, place)
	}
	assert.Equal(t, "kept\n", string(contents(t, filepath.Join(dir, "locked/in/file"))))
	assert.Equal(t, os.FileMode(0o755), must.Get(os.Stat(filepath.Join(dir, "evil")))(t).Mode())
	assert.FileExists(t, filepath.Join(dir, "again"), "the agent's own second name")
	assert.Equal(t, "ours", string(contents(t, filepath.Join(dir, "../outside"))))
}

// opensStreams holds that a program can open its streams by name, as it can where nobody isolates it.
func opensStreams(t *testing.T, run func(script string) string) {
	t.Helper()
	assert.Contains(t, run(`cat /dev/stdin && echo a > /dev/stderr && echo b > /dev/stdout`), "a\nb\n")
}

func TestAnAgentOfAnotherUserCannotGetPrivileges(t *testing.T) {
	if !rooted(t) {
		return
	}
	opt, _ := isolatedOptions(t)
	opt.User = strconv.Itoa(tenant())
	dir := clone(t)
	id := filepath.Join(filepath.Dir(dir), "id")
	opt.Reads = []string{filepath.Dir(dir)}
	replica(t, "/usr/bin/id", id, os.ModeSetuid|0o755)
	free := exec.Command(id, "-u")
	free.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 23456, Gid: 23456}}
	require.Equal(t, "0\n", string(must.Get(free.Output())(t)), "without the isolator it would be root")
	assert.Equal(t, opt.User+"\nno\n", must.Get(sh(t, opt, dir, id+" -u; kill -0 "+strconv.Itoa(os.Getpid())+" 2>/dev/null || echo no"))(t))
}

func replica(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	in := must.Get(os.Open(from))(t)
	defer in.Close()
	out := must.Get(os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700))(t)
	_, err := io.Copy(out, in)
	require.NoError(t, errors.Join(err, out.Close()))
	require.NoError(t, os.Chmod(to, mode))
}

func TestACommandOfAnotherUserAnswersInTwoTurns(t *testing.T) {
	if !rooted(t) {
		return
	}
	opt, _ := isolatedOptions(t)
	opt.Adapter, opt.Command, opt.User = "command", []string{"./agent"}, strconv.Itoa(tenant())
	dir := clone(t)
	script := "#!/bin/sh\nn=$(wc -c)\n[ $n -gt 100 ] || exit 1\necho $$ >> ran\necho \"{\\\"general_comment\\\": \\\"$(id -u) $(wc -l < ran)\\\"}\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent"), []byte(script), 0o755)) //nolint:gosec // a program
	for n := 1; n <= 2; n++ {
		assert.Equal(t, fmt.Sprintf("%s %d", opt.User, n), must.Get(ask(t, opt, dir, model.Request{TurnKey: "key"}))(t).GeneralComment)
		allOurs(t, dir)
	}
}

// A run that was killed leaves everything with the agent's user, who may still be at work.
func TestWhatADeadRunHandedOverIsTakenBack(t *testing.T) {
	if !rooted(t) {
		return
	}
	opt, _ := isolatedOptions(t)
	uid, dir := tenant(), clone(t)
	opt.User = strconv.Itoa(uid)
	require.NoError(t, exec.Command("chown", "-R", "-h", opt.User, filepath.Join(dir, ".git"), filepath.Join(dir, "link")).Run())
	left := exec.Command("sleep", "100000")
	left.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small
	require.NoError(t, left.Start())
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	for range 2 {
		require.NoError(t, opt.TakeBack(dir))
		allOurs(t, dir)
	}
	assert.EqualError(t, <-ended, "signal: killed")
	opt.User = ""
	require.NoError(t, opt.TakeBack(dir))
}

func TestAUserThatCannotBeTheAgents(t *testing.T) {
	t.Parallel()
	opt, _ := isolatedOptions(t)
	shut := filepath.Join(publicDir(t), "shut")
	require.NoError(t, os.Mkdir(shut, 0o700))
	linked := clone(t)
	require.NoError(t, os.RemoveAll(filepath.Join(linked, ".git")))
	require.NoError(t, os.WriteFile(filepath.Join(linked, ".git"), []byte("gitdir: /elsewhere"), 0o600))
	behind := filepath.Join(shut, "checkout")
	require.NoError(t, os.Rename(checkout(t), behind))
	group := must.Get(os.ReadFile("/etc/group"))(t)
	strong := "" // a number that is no user's, but that of a group
	for _, name := range []string{"shadow", "kmem", "disk", "docker"} {
		_, rest, ok := strings.Cut(string(group), "\n"+name+":x:")
		number, _, _ := strings.Cut(rest, ":")
		if _, err := user.LookupId(number); ok && err != nil {
			strong = number
		}
	}
	require.NotEmpty(t, strong)

	for _, c := range []struct {
		name, user, dir string
		root            bool // what only a run as root comes to
	}{
		{"unknown", "no-such-user", linked, false},
		{"root", "root", linked, false},
		{"number", "0", linked, false},
		{"powerful", strong, linked, true},
		{"worktree", strconv.Itoa(tenant()), linked, true},
		{"unreachable", strconv.Itoa(tenant()), behind, true},
	} {
		if c.root && !rooted(t) {
			continue
		}
		opt.User = c.user
		_, err := sh(t, opt, c.dir, "true")
		assert.Equal(t, agent.Start, failure(t, err).Kind)
		text := regexp.MustCompile(`in the group \w+`).ReplaceAllString(err.Error(), "in the group GROUP")
		golden.Text(t, "user_"+c.name+".txt", strings.NewReplacer(shut, "SHUT", linked, "CHECKOUT", strconv.Quote(c.user), `"USER"`).Replace(text))
		assert.Equal(t, os.Geteuid(), owner(t, c.dir))
	}
	if us := os.Getuid(); us != 0 {
		opt.User = strconv.Itoa(us)
		assert.ErrorContains(t, must.Err(sh(t, opt, linked, "true")), "this is the user that MergeXO itself runs as: name a separate user for the agent")
	}
	opt.User, opt.Isolator = "nobody", ""
	assert.EqualError(t, must.Err(sh(t, opt, linked, "true")), `agent: [agent] user = "nobody": agents can run as another user only with isolation`)
}

// private is the first directory on the way to the programs that others may not pass, or "".
func private(t *testing.T, dir string) string {
	t.Helper()
	real := must.Get(filepath.EvalSymlinks(filepath.Join(dir, "claude")))(t)
	for ; real != "/"; real = filepath.Dir(real) {
		info := must.Get(os.Stat(real))(t)
		if info.Mode()&1 == 0 {
			return real
		}
	}
	return ""
}
