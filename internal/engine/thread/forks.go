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

// ForkFacts gathers the facts on which the next step with a fork's pull request depends.
func ForkFacts(t *Thread, operator func(login string) bool) external.Facts {
	s := t.Settings
	return external.Facts{Pull: t.Snap.Pull, State: t.State, Operator: operator, Policy: external.Policy{
		Enabled: s.External.Enabled, Label: s.External.Label, Ignore: s.Labels.Ignore, Fix: len(s.External.Fix) > 0,
		MaxRounds: s.Feedback.RepairRounds, MaxAttempts: turn.MaxAttempts,
	}}
}

// MayLetIn reports whether somebody may accept a fork's pull request.
func (t *Thread) MayLetIn(login string) bool {
	return t.Operators.Role(login, t.Memory.Rights[strings.ToLower(login)]) == command.Operator
}

// AskHost asks GitHub for the rights of the person who added the label of a fork's pull request.
func AskHost(ctx context.Context, t *Thread) error {
	change, labelled := t.Snap.Pull.LabelledBy(t.Settings.External.Label)
	login := strings.ToLower(change.By.Login)
	if _, known := t.Memory.Rights[login]; known || !labelled || login == "" || change.By.Bot || t.Operators.Listed(login) {
		return nil
	}
	return t.Ask(ctx, []string{login})
}

// AskBranch asks when a fork's branch was pushed to, if that may have happened since the label was added. If the newest push did
// not bring the head, it tells nothing, since GitHub may not show the next push yet.
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
