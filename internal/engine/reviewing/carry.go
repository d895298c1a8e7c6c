package reviewing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// round is one attempt at a review.
type round struct {
	*Pull
	comment int64 // that claims it
	text    string
	marker  model.ReviewMarker
}

// Continue takes the review that was asked for to its end. The Stop says how that went; nil: none is wanted.
func (p *Pull) Continue(ctx context.Context) (*thread.Stop, error) {
	collect(p, false)
	p.Due(model.DueReview, time.Time{})
	said := p.State.Review()
	if said == nil || !said.Marker.Open() {
		return askByItself(ctx, p)
	}
	p.Due(model.DueReview, said.At)
	if other, err := endOthers(ctx, p, said.CommentID, said.URL); other != nil || err != nil {
		return other, err
	}
	r := &round{Pull: p, comment: said.CommentID, text: said.Text, marker: said.Marker}
	if ended := p.Memory.Reviewed[r.marker.Claim]; ended != nil {
		return ended, nil
	}
	if live, err := p.Busy(ctx, said.CommentID, said.Marker.Lease); err != nil || live {
		return thread.Taken(about(p), said.URL), err
	}
	if why := held(p); p.Survey != nil && why != "" && r.marker.ByItself() {
		return thread.End(model.ResultNothing, "%s", why), nil
	}
	if url, err := reviewed(ctx, p, r.marker.Head, p.Snap.Pull.HeadSHA); url != "" || err != nil { // the run died that had posted it
		return r.done(ctx, url, err)
	}
	if p.Snap.Pull.State != model.PullOpen {
		return r.give(ctx, "The pull request is no longer open.")
	}
	if why := held(p); why != "" && r.marker.ByItself() {
		return thread.End(model.ResultNothing, "%s", why), nil
	}
	if r.Claims[r.marker.Claim] {
		return r.carry(ctx)
	}
	if r.marker.Attempt >= review.MaxAttempts {
		return r.give(ctx, "The runs that worked on it died.")
	}
	if !p.Phase.RunsAgent() && !collect(p, true) {
		return waits(p), nil
	}
	if err := work.Overtime(p.Work); err != nil {
		return nil, err
	}
	return r.takeOver(ctx)
}

// takeOver continues a review whose run died. Of two runs that do so in the same moment, only the one whose claim stands goes on.
func (r *round) takeOver(ctx context.Context) (*thread.Stop, error) {
	r.marker.Head = r.Snap.Pull.HeadSHA
	sign(r.Pull, &r.marker)
	if err := r.record().Claim(ctx, review.RunningText(r.Snap.Pull, r.marker, adapter(r.Pull))); err != nil {
		return nil, err
	}
	r.posted = nil
	if url, err := reviewed(ctx, r.Pull, r.marker.Head, r.Snap.Pull.HeadSHA); url != "" || err != nil {
		return r.done(ctx, url, err)
	}
	return r.carry(ctx)
}

// waits is the end of a run to which the agent's job has not handed the answer over.
func waits(p *Pull) *thread.Stop {
	return thread.EndWithoutAgent(p.World, "the review of pull request %d waits", p.Event.Number)
}

// endOthers ends the reviews in whose place a later one is, which would else say forever that they are under way. The Stop says
// that another run is at work on one of them.
func endOthers(ctx context.Context, p *Pull, newest int64, url string) (*thread.Stop, error) {
	for _, said := range slices.Clone(p.State.Reviews) {
		if said.CommentID == newest || !said.Marker.Open() {
			continue
		}
		if live, err := p.Busy(ctx, said.CommentID, said.Marker.Lease); err != nil || live {
			return thread.Taken(about(p), said.URL), err
		}
		r := &round{Pull: p, comment: said.CommentID, text: said.Text, marker: said.Marker}
		r.marker.State, r.marker.Reason = model.ReviewFailed, "a later request took its place"
		if err := r.record().Write(ctx, review.ReplacedText(p.Snap.Pull, r.marker, url)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// carry takes a review that this run has claimed to its end: it has the reviewer look, or takes up what the agent's job handed over, and
// posts what is new of the findings.
func (r *round) carry(ctx context.Context) (*thread.Stop, error) {
	if !r.Phase.RunsAgent() {
		if r.handed == nil { // this run has claimed it before, and used up what was handed over
			return waits(r.Pull), nil
		}
		h := r.handed.Handoff
		if r.handed.Err == nil { // else nothing of it counts, its costs neither
			r.marker.Charge(0, h.Outcome.Usage.CostUSD)
		}
		answer, err := r.admit(ctx, r.handed)
		if err != nil {
			return r.stumble(ctx, err)
		}
		if url, err := r.moved(ctx, h.Start); url != "" || err != nil {
			return r.done(ctx, url, err)
		}
		return r.post(ctx, answer)
	}
	if err := thread.AgentNext(ctx, r.Thread, fmt.Sprintf("%s at %s comes next", about(r.Pull), markdown.Short(r.marker.Head))); err != nil {
		return nil, err
	}
	answer := Answer{}
	div, err := r.fetch(ctx)
	if err == nil {
		if url, err := r.moved(ctx, div.HeadSHA); url != "" || err != nil {
			return r.done(ctx, url, err)
		}
		answer, err = r.look(ctx, div)
		r.marker.Charge(0, answer.CostUSD)
	}
	if !r.Phase.Writes() {
		return nil, r.handOver(ctx, answer, err)
	}
	if err != nil {
		return r.stumble(ctx, err)
	}
	ctx = context.WithoutCancel(ctx) // what was paid for is said
	if err := r.record().Alive(); err != nil {
		return nil, err
	}
	return r.post(ctx, answer)
}

// moved notes in the claim that the head is another one by now, so that the run that may have to go on from here knows which one
// is reviewed. It gives the review of that head, where there is one.
func (r *round) moved(ctx context.Context, head string) (url string, err error) {
	if head == r.marker.Head {
		return "", nil
	}
	r.marker.Head = head
	if url, err = reviewed(ctx, r.Pull, head); url != "" || err != nil {
		return url, err
	}
	return "", r.record().Write(ctx, review.RunningText(r.Snap.Pull, r.marker, adapter(r.Pull)))
}

// post posts what is new of an answer, by what stands on the pull request now: the reviewer was at work for long.
func (r *round) post(ctx context.Context, answer Answer) (*thread.Stop, error) {
	posted, err := thread.ReadReviewsAgain(ctx, r.Thread, r.State.Record(r.comment).UpdatedAt)
	if err != nil {
		return nil, err
	}
	if err := r.record().Check(model.State{Reviews: posted.Reviews}); err != nil {
		return nil, err
	}
	if id := posted.Tokens[Token(r.Event.Number, r.marker.Head)]; id != 0 {
		return r.done(ctx, thread.ReviewURL(r.Thread, id), nil)
	}
	if posted.State != model.PullOpen {
		return r.give(ctx, "The pull request is no longer open.")
	}
	if err := thread.AskSettlers(ctx, r.Thread, posted.Comments); err != nil {
		return nil, err
	}
	fresh := Fresh(r.Thread, answer.Findings, posted)
	about := review.About{Pull: r.Snap.Pull, Head: r.marker.Head, By: adapter(r.Pull), Earlier: len(answer.Findings) - len(fresh), Dropped: answer.Dropped}
	url, err := Post(ctx, r.Thread, about, fresh, answer.Diff, nil)
	if Refused(err) {
		return r.give(ctx, "GitHub refused the review: "+err.Error())
	}
	return r.done(ctx, url, err)
}

// fetch fetches the head, which may have moved since the claim.
func (r *round) fetch(ctx context.Context) (div history.Divergence, err error) {
	if err := r.Open(ctx); err != nil {
		return div, err
	}
	base := r.Snap.Pull.BaseRef
	div, err = history.FetchMergeBase(ctx, r.Checkout, base, thread.HeadRef(r.Thread))
	if err == nil && div.Unrelated {
		err = &agent.Error{Kind: agent.Start, Detail: fmt.Sprintf("the head has no history in common with %s", base)}
	}
	return div, err
}

// look has the reviewer look at the head.
func (r *round) look(ctx context.Context, div history.Divergence) (a Answer, err error) {
	posted, err := read(ctx, r.Pull)
	if err == nil {
		err = thread.AskSettlers(ctx, r.Thread, posted.Comments)
	}
	if err == nil {
		err = thread.ReadSource(ctx, r.Thread)
	}
	if err != nil {
		return a, err
	}
	doc, err := Design(ctx, r.Work, div.MergeBase)
	if err != nil {
		return a, err
	}
	return Look(ctx, r.Work, Task{
		Key: r.marker.Command, Base: div.MergeBase, Head: div.HeadSHA, Raised: Raised(r.Thread, posted), Doc: doc,
	})
}

// stumble is for a review that came to nothing: what the reviewer did wrong counts as an attempt and is told, and all else is
// the run's.
func (r *round) stumble(ctx context.Context, err error) (*thread.Stop, error) {
	var failed *agent.Error
	var moved *git.ErrNoRef
	var late *work.Ending // the time of the run is over
	switch {
	case thread.Outlives(err):
		return nil, err
	case errors.As(err, &late) && late.Waits:
		r.untry()
	case late != nil:
	case ctx.Err() != nil:
		return nil, errors.Join(context.Canceled, err)
	case errors.As(err, &moved):
		return r.give(ctx, "The head branch is gone.")
	case thread.Passes(err):
		r.untry()
	case !errors.As(err, &failed):
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	why := redact.Text(ctx, r.Thread, err.Error())
	if r.marker.Attempt >= review.MaxAttempts {
		return r.give(ctx, why)
	}
	r.marker.Reason = thread.Clip(why)
	if err := r.record().Release(ctx, review.AgainText(r.Snap.Pull, r.marker)); err != nil {
		return nil, err
	}
	ended := thread.End(model.ResultFailed, "review of pull request %d, attempt %d of %d: %s", r.Event.Number, r.marker.Attempt, review.MaxAttempts, why)
	if late != nil {
		ended = thread.OutOfTime(r.Thread)
	} else if agent.Starved(err) {
		ended.Result = model.ResultRetry
	}
	r.Memory.Reviewed = map[string]*thread.Stop{r.marker.Claim: ended} // the next attempt is another run's
	return ended, nil
}

// untry takes an attempt back that was none of the reviewer's.
func (r *round) untry() {
	r.marker.Attempt--
	r.marker.Charge(-1, 0)
}

// give ends a review that there will not be.
func (r *round) give(ctx context.Context, why string) (*thread.Stop, error) {
	r.marker.State, r.marker.Reason = model.ReviewFailed, thread.Clip(why)
	if err := r.record().Write(ctx, review.FailedText(r.Snap.Pull, r.marker)); err != nil {
		return nil, err
	}
	return thread.End(model.ResultFailed, "pull request %d was not reviewed: %s", r.Event.Number, why), takeOff(ctx, r.Pull)
}

// done ends a review that is posted there, unless that failed.
func (r *round) done(ctx context.Context, url string, err error) (*thread.Stop, error) {
	if err != nil {
		return nil, err
	}
	r.marker.State, r.marker.Reason = model.ReviewDone, ""
	if err := r.record().Write(ctx, review.DoneText(r.Snap.Pull, r.marker, url)); err != nil {
		return nil, err
	}
	return thread.End(model.ResultDone, "pull request #%d was reviewed at %s", r.Event.Number, markdown.Short(r.marker.Head)), takeOff(ctx, r.Pull)
}

// record is the comment of the review. Its first paragraph says who asked.
func (r *round) record() thread.Record {
	heading, _, _ := strings.Cut(r.text, "\n\n")
	return thread.Record{
		Thread: r.Thread, Comment: &r.comment, Marker: &r.marker, Kind: journal.KindReview, Token: thread.CommandToken(r.marker.Command),
		About: about(r.Pull), Heading: heading + "\n\n", Term: term(r.Pull),
	}
}
