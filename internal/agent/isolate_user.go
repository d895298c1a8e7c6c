package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock"
)

// account is the user that agents run as. A nil one is our own user.
type account struct {
	name     string // as in the settings
	known    string // the system's name; "" for a number without one
	uid, gid int
	groups   []int
	home     string
	sudo     string // path of sudo; "": we are root
	made     bool   // created for this run
}

// sudoPath is the sudo needed to become the user, "" if none is.
func (t *account) sudoPath() string {
	if t == nil {
		return ""
	}
	return t.sudo
}

// user is the user that the isolator has to become.
func (t *account) user() isolate.User {
	if t == nil {
		return isolate.User{UID: os.Geteuid()}
	}
	return isolate.User{UID: t.uid, GID: t.gid, Groups: t.groups, Become: t.sudo == "" || t.made, Tasks: maxTasks}
}

// root is the account that may change owners.
func (t *account) root() *account { return &account{name: "root", known: "root", sudo: t.sudo} }

// barred says what keeps us from starting anything as this user.
func (t *account) barred(self string) string {
	if t.sudoPath() == "" {
		return "MergeXO could not execute itself"
	}
	us := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(us); err == nil {
		us = u.Username
	}
	return t.wrong("sudo does not start %s as %s: make it executable for everybody, and let user %s do so without a password in /etc/sudoers.d: "+
		"%s ALL=(root,%s) NOPASSWD: %s; or run MergeXO as root, or leave user out", self, t.name, us, us, t.name, self).Error()
}

// wrong is an error about the setting.
func (t *account) wrong(format string, args ...any) error {
	if t.made {
		return fmt.Errorf("user %s, which was made for this run: %w", t.name, fmt.Errorf(format, args...))
	}
	return fmt.Errorf("[agent] user = %q: %w", t.name, fmt.Errorf(format, args...))
}

// powerful are groups whose members are as good as root, or read what root reads, without further privileges.
var powerful = []string{"root", "docker", "podman", "lxd", "incus", "incus-admin", "libvirt", "disk", "shadow", "kmem"}

// findAccount finds the user in the settings, nil if they name none, and checks that it is unprivileged.
func (opt Options) findAccount() (*account, error) {
	switch {
	case opt.Isolation != nil:
		return opt.Isolation.tenant, nil
	case opt.User == "":
		return nil, nil
	}
	t := &account{name: opt.User}
	switch {
	case runtime.GOOS != "linux":
		return nil, t.wrong("agents can run as another user only on Linux: leave it out, or run MergeXO on Linux")
	case opt.Isolator == "":
		return nil, t.wrong("agents can run as another user only with isolation")
	}
	if err := t.find(); err != nil {
		return nil, err
	}
	switch {
	case t.uid == 0:
		return nil, t.wrong("this is root: name a separate user for the agent, created with sudo useradd --system --create-home mergexo-agent")
	case t.uid == os.Getuid() || t.uid == os.Geteuid():
		return nil, t.wrong("this is the user that MergeXO itself runs as: name a separate user for the agent, created with sudo useradd --system --create-home mergexo-agent")
	}
	for _, gid := range append([]int{t.gid}, t.groups...) {
		group, err := user.LookupGroupId(strconv.Itoa(gid))
		if gid == 0 || err == nil && slices.Contains(powerful, group.Name) {
			return nil, t.wrong("it is in the group %s, whose members can become root: take it out of that group", group.Name)
		}
	}
	if os.Geteuid() != 0 {
		sudo, err := resolve("sudo", "/", opt.Env)
		if err != nil {
			return nil, t.wrong("only root can start programs as another user, and there is no sudo in PATH: install sudo, run MergeXO as root, or leave user out")
		}
		t.sudo = sudo
	}
	return t, nil
}

// find looks the user up, by name or number. A number needs no name.
func (t *account) find() error {
	number, nan := strconv.ParseUint(t.name, 10, 31)
	u, err := user.Lookup(t.name)
	if err != nil && nan == nil {
		u, err = user.LookupId(t.name)
	}
	switch {
	case err == nil:
	case nan == nil:
		t.uid, t.gid = int(number), int(number) //nolint:gosec // of 31 bits
		return nil
	case errors.As(err, new(user.UnknownUserError)):
		return t.wrong("there is no such user on this machine: create it with sudo useradd --system --create-home %s, or leave user out", excerpt(t.name, 40))
	default:
		return t.wrong("look it up: %w", err)
	}
	list, err := u.GroupIds()
	if err != nil {
		return t.wrong("look up its groups: %w", err)
	}
	t.known, t.home = u.Username, u.HomeDir
	for _, text := range list {
		gid, err := strconv.Atoi(text)
		if err != nil {
			return t.wrong("look up its groups: %w", err)
		}
		t.groups = append(t.groups, gid)
	}
	if t.uid, err = strconv.Atoi(u.Uid); err == nil {
		t.gid, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return t.wrong("look it up: %w", err)
	}
	return nil
}

// enter gives the checkout and the run's directories to the agent's user, if there is one, and returns the Options for
// everything that runs before leave. leave ends that user's remaining processes, takes everything back, and passes on the
// run's error.
func (opt Options) enter(ctx context.Context, dir string) (inside Options, leave func(error) error, err error) {
	opt, disconnect, err := opt.connected()
	if err != nil {
		return opt, nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	inside, back, err := opt.moveIn(ctx, dir)
	if err != nil {
		disconnect()
		return opt, nil, err
	}
	return inside, func(err error) error {
		defer disconnect()
		return back(inside.redacted(err))
	}, nil
}

// moveIn is enter without the network.
func (opt Options) moveIn(ctx context.Context, dir string) (inside Options, leave func(error) error, err error) {
	if opt.tenant, err = opt.findAccount(); err != nil {
		return opt, nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	if opt.tenant == nil {
		if opt.level() == LevelNamespace {
			if err := opt.ownDirs(); err != nil {
				return opt, nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
			}
			opt = opt.withUserEnv()
		}
		return opt, func(err error) error { return err }, nil
	}
	takeBack, err := opt.handOver(ctx, dir)
	var living *Error
	switch {
	case errors.As(err, &living):
		return opt, nil, living
	case UserBusy(err):
		return opt, nil, err
	case err != nil:
		return opt, nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	return opt.withUserEnv(), func(err error) error {
		back := takeBack()
		switch {
		case errors.As(back, &living) && living.Kind == Alive:
			return living
		case back == nil:
			return err
		case err == nil:
			return &Error{Kind: Unreturned, Exit: -1, Detail: back.Error(), Err: back}
		}
		return fmt.Errorf("%w; and %w", err, back)
	}, nil
}

// withUserEnv sets another user's environment: HOME, a directory for temporary files, and its name.
func (opt Options) withUserEnv() Options {
	set := map[string]string{"TMPDIR": ""}
	if opt.tenant != nil {
		set["USER"], set["LOGNAME"] = opt.tenant.known, opt.tenant.known
	}
	temp, err := filepath.Abs(opt.Temp)
	if err == nil && opt.Temp != "" {
		set["TMPDIR"] = filepath.Join(temp, "user-tmp")
	}
	if !strings.HasPrefix(value(opt.Env, "HOME"), temp+"/agent-home") { // a program's own HOME is prepared already
		set["HOME"] = opt.userHome()
	}
	opt.Env = with(opt.Env, set)
	return opt
}

// ownHome is the home of a user of its own; "" if there is none.
func (opt Options) ownHome() string {
	if opt.tenant != nil && !opt.tenant.made {
		if info, err := os.Stat(opt.tenant.home); err == nil && info.IsDir() {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == opt.tenant.uid {
				return opt.tenant.home
			}
		}
	}
	return ""
}

// userHome is the user's own if it exists, else one below Temp.
func (opt Options) userHome() string {
	if home := opt.ownHome(); home != "" {
		return home
	}
	temp, err := filepath.Abs(opt.Temp)
	if err != nil || opt.Temp == "" {
		return "/nonexistent"
	}
	return filepath.Join(temp, "user-home")
}

// handOver gives the checkout, Temp and Sessions to the user. No other program may use that user: its processes are ended
// before, and again before takeBack changes the owners back. Another run waits until then.
func (opt Options) handOver(ctx context.Context, dir string) (takeBack func() error, err error) {
	dirs, err := opt.ownedPaths(dir)
	if err != nil {
		return nil, err
	}
	keeper, err := opt.keep(ctx, dirs)
	if err != nil {
		return nil, opt.unentered(err)
	}
	closeWay, err := opt.way(dirs)
	if err = opt.unentered(err); err == nil {
		err = opt.vacate()
	}
	if err != nil {
		err = errors.Join(err, closeWay())
		keeper.over()
		return nil, err
	}
	us := isolate.Owners{From: os.Geteuid(), FromGroup: os.Getegid(), To: opt.tenant.uid, ToGroup: opt.tenant.gid}
	shared, err := opt.chown(us, dirs)
	keeper.shared(shared)
	takeBack = func() error {
		if err := opt.vacate(); err != nil {
			return err // the keeper tries again when we end
		}
		defer keeper.over()
		return errors.Join(opt.takeBack(opt.back(shared, false), dirs), closeWay())
	}
	if err != nil {
		return nil, errors.Join(opt.tenant.wrong("hand over: %w", err), takeBack())
	}
	return takeBack, nil
}

// ownedPaths are the absolute paths to hand over, as far as they exist.
func (opt Options) ownedPaths(dir string) ([]string, error) {
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && !info.IsDir() {
		return nil, opt.tenant.wrong("the git directory of %s is somewhere else, and would stay ours: use a clone, not a linked worktree", dir)
	}
	if err := opt.ownDirs(); err != nil {
		return nil, err
	}
	var dirs []string
	for _, one := range append([]string{dir, opt.Temp, opt.Sessions}, opt.Also...) {
		if _, err := os.Stat(one); one == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if one == opt.Temp || one == opt.Sessions {
			if err := notALink(one); err != nil {
				return nil, fmt.Errorf("hand over %s: %w", one, err)
			}
		}
		real, err := filepath.EvalSymlinks(one)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return nil, fmt.Errorf("hand over %s: %w", one, err)
		}
		dirs = append(dirs, real)
	}
	return dirs, nil
}

// ownDirs creates the replacements for the home and the temporary directory.
func (opt Options) ownDirs() error {
	if opt.Temp == "" {
		return nil
	}
	if err := makeDirs(opt.Temp, "user-home", "user-tmp"); err != nil {
		return fmt.Errorf("make a home below %s: %w", opt.Temp, err)
	}
	return nil
}

// TakeBack takes back what an earlier run handed over but could not take back because it was killed. It scans every file,
// and changes only those that the agent's user owns. Without a User it does nothing.
func (opt Options) TakeBack(dirs ...string) error {
	var err error
	if opt.tenant, err = opt.findAccount(); err != nil || opt.tenant == nil {
		return err
	}
	if err := opt.vacate(); err != nil {
		return err
	}
	return opt.takeBack(opt.back(nil, true), dirs)
}

func (opt Options) takeBack(back isolate.Owners, dirs []string) error {
	if _, err := opt.chown(back, dirs); err != nil {
		return opt.tenant.wrong("take back: %w", err)
	}
	return nil
}

// back is how files come back. unknown says that nobody knows what was shared.
func (opt Options) back(shared []isolate.File, unknown bool) isolate.Owners {
	return isolate.Owners{
		From: opt.tenant.uid, FromGroup: opt.tenant.gid, To: os.Geteuid(), ToGroup: os.Getegid(), Back: true, Shared: shared,
		Unknown: unknown,
	}
}

// chown changes owners as root.
func (opt Options) chown(e isolate.Owners, dirs []string) (shared []isolate.File, err error) {
	if opt.tenant.sudo == "" {
		return isolate.Chown(e, dirs)
	}
	out, err := opt.call(opt.tenant.root(), isolate.Spec{Task: isolate.Own, Owners: e, Dirs: dirs})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(out), &shared); err != nil {
		return nil, fmt.Errorf("read what the isolator found: %w", err)
	}
	return shared, nil
}

// vacate ends every process of the user, and waits until they are gone. The signal reaches all of them at once, so none can
// start another; but one of the user's own processes sends it and can be ended first: then it is sent again.
func (opt Options) vacate() error {
	end := clock.Or(opt.Clock).NewTimer(endLimit)
	defer end.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for sent := false; ; {
		err := opt.signal(syscall.SIGKILL)
		sent = sent || err == nil
		left, _ := isolate.ProcessesOf(opt.tenant.uid)
		if sent && left == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-end.Chan():
			if err == nil {
				err = errors.New("no other program may use that user")
			}
			return alive("%v", opt.tenant.wrong("%d of its processes do not end within %s: %w", left, clock.Text(endLimit), err))
		}
	}
}

// signal signals all processes of the user.
func (opt Options) signal(sig syscall.Signal) error {
	_, err := opt.call(opt.tenant, isolate.Spec{Task: isolate.End, Signal: int(sig)})
	return err
}
