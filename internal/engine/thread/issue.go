package thread

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

// Everybody is who has a right as long as nobody was asked about it.
func Everybody(string) bool { return true }

// IssueFacts are what the last reading tells of the issue, as far as the next step hangs on it.
func IssueFacts(t *Thread, pulls []model.PullRef, queued int, may func(string) bool) flow.Facts {
	return flow.Facts{Issue: *t.Snap.Thread, State: t.State, Labels: LabelsOf(t.Settings.Labels), Queued: queued, May: may, Pulls: pulls}
}

// MarkItem notes on an issue that it is ours and for which item of which roadmap, by the end of its body.
func MarkItem(t *Thread, i *model.Issue) {
	if i == nil || !i.Ours && !IsTrusted(t, i.Author) {
		return
	}
	if m, ok := t.Codec.Item(i.Body, t.Event.Repo); ok {
		i.Item, i.Roadmap = m.Key, m.Number
	}
}

// IsTrusted says that the settings name an account as ours.
func IsTrusted(t *Thread, a model.Actor) bool {
	return slices.ContainsFunc(Trusted(t), func(l string) bool { return strings.EqualFold(l, a.Login) })
}
