package reviewing

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/reviewer"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// part is how a run gets what a reviewer says: it asks, or takes up what another job has handed over.
type part interface {
	// isolate finds out how the reviewer can run here.
	isolate(ctx context.Context) error
	// open claims a new review for the run that will have the reviewer's answer.
	open(m *model.ReviewMarker)
	// begin claims a review that this run begins without being asked by a comment.
	begin(m *model.ReviewMarker)
	// ready ends a run that cannot get the answer; nil for one that can.
	ready() *thread.Stop
	// carry takes a review that is claimed to its end.
	carry(ctx context.Context, r *round) (*thread.Stop, error)
}

// part is the one of the run's phase.
func (p *Pull) part() part {
	return thread.ByPhase[part]{Whole: reviewerHere{p}, Agent: reviewerHere{p}, Apply: reviewerElsewhere{p}}.Of(p.Phase)
}

// reviewerHere is the part of a run that has the reviewer.
type reviewerHere struct{ p *Pull }

func (r reviewerHere) isolate(ctx context.Context) error {
	s := reviewer.Settings(r.p.Thread)
	if wrong := thread.NeedKey(r.p.Thread, s); wrong != nil {
		return wrong
	}
	return thread.Isolate(ctx, r.p.World, s)
}

func (r reviewerHere) open(m *model.ReviewMarker) { r.p.sign(m) }
func (reviewerHere) begin(*model.ReviewMarker)    {} // it is claimed already
func (reviewerHere) ready() *thread.Stop          { return nil }

func (reviewerHere) carry(ctx context.Context, r *round) (*thread.Stop, error) { return r.ask(ctx) }

// reviewerElsewhere is the part of a run whose reviewer has a job of its own.
type reviewerElsewhere struct{ p *Pull }

func (reviewerElsewhere) isolate(context.Context) error { return nil }

// open leaves the claim to whoever brings the answer.
func (r reviewerElsewhere) open(m *model.ReviewMarker) {
	m.RunURL, m.Expires = r.p.Run.URL, r.p.expired()
}

func (r reviewerElsewhere) begin(m *model.ReviewMarker) {
	if r.p.brought() {
		r.p.sign(m)
	}
}

func (r reviewerElsewhere) ready() *thread.Stop {
	if r.p.brought() {
		return nil
	}
	return thread.EndWithoutAgent(r.p.World, "the review of pull request %d waits", r.p.Event.Number)
}

func (reviewerElsewhere) carry(ctx context.Context, r *round) (*thread.Stop, error) {
	return r.apply(ctx)
}
