package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/clock"
)

// Level is how far foreign code is kept from everything else while it runs.
type Level string

// The levels, the safest first.
const (
	LevelUser      Level = "user"      // as a user of its own, with a view of the file system in which it can write only what is its own
	LevelNamespace Level = "namespace" // as our user, in user, PID and mount namespaces
	LevelAccount   Level = "account"   // as a user of its own, who can write whatever everybody can
	LevelNone      Level = "none"      // as our user
)

// The values of the setting.
const (
	IsolationAuto = "auto"
	IsolationNone = string(LevelNone)
)

// Isolation is how the foreign code of one run is kept apart: agents, tests, evaluations. Nil is LevelNone.
type Isolation struct {
	Level  Level
	Why    []string // why it is not a safer level, one reason for each
	tenant *account // of LevelUser
	opt    Options
	dirs   []string
	log    *slog.Logger

	network   sync.Once
	noNetwork error // why foreign code cannot have a network of its own
}

// IsolationOptions say what is wanted, and what there is to do it with.
type IsolationOptions struct {
	Setting  string // auto or none; "" is auto
	User     string // an existing user, by name or number; "": one is made
	Isolator string // this program, as Self gives it
	Path     string // where sudo and useradd are looked for
	Home     string // our own HOME, which need not be the home of our user
	// Dirs may belong to the user of a run that was killed; they are taken back.
	Dirs  []string
	Clock clock.Clock
	Log   *slog.Logger
}

// ErrNoIsolation says that foreign code cannot be isolated on this machine, and what to do about it.
type ErrNoIsolation struct{ Why []string }

func (e *ErrNoIsolation) Error() string {
	return fmt.Sprintf("isolation = \"auto\": this machine cannot isolate agents and tests (%s): allow user namespaces or sudo without a password, "+
		"split the workflow into two jobs, or set isolation = \"none\" under [agent] to run them without isolation", strings.Join(e.Why, "; "))
}

// Isolate picks the safest level that this machine has, and makes what it needs, which Close removes. An error is about the
// settings, or is *ErrNoIsolation.
func Isolate(ctx context.Context, want IsolationOptions) (*Isolation, error) {
	if want.Log == nil {
		want.Log = slog.New(slog.DiscardHandler)
	}
	i := &Isolation{
		Level: LevelNone, log: want.Log, dirs: want.Dirs,
		opt: Options{Isolator: want.Isolator, User: want.User, Env: []string{"PATH=" + want.Path, "HOME=" + want.Home}, Clock: want.Clock},
	}
	if want.User != "" { // whoever names a user wants that user, and nothing else
		var err error
		if i.tenant, err = i.opt.findAccount(); err != nil {
			return i, err
		}
		i.Level = LevelUser
		if err := i.try(i.tenant.root(), LevelUser); err != nil {
			i.Level, i.Why = LevelAccount, []string{err.Error()}
		}
		return i, nil
	}
	if want.Setting == IsolationNone {
		return i, nil
	}
	if runtime.GOOS != "linux" || want.Isolator == "" {
		return nil, &ErrNoIsolation{[]string{"isolation needs Linux"}}
	}
	for _, level := range []struct {
		Level
		try func(context.Context) error
	}{
		{LevelUser, func(ctx context.Context) error { return i.makeUser(ctx, LevelUser) }},
		{LevelNamespace, func(context.Context) error { return i.try(nil, LevelNamespace) }},
		{LevelAccount, func(ctx context.Context) error { return i.makeUser(ctx, LevelAccount) }},
	} {
		err := level.try(ctx)
		if ctx.Err() != nil {
			return nil, errors.Join(context.Cause(ctx), i.Close())
		}
		if err == nil {
			i.Level = level.Level
			return i, nil
		}
		i.Why = append(i.Why, err.Error())
	}
	return nil, &ErrNoIsolation{i.Why}
}

// Close removes what Isolate made. An error names what is left.
func (i *Isolation) Close() error {
	if i == nil || i.tenant == nil || !i.tenant.made {
		return nil
	}
	return i.removeUser()
}

// level is that of foreign code.
func (opt Options) level() Level {
	if opt.Isolation == nil {
		if opt.User != "" {
			return LevelUser
		}
		return LevelNone
	}
	return opt.Isolation.Level
}

// try makes what foreign code is put into at a level once, to see whether this machine lets us.
func (i *Isolation) try(as *account, level Level) error {
	opt := i.opt
	opt.Isolation = &Isolation{Level: level, opt: i.opt, tenant: as}
	err := opt.tryView(as)
	switch {
	case err == nil:
		return nil
	case level == LevelUser:
		return fmt.Errorf("no mounts: %w", err)
	}
	return fmt.Errorf("no user namespaces: %w", err)
}

// errNoSudo says why there is no way to become root.
var errNoSudo = errors.New("this is not root, and sudo is not installed")
