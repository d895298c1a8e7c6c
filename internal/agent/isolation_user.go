package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock"
)

// userPrefix starts the name of every user that we create.
const userPrefix = "mergexo-"

// accounts are the programs that create and remove users, in order of preference: shadow's, and BusyBox's.
var accounts = []struct {
	add, remove []string
}{
	{
		[]string{"useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/sh", "--user-group", "--comment"},
		[]string{"userdel"},
	},
	{[]string{"adduser", "-D", "-H", "-h", "/nonexistent", "-s", "/bin/sh", "-g"}, []string{"deluser"}},
}

// accountTries is how often to try to create or remove an account: the programs lock /etc/passwd, so two at once collide.
const accountTries = 20

// makeUser creates a user for this run, and removes those of killed runs.
func (i *Isolation) makeUser(ctx context.Context, level Level) error {
	sudo := ""
	if os.Geteuid() != 0 {
		var err error
		if sudo, err = resolve("sudo", "/", i.opt.Env); err != nil {
			return errNoSudo
		}
	}
	t := &account{made: true, sudo: sudo}
	if err := i.mayBecome(t); err != nil {
		return err
	}
	if level == LevelUser {
		if err := i.try(t.root(), level); err != nil {
			return err
		}
	}
	if err := i.checkChown(t); err != nil {
		return err
	}
	i.tenant = t
	i.removeStale(ctx)
	if err := i.addUser(ctx); err != nil {
		i.tenant = nil
		return err
	}
	if _, err := i.opt.call(t, isolate.Spec{Task: isolate.Reach}); err != nil {
		err = errors.Join(fmt.Errorf("become user %s: %w", t.name, err), i.removeUser())
		i.tenant = nil
		return err
	}
	return nil
}

// checkChown verifies, before an account is created, that a directory can be given to another user and taken back: root in
// a container may lack that right, and then could not remove the account either.
func (i *Isolation) checkChown(t *account) error {
	dir, err := os.MkdirTemp("", "mergexo-user-*")
	if err != nil {
		return fmt.Errorf("make a directory to give away: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	nobody, err := freeUID([4]byte{})
	if err != nil {
		return err
	}
	opt := i.opt
	opt.tenant = t
	there := isolate.Owners{From: os.Geteuid(), FromGroup: os.Getegid(), To: nobody, ToGroup: nobody}
	back := isolate.Owners{From: nobody, FromGroup: nobody, To: there.From, ToGroup: there.FromGroup, Back: true}
	for _, e := range []isolate.Owners{there, back} {
		if _, err := opt.chown(e, []string{dir}); err != nil {
			return fmt.Errorf("give a directory away and reclaim it: %w", err)
		}
	}
	return nil
}

// mayBecome says why we cannot become root, who can become every user.
func (i *Isolation) mayBecome(t *account) error {
	_, err := i.opt.call(t.root(), isolate.Spec{Task: isolate.Reach})
	if err != nil && t.sudo != "" {
		return fmt.Errorf("sudo does not work without a password: %w", err)
	}
	return err
}

// addUser creates the account. Without a program for it, root uses a free UID.
func (i *Isolation) addUser(ctx context.Context) error {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails (https://pkg.go.dev/crypto/rand#Read)
	t := i.tenant
	t.name = userPrefix + hex.EncodeToString(random[:])
	self, ok := readProcess(os.Getpid())
	if !ok { // a later run would take the user for a stale one
		return errors.New("make a user: /proc does not show this process")
	}
	comment := fmt.Sprintf("MergeXO run %d.%d", self.pid, self.started)
	for _, with := range accounts {
		err := i.account(ctx, append(append([]string{}, with.add...), comment, t.name))
		switch {
		case errors.Is(err, errNoProgram):
			continue
		case err == nil:
			if err = t.find(); err == nil {
				return nil
			}
			err = errors.Join(err, i.removeUser())
		}
		i.log.Warn("user_not_made", "user", t.name, "error", err, "instead", "a number that nobody has")
		break
	}
	uid, err := freeUID(random)
	if err != nil {
		return err
	}
	t.name, t.uid, t.gid = strconv.Itoa(uid), uid, uid
	return nil
}

// freeUID is an unused UID from the range that systemd reserves for transient services
// (https://systemd.io/UIDS-GIDS/).
func freeUID(random [4]byte) (int, error) {
	const first, count = 61184, 4336
	start := int(random[0])<<8 | int(random[1])
	for n := range count {
		uid := first + (start+n)%count
		if _, err := user.LookupId(strconv.Itoa(uid)); err == nil {
			continue
		}
		if n, _ := isolate.ProcessesOf(uid); n == 0 {
			return uid, nil
		}
	}
	return 0, errors.New("make a user: no number between 61184 and 65519 is free")
}

// removeUser removes the account, if there is one.
func (i *Isolation) removeUser() error {
	return i.removeAccount(context.Background(), i.tenant.name)
}

func (i *Isolation) removeAccount(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, userPrefix) {
		return nil
	}
	err := error(errNoProgram)
	for _, with := range accounts {
		if err = i.account(ctx, append(append([]string{}, with.remove...), name)); !errors.Is(err, errNoProgram) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("remove user %s, which was made for this run: %w: remove it with sudo userdel %s", name, err, name)
	}
	return nil
}

var errNoProgram = errors.New("no such program")

// account runs a program that changes accounts, and retries while another one holds the lock.
func (i *Isolation) account(ctx context.Context, argv []string) error {
	env := []string{"PATH=" + value(i.opt.Env, "PATH") + ":/usr/sbin:/sbin:/usr/local/sbin"}
	program, err := resolve(argv[0], "/", env)
	if err != nil {
		return errNoProgram
	}
	args := append([]string{program}, argv[1:]...)
	if sudo := i.tenant.sudo; sudo != "" {
		args = append([]string{sudo, "-n", "--"}, args...)
	}
	var said []byte
	for try := range accountTries {
		if try > 0 {
			pause(ctx, i.opt.Clock)
		}
		cmd := exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...) // half of it would be worse
		cmd.Env, cmd.Dir = append(env, "LC_ALL=C"), "/"
		if said, err = cmd.CombinedOutput(); err == nil {
			return nil
		}
		if !bytes.Contains(said, []byte("lock")) {
			break
		}
	}
	if last := lastWords(string(said), 300).String(); last != "" {
		err = errors.New(last)
	}
	return fmt.Errorf("%s: %w", filepath.Base(program), err)
}

// pause waits briefly for another program.
func pause(ctx context.Context, c clock.Clock) {
	timer := clock.Or(c).NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.Chan():
	case <-ctx.Done():
	}
}

// removeStale removes the users of runs that were killed on this machine: the account names the process that created it.
func (i *Isolation) removeStale(ctx context.Context) {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(line, ":")
		if len(field) < 5 || !strings.HasPrefix(field[0], userPrefix) {
			continue
		}
		var pid int
		var started uint64
		if n, _ := fmt.Sscanf(field[4], "MergeXO run %d.%d", &pid, &started); n != 2 {
			continue
		}
		if p, ok := readProcess(pid); ok && p.started == started {
			continue
		}
		if err := errors.Join(i.takeBack(field[0]), i.removeAccount(ctx, field[0])); err != nil && !isGone(field[0]) {
			i.log.Warn("user_left", "user", field[0], "error", err)
		}
	}
}

// isGone says that the machine has no such user: another run on it has removed it first.
func isGone(name string) bool {
	_, err := user.Lookup(name)
	return errors.As(err, new(user.UnknownUserError))
}

// takeBack ends what a killed run's user left, and takes its files back.
func (i *Isolation) takeBack(name string) error {
	stale := &account{name: name, made: true, sudo: i.tenant.sudo}
	if err := stale.find(); err != nil {
		return err
	}
	opt := i.opt
	opt.Isolation = &Isolation{Level: LevelUser, tenant: stale}
	return opt.TakeBack(i.dirs...)
}

// way lets the run's user reach some directories: each parent that denies it gets an ACL entry for that user alone. back
// restores them.
func (opt Options) way(dirs []string) (back func() error, err error) {
	var open []isolate.Way
	back = func() error {
		var all error
		for _, w := range open {
			w.Back = true
			_, err := opt.call(opt.tenant.root(), isolate.Spec{Task: isolate.Pass, Way: w})
			all = errors.Join(all, err)
		}
		return all
	}
	barred := ""
	for {
		first, err := opt.call(opt.tenant, isolate.Spec{Task: isolate.Reach, Dirs: dirs})
		if err != nil && !errors.As(err, new(*noEntry)) {
			err = opt.tenant.wrong("check what it can reach: %w", err)
		}
		if err != nil || first == "" {
			return back, err
		}
		if first == barred || !opt.tenant.made {
			return back, opt.tenant.wrong("it cannot get to the checkout and the run's directories through %s: run sudo chmod o+x %s before MergeXO", first, first)
		}
		barred = first
		w := isolate.Way{Dir: first, UID: opt.tenant.uid}
		if _, err := opt.call(opt.tenant.root(), isolate.Spec{Task: isolate.Pass, Way: w}); err != nil {
			return back, opt.tenant.wrong("it cannot get to the checkout and the run's directories through %s: %w: run sudo chmod o+x %s before MergeXO", first, err, first)
		}
		open = append(open, w)
	}
}
