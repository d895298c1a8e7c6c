package thread

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Everybody reports true for every login. It stands in for rights that were not asked for yet.
func Everybody(string) bool { return true }

// IssueFacts gathers the facts on which the next step with an issue depends, from what was read last. queue is the pending
// feedback.
func IssueFacts(t *Thread, pulls []model.PullRef, queue []model.Comment, may func(string) bool) flow.Facts {
	return flow.Facts{
		Issue: *t.Snap.Issue(), State: t.State, Labels: LabelsOf(t.Settings.Labels), Queued: len(queue), Untold: len(Untold(t, queue)),
		May: may, Pulls: pulls, Now: t.Snap.ReadAt,
	}
}

// RedirectToken returns the token of the comment that tells the author of c where the work continues. An edit does not change it.
func RedirectToken(number int, c model.Comment) string {
	return journal.Token("redirect", strconv.Itoa(number), strconv.FormatInt(c.ID, 10))
}

// Untold returns the comments whose authors were not told yet where the work continues.
func Untold(t *Thread, comments []model.Comment) []model.Comment {
	return slices.DeleteFunc(slices.Clone(comments), func(c model.Comment) bool { return t.State.Tokens[RedirectToken(t.Event.Number, c)] != 0 })
}

// MarkItem notes on an issue of ours to which item of which roadmap it belongs, by the marker at the end of text. Pass the text
// with which the issue was opened. So nobody makes an issue an item, or stops it from being one, by an edit of its body.
func MarkItem(t *Thread, i *model.Issue, text string) {
	if !i.Ours && !IsTrusted(t, i.Author) {
		return
	}
	switch m, ok := t.Codec.Item(text, Scope(t)); {
	case ok:
		i.Item, i.Roadmap = m.Key, m.Number
	case m.Repo != "":
		t.State.NoteElsewhere(m.Repo)
	}
}

// MayStart reports whether somebody may start an agent, by the rights that are known.
func MayStart(t *Thread, login string) bool { return MaySetOff(t.Policy, t.Memory.Rights, login) }

// MaySetOff reports whether somebody may start an agent, by these rights.
func MaySetOff(p turn.Policy, rights map[string]model.Permission, login string) bool {
	if len(p.AllowedUsers) > 0 {
		return model.Named(p.AllowedUsers, login)
	}
	return rights[strings.ToLower(login)] >= model.PermissionWrite
}

// Untouched reports whether an item of a roadmap is as it was opened. Changes by people who may start an agent do not count.
func Untouched(ctx context.Context, t *Thread) (bool, error) {
	var ask []string
	if len(t.Policy.AllowedUsers) == 0 {
		ask = flow.Editors(*t.Snap.Issue())
	}
	if err := t.Ask(ctx, ask); err != nil {
		return false, err
	}
	ok, _ := flow.Untouched(*t.Snap.Issue(), func(login string) bool { return MayStart(t, login) })
	return ok, nil
}

// IsTrusted reports whether the settings name an account as one of ours.
func IsTrusted(t *Thread, a model.Actor) bool {
	return model.Named(Trusted(t), a.Login)
}
