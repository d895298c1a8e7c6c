package thread

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Comment posts a comment on the pull request or issue, and returns its id. After an unclear answer, find looks for it. If find
// is nil, the token does.
func (t *Thread) Comment(ctx context.Context, token string, b journal.Body, find func() int64) (int64, error) {
	b.Tokens = append(b.Tokens, token)
	body, err := t.Codec.Encode(b)
	if err != nil {
		return 0, err
	}
	made, err := t.Apply(ctx, effect.Comment(t.Event.Number, token, body, find))
	if err == nil {
		record, _ := b.Marker.(model.Leased)
		request, _ := b.Marker.(model.MergeMarker)
		passing := record != nil && record.Open() || request.State == model.MergeRunning
		t.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", t.Event.Number), Text: b.Text, Passing: passing})
	}
	return made.ID, err
}

// MaxReason is the number of bytes that a marker holds of a reason. The comment has the whole text.
const MaxReason = 2000

// Clip shortens a text that is too long for a marker.
func Clip(text string) string {
	if len(text) <= MaxReason {
		return text
	}
	return strings.ToValidUTF8(text[:MaxReason], "") + " […]"
}

// SayOnce posts a comment, unless one with its token is there, and reads the thread again. If another run posted the same at the
// same time, the first one stays.
func SayOnce(ctx context.Context, t *Thread, token string, body journal.Body) error {
	if t.State.Tokens[token] != 0 {
		return nil
	}
	if _, err := t.Comment(ctx, token, body, nil); err != nil {
		return err
	}
	return ReadAgain(ctx, t)
}

// ReadAgain reads the thread after a comment was posted. If another run posted the same at the same time, the first one stays. If
// effects are only planned, it asks GitHub for nothing but a branch.
func ReadAgain(ctx context.Context, t *Thread) error {
	was, read := t.unchanged, t.ReadAt
	if t.Effects != nil && !was.ReadAt.IsZero() && (t.Branch == "" || was.Branch != nil && was.Branch.Name == t.Branch) {
		Take(t, t.Effects.Overlay(was, t.Event.Repo, t.Event.Number))
		t.ReadAt = read
	} else if err := t.Read(ctx); err != nil {
		return err
	}
	return Tidy(ctx, t)
}

// Remove deletes a comment of ours. It is no error if the comment is already gone.
func (t *Thread) Remove(ctx context.Context, id int64, token string) error {
	if _, err := t.Apply(ctx, effect.Delete(id, token)); err != nil {
		return err
	}
	Forget(t, id)
	return nil
}

// Forget removes a deleted comment from what this run remembers.
func Forget(t *Thread, id int64) {
	t.Memory.Comments = slices.DeleteFunc(slices.Clone(t.Memory.Comments), func(c model.Comment) bool {
		return c.Kind == model.KindIssue && c.ID == id
	})
}

// Say adds a posted text to the report. A dry run adds nothing, since nothing was posted.
func (t *Thread) Say(s model.Saying) {
	if t.Effects == nil {
		t.Report.Said = append(t.Report.Said, s)
	}
}

// Replied reports whether there is a reply with this token, and returns its address if that was read.
func Replied(t *Thread, token string) (url string, found bool) {
	r := subject{t}.Said(model.KindReview, token)
	return r.URL, r.Present
}
