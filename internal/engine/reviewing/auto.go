package reviewing

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
	"github.com/mergexo/mergexo/internal/turn"
)

// askByItself begins a review where the settings let a label or a pull request's being ready ask for it, once for each label that
// is put on and once for each pull request that is ready.
func askByItself(ctx context.Context, p *Pull) (*thread.Stop, error) {
	a, err := asks(ctx, p)
	switch {
	case err != nil || a == nil:
		return nil, err
	case knows(p, a.Key):
		return nil, takeOff(ctx, p)
	}
	return p.post(ctx, *a)
}

// asks returns the request for a review that needs no command: an operator's label, or a pull request that is ready; nil for none.
func asks(ctx context.Context, p *Pull) (*thread.Asking, error) {
	if p.Snap.Pull.State != model.PullOpen || held(p) != "" {
		return nil, nil
	}
	if p.Settings.Review.Auto == config.AutoReady {
		return asksWhenReady(ctx, p)
	}
	a, on := labelled(p)
	if !on {
		return nil, nil
	}
	if may, err := thread.MayAsk(ctx, p.Thread, a); !may && !knows(p, a.Key) || err != nil {
		return nil, err
	}
	return &a, nil
}

// held says why a review that nobody gave a command for waits; "" where it does not. What the agent's job has paid for is said.
func held(p *Pull) string {
	if p.handed != nil {
		return ""
	}
	return turn.Held(p.Snap.Pull, p.State, p.Policy)
}

// labelled is what put the label on that asks for a review.
func labelled(p *Pull) (thread.Asking, bool) {
	a, on := thread.LabelAsks(p.Thread, p.Settings.Review.Label, "review_auto", "Review")
	return a, on && p.Settings.Review.Auto == config.AutoLabel
}

// asksWhenReady asks for the review of a pull request of somebody who may write, when it is opened or is no longer a draft.
func asksWhenReady(ctx context.Context, p *Pull) (*thread.Asking, error) {
	pull, ev := p.Snap.Pull, p.Event
	ready := ev.Name == "pull_request" && (ev.Action == "opened" || ev.Action == "ready_for_review") || ev.Name == "schedule" && thread.ReadyLately(pull, p.ServerNow())
	a := thread.Asking{
		Key: thread.ReadyToken(ev.Number), By: pull.Author.Login, At: pull.CreatedAt,
		Heading: "**Review**, because the pull request is ready",
	}
	if !ready || pull.Draft || pull.Author.Bot || knows(p, a.Key) {
		return nil, nil
	}
	login := strings.ToLower(pull.Author.Login)
	if err := p.Ask(ctx, []string{login}); err != nil {
		return nil, err
	}
	if p.Memory.Rights[login] < model.PermissionWrite {
		return nil, nil
	}
	return &a, nil
}

// knows says that a review was begun for what asks for it.
func knows(p *Pull, key string) bool {
	return slices.ContainsFunc(p.State.Reviews, func(s model.Posted[model.ReviewMarker]) bool { return s.Marker.Command == key })
}

// post begins the review, or says why there is none, and claims it: of two runs the first comment counts.
func (p *Pull) post(ctx context.Context, a thread.Asking) (*thread.Stop, error) {
	why, err := refuse(ctx, p)
	if err != nil {
		return nil, err
	}
	m := opening(p, a.Key, a.By, a.At)
	text := review.RunningText(p.Snap.Pull, m, adapter(p))
	if why != "" {
		m.State, m.Reason, m.Spent, m.Own = model.ReviewFailed, why, nil, nil
		text = why
	} else if !p.Phase.RunsAgent() && collect(p, true) {
		sign(p, &m)
	}
	r := &round{Pull: p, text: a.Heading + "\n\n", marker: m}
	if err := r.record().Claim(ctx, text); err != nil {
		return nil, err
	}
	if why != "" {
		return thread.End(model.ResultNothing, "pull request %d is not reviewed: %s", p.Event.Number, why), takeOff(ctx, p)
	}
	return p.Continue(ctx)
}

// takeOff takes the label off once what it asked for has its end.
func takeOff(ctx context.Context, p *Pull) error {
	a, on := labelled(p)
	if !on || !knows(p, a.Key) {
		return nil
	}
	_, err := p.Apply(ctx, effect.Unlabel(p.Event.Number, p.Settings.Review.Label, journal.Token("review_label", a.Key)))
	return err
}
