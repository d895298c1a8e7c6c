package thread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/transcript"
)

// ErrRunTime ends an agent's work when the time of the whole run is over. The workflow's own limit comes a little later and would
// leave no time to save anything.
var ErrRunTime = errors.New("the run's time is up")

// Begins notes when this process began to work. Only the first call counts.
func Begins(w *World) {
	if w.Began.IsZero() {
		w.Began = clock.Or(w.Clock).Now()
	}
}

// RunLeft returns how much of the run's time is left.
func RunLeft(w *World, s config.Settings) time.Duration {
	Begins(w)
	return s.Agent.RunTimeout - clock.Or(w.Clock).Now().Sub(w.Began)
}

// Span formats a duration as the settings do: "80m" and not "1h20m0s".
func Span(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// Run identifies the workflow run that this process is part of. The zero value is a terminal.
type Run struct {
	ID      int64
	Attempt int
	URL     string
	// Workflow is the path of the workflow's file; "" where it is not known.
	Workflow string
}

// World holds everything that a run needs from outside, and what it remembers about itself.
type World struct {
	GitHub *github.Client
	Codec  journal.Codec
	// Git opens checkouts; URL and Identity are filled in per repository.
	Git       git.Options
	ServerURL string
	Run       Run
	// Lookup reads a variable of the environment, of which an agent may get parts.
	Lookup func(string) (string, bool)
	// Sessions is a directory that keeps the transcripts of agents' sessions between runs, on a runner that keeps its disk. If it is
	// "", they are deleted with the run.
	Sessions string
	// Transcripts encrypts the transcripts that are stored in the repository instead. With the zero value, none are.
	Transcripts transcript.Key
	// Isolator is the path of this program, which starts agents and tests isolated; "": without isolation.
	Isolator string
	// Secrets must not reach an agent. Those of Git's credential come on top.
	Secrets []string
	// Reach gives the credential access to further repositories; nil: it cannot be extended.
	Reach func(context.Context, ...model.Repo) error
	// Rights reports whether the credential may push changes of workflows; nil: unknown.
	Rights interface{ Workflows() bool }
	// Foreign receives the output of agents and tests.
	Foreign io.Writer
	// Warn shows warnings to whoever looks at this run later.
	Warn Warn
	// Working shows progress to whoever watches this run.
	Working Watch
	Log     *slog.Logger
	Now     func() time.Time
	// Clock measures time limits; nil: the machine's clock.
	Clock clock.Clock
	// Random returns a new name that nobody can guess.
	Random func() string
	// Effects carries out what the run decides, or only reports it; nil: it is carried out.
	Effects effect.Applier
	// Phase is the part of the run that this process does. Bundle is the directory through which the parts exchange data.
	Phase  Phase
	Bundle string
	// Began is the time on Clock at which this process began to work.
	Began time.Time
	// Number is the number of the event at hand, to which a handoff belongs.
	Number int
	// Names maps names of repositories in markers, in lower case, to their present names.
	Names map[string]string
	// Claims has the names of the leases that this process holds.
	Claims map[string]bool
	// Isolated has the isolations that this run has made, by the settings that demand them.
	Isolated map[IsolationSettings]*agent.Isolation
	// Handed says that the agent's phase has written its handoff. A run has only one.
	Handed bool
}

// Warn shows a warning beside the run; nil: nobody looks there.
type Warn func(text string)

// Show shows a warning. It does nothing if w is nil.
func (w Warn) Show(text string) {
	if w != nil {
		w(text)
	}
}

// Watch shows what is in progress until done is called; nil: nobody watches.
type Watch func(what string) (done func())

// Show begins to show what is in progress. done ends that.
func (w Watch) Show(what string) (done func()) {
	if w == nil {
		return func() {}
	}
	return w(what)
}

// Hidden returns all secrets: those that were given, and the tokens that were made from them so far.
func Hidden(w *World) []string {
	if w.Git.Credential == nil {
		return w.Secrets
	}
	return slices.Concat(w.Secrets, w.Git.Credential.Secrets())
}

// Extend gives the credential access to further repositories.
func Extend(ctx context.Context, w *World, repos ...model.Repo) error {
	if w.Reach == nil {
		return nil
	}
	return w.Reach(ctx, repos...)
}

// ErrUsage reports a mistake of whoever started the run.
var ErrUsage = errors.New("wrong usage")

// ErrNumber reports a number that does not belong to a pull request.
var ErrNumber = errors.New("not a pull request")

// Stop ends a run with a result other than plainly done. It is an error, so any step can return it.
type Stop struct {
	Result model.Result
	Reason string
	// Block is set if the result is blocked.
	Block *model.BlockMarker
	// Merge says that a merge did not happen.
	Merge bool
	// Agent says that the run needs an agent's phase and has none.
	Agent bool
	// Alive says that foreign code is still running.
	Alive bool
	// Last is the error with which the applier ended the run for good; nil if it did not.
	Last error
}

// Error returns the reason.
func (s *Stop) Error() string { return s.Reason }

// Unwrap returns how the applier ended the run, or nil.
func (s *Stop) Unwrap() error { return s.Last }

// End returns a Stop with a result and a formatted reason.
func End(result model.Result, format string, args ...any) *Stop {
	return &Stop{Result: result, Reason: fmt.Sprintf(format, args...)}
}

// Claimed notes that this process holds a lease by this name.
func Claimed(w *World, name string) {
	if w.Claims == nil {
		w.Claims = map[string]bool{}
	}
	w.Claims[name] = true
}

// Passes reports whether an agent's failure is temporary: its provider is at a limit, or the machine is starved.
func Passes(err error) bool {
	failed := (*agent.Error)(nil)
	return errors.As(err, &failed) && failed.Kind == agent.Limit || agent.Starved(err)
}
