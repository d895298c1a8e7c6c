package thread

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// mostHidden is how many comments are hidden at once. The next run hides the others.
const mostHidden = 20

// hideEnded hides our comments that are out of date, in one call, and has the first line of each say so. If GitHub refuses, they stay as
// they are.
func hideEnded(ctx context.Context, t *Thread) error {
	if t.Survey != nil { // no sweep comes for that alone: GitHub may refuse it
		return nil
	}
	var ids []int64
	var list []github.Minimized
	for _, e := range t.State.Ended {
		at := conversation(t, e.CommentID)
		if at < 0 || e.CommentID == t.ClaimID || t.Snap.Comments[at].NodeID == "" || slices.Contains(ids, e.CommentID) || len(ids) == mostHidden {
			continue
		}
		c := &t.Snap.Comments[at]
		over := github.Minimized{Node: c.NodeID}
		// An edit by another account than the author's would have the marker distrusted.
		if body, changed := turn.EndedBody(c.Body, e); changed && strings.EqualFold(c.Author.Login, t.Snap.Viewer.Login) {
			over.Body = body
		}
		ids, list = append(ids, e.CommentID), append(list, over)
	}
	if t.State.Ended = nil; len(ids) == 0 {
		return nil
	}
	_, err := t.Apply(ctx, effect.Minimize("", ids, list))
	if refused := (*github.Error)(nil); errors.As(err, &refused) && ctx.Err() == nil {
		t.Log.Warn("comments_not_hidden", t.NumberKey(), t.Event.Number, "comments", ids, "error", err)
		err = nil
	}
	remember(t, ids, list)
	return err
}

// Replace replaces the body of a comment of ours. With hide, the same call also hides the comment. If GitHub refuses that, the
// comment is only edited.
func Replace(ctx context.Context, t *Thread, id int64, token, body string, hide bool) error {
	if at := conversation(t, id); hide && at >= 0 && t.Snap.Comments[at].NodeID != "" {
		list := []github.Minimized{{Node: t.Snap.Comments[at].NodeID, Body: body}}
		_, err := t.Apply(ctx, effect.Minimize(token, []int64{id}, list))
		if refused := (*github.Error)(nil); !errors.As(err, &refused) || ctx.Err() != nil {
			remember(t, []int64{id}, list)
			return err
		}
	}
	_, err := t.Apply(ctx, effect.Edit(id, token, body))
	return err
}

// conversation returns the index of a conversation comment in the snapshot; -1 if it is not there.
func conversation(t *Thread, id int64) int {
	return slices.IndexFunc(t.Snap.Comments, func(c model.Comment) bool { return c.Kind == model.KindIssue && c.ID == id })
}

// remember notes hidden comments in the run's memory. GitHub does not count hiding as an update, so this run will not read them again.
func remember(t *Thread, ids []int64, list []github.Minimized) {
	t.Memory.Comments = slices.Clone(t.Memory.Comments)
	for i, c := range t.Memory.Comments {
		if at := slices.Index(ids, c.ID); at >= 0 && c.Kind == model.KindIssue {
			if t.Memory.Comments[i].Minimized = true; list[at].Body != "" {
				t.Memory.Comments[i].Body = list[at].Body
			}
		}
	}
}
