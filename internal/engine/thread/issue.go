package thread

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

// Everybody is who has a right as long as nobody was asked about it.
func Everybody(string) bool { return true }

// IssueFacts are what the last reading tells of the issue, as far as the next step hangs on it.
func IssueFacts(t *Thread, pulls []model.PullRef, queued int, may func(string) bool) flow.Facts {
	return flow.Facts{Issue: *t.Snap.Issue(), State: t.State, Labels: LabelsOf(t.Settings.Labels), Queued: queued, May: may, Pulls: pulls, Now: t.Snap.ReadAt}
}

// MarkItem notes on an issue that it is ours and for which item of which roadmap, by the end of a text. That of a thread is the one
// that the issue was opened with: whoever may edit the body makes no item of it, and takes none away.
func MarkItem(t *Thread, i *model.Issue, text string) {
	if !i.Ours && !IsTrusted(t, i.Author) {
		return
	}
	if m, ok := t.Codec.Item(text, t.Event.Repo); ok {
		i.Item, i.Roadmap = m.Key, m.Number
	}
}

// MayStart says that somebody has the right to set an agent to work, as far as it was asked for.
func MayStart(t *Thread, login string) bool {
	if allowed := t.Policy.AllowedUsers; len(allowed) > 0 {
		return slices.ContainsFunc(allowed, func(l string) bool { return strings.EqualFold(l, login) })
	}
	return t.Memory.Rights[strings.ToLower(login)] >= model.PermissionWrite
}

// Untouched says that an item of a roadmap is as it was opened, but for what people changed who may set an agent to work.
func Untouched(ctx context.Context, t *Thread) (bool, error) {
	var ask []string
	for _, login := range flow.Editors(*t.Snap.Issue()) {
		if _, known := t.Memory.Rights[login]; !known && len(t.Policy.AllowedUsers) == 0 {
			ask = append(ask, login)
		}
	}
	if err := t.Ask(ctx, ask); err != nil {
		return false, err
	}
	ok, _ := flow.Untouched(*t.Snap.Issue(), func(login string) bool { return MayStart(t, login) })
	return ok, nil
}

// IsTrusted says that the settings name an account as ours.
func IsTrusted(t *Thread, a model.Actor) bool {
	return slices.ContainsFunc(Trusted(t), func(l string) bool { return strings.EqualFold(l, a.Login) })
}
