package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock"
)

// UserWait is how long a run waits for another one on this machine to be done with the user of the settings. It is no longer than the
// claim of a turn is held beyond the time of its agent.
const UserWait = 10 * time.Minute

// busyUser says that another run has the user. It is an error of the machine's, which is short of something for now.
type busyUser struct{ error }

// Is makes it the kernel's word for that.
func (busyUser) Is(target error) bool { return target == syscall.EAGAIN }

// UserBusy says that another run on this machine has the user of the settings. The agent did nothing, and nothing is wrong with it.
func UserBusy(err error) bool { return errors.As(err, new(busyUser)) }

// keeper is a process that keeps the user for us: no other run has that user until it is over, and when we are killed, the user's
// processes end and its files come back.
type keeper struct {
	to    io.WriteCloser
	lines chan string // what it says; closed when it has ended
	sign  string
	said  bytes.Buffer
	err   error
	clock clock.Clock
}

// keep waits until this run has the user.
func (opt Options) keep(ctx context.Context, dirs []string) (*keeper, error) {
	var as *account // root, as we are
	if opt.tenant.sudo != "" {
		as = opt.tenant.root()
	}
	spec := isolate.Spec{Task: isolate.Keep, Sign: sign(), As: as.user(), Dirs: dirs, Owners: opt.back(nil, true), Lock: !opt.tenant.made}
	k, err := opt.startKeeper(as, spec)
	if err != nil {
		return nil, &noEntry{err: err}
	}
	limit := clock.Or(opt.Clock).NewTimer(UserWait)
	defer limit.Stop()
	for {
		select {
		case line, ok := <-k.lines:
			switch {
			case line == isolate.Kept:
				return k, nil
			case ok:
				opt.Events.Warn("user_busy", "user", opt.tenant.name, "why", "another run on this machine uses it", "waits", clock.Text(UserWait))
			default:
				err := isolatorError(k.said.String(), k.sign, k.err)
				if !errors.As(err, new(*noEntry)) {
					err = opt.tenant.wrong("keep it for this run: %w", err)
				}
				return nil, err
			}
		case <-ctx.Done():
			k.over()
			return nil, &Error{Kind: Canceled, Exit: -1, Detail: "not started because the run was stopped", Err: context.Cause(ctx)}
		case <-limit.Chan():
			k.over()
			return nil, busyUser{opt.tenant.wrong("another run on this machine has used it for %s: give each runner a user of its own", clock.Text(UserWait))}
		}
	}
}

// startKeeper starts the process. It stays in our session: what has another one is taken for something that an agent has left.
func (opt Options) startKeeper(as *account, spec isolate.Spec) (*keeper, error) {
	text, err := isolate.Seal(spec)
	if err != nil {
		return nil, err
	}
	k := &keeper{lines: make(chan string, 2), sign: spec.Sign, clock: clock.Or(opt.Clock)}
	cmd := opt.through(as)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = "/", &k.said, &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if k.to, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go k.listen(cmd, out)
	_, _ = k.to.Write(text) // one that has ended says why
	return k, nil
}

func (k *keeper) listen(cmd *exec.Cmd, out io.Reader) {
	defer close(k.lines)
	for all := bufio.NewScanner(out); all.Scan(); {
		k.lines <- all.Text()
	}
	k.err = cmd.Wait()
}

// shared tells what Owners.Shared has to be when the files come back.
func (k *keeper) shared(files []isolate.File) {
	_ = json.NewEncoder(k.to).Encode(isolate.Keeping{Shared: files}) // a keeper that is gone keeps nothing
}

// over gives the user away.
func (k *keeper) over() {
	_ = json.NewEncoder(k.to).Encode(isolate.Keeping{Over: true}) // as above
	_ = k.to.Close()
	limit := k.clock.NewTimer(endLimit)
	defer limit.Stop()
	for {
		select {
		case _, ok := <-k.lines:
			if !ok {
				return
			}
		case <-limit.Chan(): // a sudo that hangs
			return
		}
	}
}

// unentered says what to do about an isolator that does not begin; every other error is as it was.
func (opt Options) unentered(err error) error {
	if no := (*noEntry)(nil); errors.As(err, &no) && !Starved(err) {
		return fmt.Errorf("%s (%s)", opt.tenant.barred(opt.Isolator), excerpt(no.Error(), 200))
	}
	return err
}
