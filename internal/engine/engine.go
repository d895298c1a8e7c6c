// Package engine is the one way through: it reads the world once, lets the pure packages decide, applies the effects in
// order and reports. Every trigger and every command takes this path; what differs between them is only where it starts.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/transcript"
)

// Run identifies the workflow run that this process is part of. The zero value is a terminal.
type Run struct {
	ID      int64
	Attempt int
	URL     string
	// Workflow is the path of the workflow's file; "" where it is not known.
	Workflow string
}

// Engine has everything that a run needs of the world.
type Engine struct {
	GitHub *github.Client
	Codec  journal.Codec
	// Git opens checkouts; URL and Identity are filled in per repository.
	Git       git.Options
	ServerURL string
	Run       Run
	// Lookup reads the environment that an agent may be given parts of, by name.
	Lookup func(string) (string, bool)
	// Sessions is a directory where transcripts of agents' sessions stay from one run to the next, on a runner that keeps
	// its disk; "": they go with the run.
	Sessions string
	// Transcripts seals the transcripts that travel with the repository instead; the zero value: none do.
	Transcripts transcript.Key
	// Wall is this program, behind which agents and tests are started; "": without a wall.
	Wall string
	// Secrets are what no agent may find anywhere.
	Secrets []string
	// Foreign takes what agents and tests print.
	Foreign io.Writer
	Log     *slog.Logger
	Now     func() time.Time
	// Clock measures how long something may take; nil: the machine's own does.
	Clock clock.Clock
	// Random gives a fresh unguessable name.
	Random func() string
	// DryRun stops before the first effect.
	DryRun bool
	// Phase is the part of the run that this process does, and Bundle the directory in which the parts meet.
	Phase  Phase
	Bundle string
	// began is when this process set to work, on Clock.
	began time.Time
	// number is that of the event at hand, which a handoff is about.
	number int
	// mergeClaims are the claims on merges that this process has made.
	mergeClaims map[string]bool
	// isolated is how foreign code runs, by what the settings want.
	isolated map[isolationSettings]*agent.Isolation
	// handed says that the agent's phase has written its handoff: one run has one.
	handed bool
}

// ErrUsage is a mistake of whoever started the run.
var ErrUsage = errors.New("wrong usage")

// ErrNumber is a number that is not that of a pull request.
var ErrNumber = errors.New("not a pull request")

// maxRounds bounds how many turns one run takes on one pull request; what is left is the next run's.
const maxRounds = 10

// Stop ends a run with a result that is not plainly done. It is an error only in Go's sense.
type Stop struct {
	Result model.Result
	Reason string
	// Block fields, for a result that is blocked.
	Block *model.BlockMarker
	// Merge says that it is a merge that did not come about.
	Merge bool
	// Agent says that an agent's phase is wanted, in a run without one.
	Agent bool
	// alive says that foreign code goes on running.
	alive bool
}

func (s *Stop) Error() string { return s.Reason }

func stop(result model.Result, format string, args ...any) *Stop {
	return &Stop{Result: result, Reason: fmt.Sprintf(format, args...)}
}

// Handle takes one event to its end. The error is for what the caller did wrong (settings, token, repository); all else
// is in the report.
func (e *Engine) Handle(ctx context.Context, ev model.Event) (model.Report, error) {
	e.begins()
	began := e.Now()
	rep := model.Report{Result: model.ResultNothing, Number: ev.Number, Effects: []model.Effect{}}
	err := e.handle(ctx, ev, &rep)
	rep.Calls.REST, rep.Calls.GraphQL = e.GitHub.Calls()
	rep.DurationMS = e.Now().Sub(began).Milliseconds()
	return rep, e.Conclude(err, &rep)
}

func (e *Engine) handle(ctx context.Context, ev model.Event, rep *model.Report) error {
	e.number = ev.Number
	switch {
	case ours(ev):
		return stop(model.ResultNothing, "the event is a comment of our own")
	case ev.Number == 0:
		return stop(model.ResultNothing, "the %s event names neither a pull request nor an issue", ev.Name)
	}
	err := e.rounds(ctx, ev, rep)
	for _, number := range ev.Numbers[min(1, len(ev.Numbers)):] { // a commit that was checked can be the head of several
		if outlives(err) {
			return err
		}
		other := ev
		other.Number, other.Numbers = number, nil
		rep.Number = number
		err = errors.Join(err, e.rounds(ctx, other, rep))
	}
	if g := (*github.Error)(nil); errors.As(err, &g) && g.Kind == github.NotFound && ev.Action != "" && !ev.IsPull && strings.Contains(g.Message, fmt.Sprintf("%s#%d ", ev.Repo, ev.Number)) {
		// The event itself tells that it was there.
		return stop(model.ResultNothing, "%s#%d is not there any more: it was deleted, transferred or converted since the event", ev.Repo, ev.Number)
	}
	return err
}

// rounds takes turns on one pull request or issue until nothing is pending, within the bounds.
func (e *Engine) rounds(ctx context.Context, ev model.Event, rep *model.Report) error {
	known := &memory{rights: map[string]model.Permission{}}
	defer e.leave(known)
	if e.Phase == AgentPhase && !e.DryRun {
		return e.prepare(ctx, ev, rep, known)
	}
	for range maxRounds {
		p := &pass{Engine: e, event: ev, report: rep, memory: known}
		again, err := p.once(ctx)
		p.tellNeed(err)
		p.close()
		if s := (*Stop)(nil); rep.Result == model.ResultDone && errors.As(err, &s) && s.Result == model.ResultNothing {
			return nil // there was something to do, and there is nothing more
		}
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// ours recognises the event of a comment that we wrote ourselves without asking GitHub. Only a bot's comment is taken for
// ours by its shape: a person who copies a marker must not make us deaf to what that person says.
// A bot's review without words is what GitHub makes of each reply to a review comment.
func ours(ev model.Event) bool {
	wordless := ev.Name == "pull_request_review" && ev.CommentBody == ""
	return ev.Author.Bot && ev.Sender.Bot && (wordless || journal.LooksMarked(ev.CommentBody))
}

// Conclude puts the end of a run into its report. Errors that are the caller's to mend are given back.
func (e *Engine) Conclude(err error, rep *model.Report) error {
	if err == nil {
		return nil
	}
	rep.Reason = err.Error()
	var s *Stop
	if errors.As(err, &s) {
		rep.Result = s.Result
		rep.Merge = s.Merge
		if s.Block != nil {
			rep.BlockedReason, rep.Expected, rep.Observed = s.Block.Reason, s.Block.Expected, s.Block.Observed
		}
		return nil
	}
	rep.Result = model.ResultFailed
	var gh *github.Error
	var g *git.Error
	switch {
	case errors.Is(err, context.Canceled):
		rep.Result = model.ResultRetry
		rep.Reason = "cancelled; the next run goes on where this one stopped"
	case errors.Is(err, config.ErrInvalid), errors.Is(err, ErrNumber), errors.Is(err, ErrUsage), errors.Is(err, ErrIdentity):
		return err
	case errors.As(err, &gh):
		return concludeGitHub(gh, rep)
	case errors.As(err, &g) && (g.Failure == git.Unreachable || g.Failure == git.Exhausted), starved(err):
		rep.Result = model.ResultRetry
	case errors.As(err, &g) && g.Failure == git.Denied && e.GitHub != nil:
		return fmt.Errorf("%w; %s", err, g.Fix())
	case errors.As(err, &g) && (g.Failure == git.Denied || g.Failure == git.NotFound):
		return err
	}
	return nil
}

// starved says that the machine had no process, memory or descriptor left for what was to be started.
func starved(err error) bool {
	return slices.ContainsFunc([]error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}, func(one error) bool { return errors.Is(err, one) })
}

func concludeGitHub(gh *github.Error, rep *model.Report) error {
	switch gh.Kind {
	case github.Unauthorized, github.NotFound:
		return gh
	case github.RateLimited:
		rep.Result = model.ResultRetry
	case github.Unavailable, github.Unclear:
		rep.Result = model.ResultRetry
	}
	if gh.Fix != "" {
		rep.Reason += "; " + gh.Fix
	}
	return nil
}
