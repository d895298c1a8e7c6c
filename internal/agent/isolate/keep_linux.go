package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Whoever keeps a user is root, and lives in a process of its own because mergexo can be killed at any time: then it ends what
// runs as that user, takes the files back, and lets the next one have the user. It learns of it by its standard input,
// which nobody but mergexo holds the other end of.

// keep has the user until it is told that it is over.
func (l Spec) keep() error {
	told := make(chan Keeping)
	go func() {
		defer close(told)
		for from := json.NewDecoder(os.Stdin); ; {
			var k Keeping
			if from.Decode(&k) != nil {
				return
			}
			told <- k
		}
	}()
	if l.Lock {
		if had, err := l.lock(told); !had || err != nil {
			return err
		}
	}
	if _, err := os.Stdout.WriteString(Kept + "\n"); err != nil {
		return err
	}
	for k := range told {
		if k.Over {
			return nil
		}
		l.Owners.Shared, l.Owners.Unknown = k.Shared, false
	}
	return l.reclaim()
}

// lock waits until nobody else keeps the user; had is false where mergexo does not want it any more. The kernel removes the lock
// when this process ends.
func (l Spec) lock(told <-chan Keeping) (had bool, err error) {
	fd, err := openLock(l.Owners.From)
	if err != nil {
		return false, fmt.Errorf("lock user %d: %w", l.Owners.From, err)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for busy := false; ; {
		switch err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return false, fmt.Errorf("lock user %d: %w", l.Owners.From, err)
		case !busy:
			busy = true
			if _, err := os.Stdout.WriteString(Busy + "\n"); err != nil {
				return false, err
			}
		}
		select {
		case <-again.C:
		case <-told: // that it is over, or has ended
			return false, nil
		}
	}
}

// openLock opens the file of a user's lock, in a directory that only root can get into. The first directory is empty after each
// start of the machine, and may be read-only in a container.
func openLock(uid int) (fd int, err error) {
	for _, top := range []string{"/run", "/var/lib"} {
		dir := top + "/mergexo-users"
		if err = syscall.Mkdir(dir, 0o700); err != nil && !errors.Is(err, syscall.EEXIST) {
			continue
		}
		var info syscall.Stat_t
		if err = syscall.Lstat(dir, &info); err != nil {
			continue
		}
		if info.Mode&syscall.S_IFMT != syscall.S_IFDIR || info.Uid != 0 || info.Mode&0o022 != 0 {
			return -1, fmt.Errorf("%s is not a directory of root's alone", dir)
		}
		const flags = syscall.O_CREAT | syscall.O_RDWR | syscall.O_CLOEXEC | syscall.O_NOFOLLOW
		if fd, err = syscall.Open(dir+"/"+strconv.Itoa(uid), flags, 0o600); err == nil {
			return fd, nil
		}
	}
	return -1, err
}

// reclaimTries is how often the user's processes are ended before its files stay where they are.
const reclaimTries = 2000

// reclaim ends the user's processes, as often as it takes, and takes its files back.
func (l Spec) reclaim() error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for range reclaimTries {
		err := l.endAll()
		if n, _ := ProcessesOf(l.Owners.From); n == 0 && err == nil {
			_, err := Chown(l.Owners, l.Dirs)
			return err
		}
		<-again.C
	}
	return fmt.Errorf("processes of user %d do not end", l.Owners.From)
}

// endLimit is how long a process may take to end all others.
const endLimit = 2 * time.Second

// endAll has a process of the user's own end all others, which none of them can outrun.
func (l Spec) endAll() error {
	text, err := Seal(Spec{Task: End, Sign: l.Sign, Signal: int(syscall.SIGKILL), As: User{UID: l.Owners.From, GID: l.Owners.FromGroup, Become: true}})
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := os.StartProcess("/proc/self/exe", []string{os.Args[0], Word}, &os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{r, nil, nil}})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	late := time.AfterFunc(endLimit, func() { _ = p.Kill() }) // the processes that it ends can stop it
	defer late.Stop()
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	state, werr := p.Wait()
	if err = errors.Join(err, werr); err != nil {
		return err
	}
	if !state.Success() {
		return errors.New(state.String())
	}
	return nil
}
