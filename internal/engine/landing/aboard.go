package landing

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// aboard is a request to merge that is in the merge train. What it lands stands on what others land, and the repository's own
// CI tests it.
type aboard struct {
	g   *merger
	one *member
}

// aboardOf is the request to merge the pull request, where it is open and of no group, or the try beside it; nil: there is none.
func aboardOf(p *Request) *aboard {
	all := p.State.Requests()
	if len(all) == 0 || all[0].Marker.Leader != "" {
		return nil
	}
	return &aboard{g: newMerger(p, *all[len(all)-1])}
}

// ready evaluates all conditions of the request.
func (a *aboard) ready(ctx context.Context) (merge.Verdict, error) {
	v, err := Ready(ctx, a.g.Request, a.g.marker)
	if err != nil {
		return merge.Verdict{}, err
	}
	a.one = self(a.g, v.Way)
	return v, nil
}

// held is what the request waits for, where that is not its turn in the train; "": nothing.
func (a *aboard) held() string {
	m := a.g.marker
	if m.State != model.MergeWaiting || m.Reason == model.CodeTrain || m.Reason == model.CodeCancelled {
		return ""
	}
	return cmp.Or(m.Detail, string(m.Reason))
}

// build makes the commits of the approved head on top of onto, with the checkout of home, and returns the last one. A *Failure
// says why that cannot be.
func (a *aboard) build(ctx context.Context, home *thread.Thread, onto string) (tip string, err error) {
	if a.one == nil {
		if v, err := a.ready(ctx); err != nil {
			return "", err
		} else if v.Way.Strategy == "" {
			return "", &Failure{Failure: merge.Failure{Code: model.CodeStrategy, Detail: v.Reason}}
		}
	}
	m := a.one
	m.is.BaseSHA = "" // a car that this run built before may have stood on commits that the base does not have yet
	thread.Share(m.Thread, home)
	if err := findMergeBase(ctx, a.g, m); err != nil {
		return "", err
	}
	if err := m.buildOn(ctx, onto); err != nil {
		return "", err
	}
	a.g.marker.Strategy = m.way.Strategy // which the comment takes up as it tells of the car
	return m.made.Tip, nil
}

// conflicts are where the approved head conflicts with a commit, and with what there; nil: it does not, or that cannot be told now.
func (a *aboard) conflicts(ctx context.Context, home *thread.Thread, onto string) *merge.Conflicts {
	_, err := a.build(ctx, home, onto)
	if s := (*Failure)(nil); errors.As(err, &s) && s.conflict != nil {
		return a.one.conflicts(ctx, s.conflict)
	}
	return nil
}

// byGitHub says that GitHub itself merges the request that was built, as the settings have it now.
func (a *aboard) byGitHub() bool { return a.one != nil && model.ByGitHub(a.one.way.Strategy) }

// announce writes down what is about to land of a request, before anything moves.
func (a *aboard) announce(ctx context.Context) error {
	g, m := a.g, a.one
	g.members = []*member{m}
	sign(g.Request, &g.marker)
	k := &g.marker
	k.State, k.Strategy, k.Reason, k.Detail, k.Cause, k.Car = model.MergeRunning, m.way.Strategy, "", "", "", true
	if err := g.record(ctx); err != nil {
		return err
	}
	return lookAgain(ctx, g, g.marker.Claim) // whoever took it back meanwhile has said so in a comment of its own
}

// finish says that the request has landed, and tidies up behind it.
func (a *aboard) finish(ctx context.Context) error {
	g := a.g
	if a.one != nil && a.one.is.Tip != "" {
		a.one.is.Landed = a.one.is.Tip
		g.members = []*member{a.one}
	} else if landed, err := landedBefore(ctx, g); err != nil || !landed {
		return err
	} else if m := g.own(); !m.foreign {
		m.car = &merge.Car{}
	}
	return told(g.finish(ctx))
}

// told leaves out the end of a step that only says how it ended.
func told(err error) error {
	if s := (*thread.Stop)(nil); errors.As(err, &s) {
		return nil
	}
	return err
}

// fail ends the request, which did not land. The Stop is how a run ends that was about it.
func (a *aboard) fail(ctx context.Context, f merge.Failure) (*thread.Stop, error) {
	a.g.tried = true
	end, err := a.g.fail(ctx, &Failure{Failure: f})
	return end, told(err)
}

// say posts a comment in the conversation of the request, unless one with this token is there by now: a run that is over may have
// posted it after this one read the conversation.
func (a *aboard) say(ctx context.Context, token, text string) error {
	if err := a.g.Read(ctx); err != nil {
		return err
	}
	if a.g.State.Tokens[token] != 0 {
		return nil
	}
	_, err := a.g.Thread.Comment(ctx, token, journal.Body{Text: text}, nil)
	return err
}
