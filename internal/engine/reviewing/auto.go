package reviewing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
	"github.com/mergexo/mergexo/internal/turn"
)

// asking is a review that nobody has given a command for.
type asking struct {
	key, by string
	at      time.Time
	heading string
}

// askByItself begins a review where the settings let a label or a pull request's being ready ask for it, once for each label that
// is put on and once for each pull request that is ready.
func (p *Pull) askByItself(ctx context.Context) (*thread.Stop, error) {
	a, err := p.asks(ctx)
	switch {
	case err != nil || a == nil:
		return nil, err
	case p.knows(a.key):
		return nil, p.takeOff(ctx)
	}
	return p.post(ctx, *a)
}

// asks is what asks for a review without a command; nil: nothing does.
func (p *Pull) asks(ctx context.Context) (*asking, error) {
	if p.Snap.Pull.State != model.PullOpen || p.held() != "" {
		return nil, nil
	}
	switch p.Settings.Review.Auto {
	case config.AutoLabel:
		return p.asksByLabel(ctx)
	case config.AutoReady:
		return p.asksWhenReady(ctx)
	}
	return nil, nil
}

// held says why a review that nobody gave a command for waits; "" where it does not. What the agent's job has paid for is said.
func (p *Pull) held() string {
	if p.handed != nil {
		return ""
	}
	return turn.Held(p.Snap.Pull, p.State, p.Policy)
}

// labelled is what put the label on that asks for a review.
func (p *Pull) labelled() (a asking, on bool) {
	if p.Settings.Review.Auto != config.AutoLabel {
		return a, false
	}
	change, on := external.LabelledBy(p.Snap.Pull, p.Settings.Review.Label)
	if !on || change.By.Bot || change.By.Login == "" {
		return a, false
	}
	return asking{
		key: journal.Token("review_auto", change.Label, change.By.Login, change.At.UTC().Format(time.RFC3339)), by: change.By.Login, at: change.At,
		heading: fmt.Sprintf("**Review** requested by the label `%s`, which %s added", markdown.Code(change.Label), markdown.Plain(change.By.Login)),
	}, true
}

// asksByLabel asks in the name of the operator who has put the label on.
func (p *Pull) asksByLabel(ctx context.Context) (*asking, error) {
	a, on := p.labelled()
	if !on {
		return nil, nil
	}
	if p.knows(a.key) {
		return &a, nil
	}
	login := strings.ToLower(a.by)
	if _, known := p.Memory.Rights[login]; !known {
		if err := p.Ask(ctx, []string{login}); err != nil {
			return nil, err
		}
	}
	if p.Operators.Role(login, p.Memory.Rights[login]) != command.Operator {
		p.Log.Info("label_by_no_operator", "pr_number", p.Event.Number, "login", login)
		return nil, nil
	}
	return &a, nil
}

// asksWhenReady asks for the review of a pull request of somebody who may write, when it is opened or is no longer a draft.
func (p *Pull) asksWhenReady(ctx context.Context) (*asking, error) {
	pull, ev := p.Snap.Pull, p.Event
	ready := ev.Name == "pull_request" && (ev.Action == "opened" || ev.Action == "ready_for_review") || ev.Name == "schedule" && thread.ReadyLately(pull, p.ServerNow())
	a := asking{
		key: thread.ReadyToken(ev.Number), by: pull.Author.Login, at: pull.CreatedAt,
		heading: "**Review**, because the pull request is ready",
	}
	if !ready || pull.Draft || pull.Author.Bot || p.knows(a.key) {
		return nil, nil
	}
	login := strings.ToLower(pull.Author.Login)
	if _, known := p.Memory.Rights[login]; !known {
		if err := p.Ask(ctx, []string{login}); err != nil {
			return nil, err
		}
	}
	if p.Memory.Rights[login] < model.PermissionWrite {
		return nil, nil
	}
	return &a, nil
}

// knows says that a review was begun for what asks for it.
func (p *Pull) knows(key string) bool {
	return slices.ContainsFunc(p.State.Reviews, func(s model.Posted[model.ReviewMarker]) bool { return s.Marker.Command == key })
}

// post begins the review, or says why there is none, and claims it: of two runs the first comment counts.
func (p *Pull) post(ctx context.Context, a asking) (*thread.Stop, error) {
	why, err := p.refuse(ctx)
	if err != nil {
		return nil, err
	}
	m := p.opening(a.key, a.by, a.at)
	text := review.RunningText(p.Snap.Pull, m, p.adapter())
	if why != "" {
		m.State, m.Reason, m.Spent, m.Own, m.Claim, m.Expires = model.ReviewFailed, why, nil, nil, "", time.Time{}
		text = why
	} else {
		p.part().begin(&m)
	}
	body := journal.Body{Text: a.heading + "\n\n" + text, Kind: journal.KindReview, Marker: m}
	if _, err := p.Comment(ctx, thread.CommandToken(a.key), body, effect.Mark{}); err != nil {
		return nil, err
	}
	if err := p.Read(ctx); err != nil {
		return nil, err
	}
	if err := p.Tidy(ctx); err != nil {
		return nil, err
	}
	if why != "" {
		return thread.End(model.ResultNothing, "pull request %d is not reviewed: %s", p.Event.Number, why), p.takeOff(ctx)
	}
	return p.Continue(ctx)
}

// takeOff takes the label off once what it asked for has its end.
func (p *Pull) takeOff(ctx context.Context) error {
	a, on := p.labelled()
	if !on || !p.knows(a.key) {
		return nil
	}
	_, err := p.Apply(ctx, effect.Unlabel{Number: p.Event.Number, Label: p.Settings.Review.Label, Token: journal.Token("review_label", a.key)})
	return err
}
