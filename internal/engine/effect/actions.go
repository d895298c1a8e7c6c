package effect

import (
	"context"
	"strconv"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Rerun runs the failed jobs of a workflow run once more.
type Rerun struct {
	Run   model.Rerun
	Token string
}

// Entry names the run.
func (r Rerun) Entry() model.Effect {
	return model.Effect{Kind: "rerun", Target: decimal(r.Run.Run), Token: r.Token}
}

func (Rerun) repeats() repeat { return unseen }

func (r Rerun) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Actions.RerunFailed(ctx, repo, r.Run.Run)
}

// CancelRun stops a workflow run.
type CancelRun struct {
	Run   int64
	Token string
}

// Entry names the run.
func (c CancelRun) Entry() model.Effect {
	return model.Effect{Kind: "cancel", Target: decimal(c.Run), Token: c.Token}
}

func (CancelRun) repeats() repeat { return always }

func (c CancelRun) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Actions.Cancel(ctx, repo, c.Run)
}

// Status reports on a commit, as a check that is no App's.
type Status struct {
	SHA     string
	Context string // the name of the check
	Passed  bool
	Says    string // at most 140 characters
}

// Entry names the commit.
func (s Status) Entry() model.Effect {
	return model.Effect{Kind: "status", Target: s.SHA, Token: journal.Token("status", s.Context, s.SHA)}
}

func (Status) repeats() repeat { return always }

func (s Status) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Commits.Report(ctx, repo, s.SHA, s.Context, s.Passed, s.Says)
}

// Dispatch starts a run of a workflow for a number.
type Dispatch struct {
	Workflow, Branch string
	Number           int
	Token            string
}

// Entry names the number.
func (d Dispatch) Entry() model.Effect {
	return model.Effect{Kind: "dispatch", Target: strconv.Itoa(d.Number), Token: d.Token}
}

func (Dispatch) repeats() repeat { return never }

func (d Dispatch) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Actions.Dispatch(ctx, repo, d.Workflow, d.Branch, map[string]string{"number": strconv.Itoa(d.Number)})
}

// PlaceRef makes a private ref, whose name is what it says. Told says that reports name it.
type PlaceRef struct {
	Name, SHA string
	Told      bool
}

// Entry names the ref.
func (p PlaceRef) Entry() model.Effect {
	if !p.Told {
		return model.Effect{}
	}
	return model.Effect{Kind: "ref", Target: p.Name}
}

func (PlaceRef) repeats() repeat { return never }

func (p PlaceRef) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Refs.Create(ctx, repo, p.Name, p.SHA)
}

// RemoveRef deletes a private ref that PlaceRef has made.
type RemoveRef struct{ Name string }

// Entry is empty: reports do not name it.
func (RemoveRef) Entry() model.Effect { return model.Effect{} }

func (RemoveRef) repeats() repeat { return never }

func (r RemoveRef) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Refs.Delete(ctx, repo, r.Name)
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }
