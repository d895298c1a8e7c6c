package landing

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// A request with strategy github-queue goes through GitHub's own merge queue, which tests and merges. Where it stands is read
// again in each run. The marker knows the newest exit from the queue before the request went in, so that a run that died between
// its words and GitHub's answer leaves nothing unknown.

// readQueue reads where the pull request stands in the merge queue, once in a run.
func readQueue(ctx context.Context, p *Request) error {
	if p.queue != nil {
		return nil
	}
	view, err := p.GitHub.Threads.Queue(ctx, p.Event.Repo, p.Event.Number)
	if err == nil {
		p.queue = &view
	}
	return err
}

// queueing is how a request begins that goes through the merge queue.
func queueing(p *Request, m model.MergeMarker) (model.MergeMarker, string) {
	m.State, m.Reason, m.Detail, m.Looked = model.MergeWaiting, model.CodeQueue, "it joins GitHub's merge queue of "+m.Base, looked(p.Thread, model.CodeQueue)
	m.Queue = &model.QueueMark{After: exitID(p.queue)}
	return m, merge.QueueText(p.Snap.Pull, m, *p.queue)
}

// exitID is the id of the newest exit from the queue; "": there is none.
func exitID(now *model.QueueView) string {
	if now.Left == nil {
		return ""
	}
	return now.Left.ID
}

// throughQueue takes a request one step further that goes through the merge queue.
func throughQueue(ctx context.Context, g *merger, v merge.Verdict) (*thread.Stop, error) {
	alone, err := inNoGroup(ctx, g)
	if err == nil && !alone {
		err = &Failure{Failure: merge.QueueAlone()}
	}
	if err != nil {
		return g.ended(ctx, err)
	}
	g.marker.Strategy = v.Way.Strategy
	switch merge.Queued(g.marker, *g.queue, g.Snap.Viewer.Login) {
	case merge.QueueLanded:
		return landedByQueue(ctx, g)
	case merge.QueueOut:
		return g.ended(ctx, &Failure{Failure: merge.QueueFailure(*g.queue.Left)})
	case merge.QueueStay:
		if g.marker.Queue == nil {
			g.marker, _ = queueing(g.Request, g.marker)
		}
		g.marker.Queue.In = true
		return inQueue(ctx, g)
	}
	return enterQueue(ctx, g)
}

// inQueue has the comment say where the request stands.
func inQueue(ctx context.Context, g *merger) (*thread.Stop, error) {
	detail := "it is in GitHub's merge queue of " + g.marker.Base
	if _, err := g.wait(ctx, model.CodeQueue, detail, merge.QueueText(g.Snap.Pull, g.marker, *g.queue)); err != nil {
		return nil, err
	}
	return thread.End(model.ResultNothing, "%s", merge.ShortLine(g.Event.Number, model.CodeQueue, detail)), nil
}

// enterQueue puts the approved head into the queue, once the comment says so.
func enterQueue(ctx context.Context, g *merger) (*thread.Stop, error) {
	if mark := g.marker.Queue; mark == nil || g.marker.Reason != model.CodeQueue || mark.After != exitID(g.queue) {
		marker, text := queueing(g.Request, g.marker)
		g.marker.Queue = marker.Queue
		if _, err := g.wait(ctx, model.CodeQueue, marker.Detail, text); err != nil {
			return nil, err
		}
	}
	_, err := g.Apply(ctx, effect.Enqueue(g.queue.Node, g.marker.Head, g.marker.Base, queueToken("enqueue", g)))
	switch kind := github.KindOf(err); {
	case err == nil:
	case kind == github.Unclear, kind == github.Invalid:
		if err := lookInQueue(ctx, g, err); err != nil {
			return g.ended(ctx, err)
		}
	case kind == github.Forbidden:
		return g.ended(ctx, refusedByGitHub(err))
	default:
		return nil, err
	}
	g.marker.Queue.In = true
	return inQueue(ctx, g)
}

// lookInQueue says what a refusal of the queue, or an unclear answer, was about; nil where the request is in anyway.
func lookInQueue(ctx context.Context, g *merger, refused error) error {
	g.queue = nil
	if err := readQueue(ctx, g.Request); err != nil {
		return err
	}
	e := (*github.Error)(nil)
	switch now := g.queue; {
	case merge.Queued(g.marker, *now, g.Snap.Viewer.Login) != merge.QueueEnter:
		return nil
	case now.HeadSHA != g.marker.Head:
		return &Failure{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: "the head is at " + markdown.Short(now.HeadSHA) + " by now"}}
	case github.KindOf(refused) == github.Unclear || !errors.As(refused, &e):
		return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: refused.Error()}}
	}
	return &Failure{Failure: merge.Failure{Code: model.CodeProtected, Detail: "GitHub does not accept it into the merge queue: " + e.Message}}
}

// landedByQueue ends a request that GitHub says it has merged, once it shows the pull request so.
func landedByQueue(ctx context.Context, g *merger) (*thread.Stop, error) {
	if _, _, err := g.GitHub.Pulls.Await(ctx, g.Event.Repo, g.Event.Number, badgeLimit, func(now model.PullNow) bool { return now.State != model.PullOpen }); err != nil {
		return nil, err
	}
	g.MergeFacts = nil
	if err := g.Read(ctx); err != nil {
		return nil, err
	}
	if landed, err := landedBefore(ctx, g); landed || err != nil {
		return g.ended(ctx, err)
	}
	return thread.End(model.ResultRetry, "GitHub's merge queue has merged pull request %d, and GitHub does not show it yet", g.Event.Number), nil
}

// leaveQueue takes a request out of the queue that is no longer to be merged, where it was put there for it: what a person
// has put in stays. The Stop is of a run that comes too late: GitHub has merged it, or no longer lets it out.
func leaveQueue(ctx context.Context, g *merger) (*thread.Stop, error) {
	if g.marker.Queue == nil {
		return nil, nil
	}
	if err := readQueue(ctx, g.Request); err != nil {
		return nil, err
	}
	mine := func() bool { return g.queue.Entry != nil && g.queue.Entry.By.Login == g.Snap.Viewer.Login }
	if mine() {
		_, err := g.Apply(ctx, effect.Dequeue(g.queue.Node, g.marker.Base, queueToken("dequeue", g)))
		if kind := github.KindOf(err); kind == github.Unclear || kind == github.Invalid {
			g.queue = nil
			err = readQueue(ctx, g.Request)
			if err == nil && mine() {
				return thread.End(model.ResultRetry, "GitHub does not let pull request %d out of its merge queue now", g.Event.Number), nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if g.queue.Entry == nil && merge.LandedSince(g.marker.Queue, *g.queue) {
		return landedByQueue(ctx, g)
	}
	g.marker.Queue, g.queue = nil, nil
	return nil, nil
}

func queueToken(what string, g *merger) string {
	return journal.Token(what, g.marker.Command, g.marker.Queue.After)
}

// fromQueue tells what the merge queue has put on the base.
func fromQueue(ctx context.Context, m *member, mark *model.QueueMark) error {
	if err := readQueue(ctx, m.Request); err != nil {
		return err
	}
	m.tests = merge.TestRun{Why: "GitHub's merge queue tested it before it merged it"}
	if !merge.ByQueue(mark, *m.queue) {
		m.tests = merge.TestRun{Why: "GitHub does not report that its merge queue merged it, so somebody may have bypassed the queue"}
	}
	m.is.BaseSHA = m.MergeFacts.BaseRecorded
	return learn(ctx, m)
}
