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

// Everybody is who has a right as long as nobody was asked about it.
func Everybody(string) bool { return true }

// IssueFacts are what the last reading tells of the issue, as far as the next step hangs on it. queue is what is pending.
func IssueFacts(t *Thread, pulls []model.PullRef, queue []model.Comment, may func(string) bool) flow.Facts {
	return flow.Facts{
		Issue: *t.Snap.Issue(), State: t.State, Labels: LabelsOf(t.Settings.Labels), Queued: len(queue), Untold: len(Untold(t, queue)),
		May: may, Pulls: pulls, Now: t.Snap.ReadAt,
	}
}

// RedirectToken names what tells the author of a comment on an issue where the work goes on. An edit does not change it.
func RedirectToken(number int, c model.Comment) string {
	return journal.Token("redirect", strconv.Itoa(number), strconv.FormatInt(c.ID, 10))
}

// Untold are the comments on an issue whose authors were not told where the work goes on.
func Untold(t *Thread, comments []model.Comment) []model.Comment {
	return slices.DeleteFunc(slices.Clone(comments), func(c model.Comment) bool { return t.State.Tokens[RedirectToken(t.Event.Number, c)] != 0 })
}

// MarkItem notes on an issue that it is ours and for which item of which roadmap, by the end of a text. That of a thread is the one
// that the issue was opened with: whoever may edit the body makes no item of it, and takes none away.
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

// MayStart says that somebody has the right to set an agent to work, as far as it was asked for.
func MayStart(t *Thread, login string) bool { return MaySetOff(t.Policy, t.Memory.Rights, login) }

// MaySetOff is MayStart by these rights.
func MaySetOff(p turn.Policy, rights map[string]model.Permission, login string) bool {
	if len(p.AllowedUsers) > 0 {
		return model.Named(p.AllowedUsers, login)
	}
	return rights[strings.ToLower(login)] >= model.PermissionWrite
}

// Untouched says that an item of a roadmap is as it was opened, but for what people changed who may set an agent to work.
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

// IsTrusted says that the settings name an account as ours.
func IsTrusted(t *Thread, a model.Actor) bool {
	return model.Named(Trusted(t), a.Login)
}
