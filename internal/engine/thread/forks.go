package thread

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ForkFacts are what the next step with a fork's pull request hangs on.
func ForkFacts(t *Thread, operator func(login string) bool) external.Facts {
	s := t.Settings
	return external.Facts{Pull: t.Snap.Pull, State: t.State, Operator: operator, Policy: external.Policy{
		Enabled: s.External.Enabled, Label: s.External.Label, Ignore: s.Labels.Ignore, Fix: len(s.External.Fix) > 0,
		MaxRounds: s.Feedback.RepairRounds, MaxAttempts: turn.MaxAttempts,
	}}
}

// MayLetIn says that somebody may let a pull request in.
func (t *Thread) MayLetIn(login string) bool {
	return t.Operators.Role(login, t.Memory.Rights[strings.ToLower(login)]) == command.Operator
}

// AskHost asks for the rights of whoever put the label on.
func AskHost(ctx context.Context, t *Thread) error {
	change, labelled := t.Snap.Pull.LabelledBy(t.Settings.External.Label)
	login := strings.ToLower(change.By.Login)
	if _, known := t.Memory.Rights[login]; known || !labelled || login == "" || change.By.Bot || t.Operators.Listed(login) {
		return nil
	}
	return t.Ask(ctx, []string{login})
}

// AskBranch asks when the branch of a fork was pushed to, where another one may have been since the label was put on. A newest push
// that did not bring the head tells nothing: GitHub may not show the next one yet.
func AskBranch(ctx context.Context, t *Thread) error {
	p, said := &t.Snap.Pull, t.State.External()
	change, labelled := p.LabelledBy(t.Settings.External.Label)
	handled := said != nil && said.Marker.At.Equal(change.At)
	if !labelled || handled || !t.MayLetIn(change.By.Login) || p.Fork == (model.Repo{}) || p.ForkPushedAt.Before(change.At.Truncate(time.Second)) {
		return nil
	}
	pushes, err := t.GitHub.Refs.Pushes(ctx, p.Fork, p.HeadRef)
	if gh := (*github.Error)(nil); errors.As(err, &gh) && (gh.Kind == github.NotFound || gh.Kind == github.Forbidden) {
		return nil // a fork that the token may not see
	}
	if err == nil && len(pushes) > 0 && pushes[0].After == p.HeadSHA {
		p.ForkPushedAt = pushes[0].At
	}
	return err
}
