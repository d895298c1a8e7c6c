package thread

import (
	"context"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/external"
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
