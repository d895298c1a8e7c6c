package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// cancel ends a request that an operator has taken back, and that no run is at.
func cancel(ctx context.Context, g *merger) (*thread.Stop, error) {
	if g.marker.State == model.MergeRunning {
		if len(g.marker.Members) > 0 {
			return cancelGroup(ctx, g)
		}
		if err := atRest(ctx, g); err != nil {
			return nil, err
		}
		if done, err := landedBefore(ctx, g); done || err != nil {
			return g.ended(ctx, err)
		}
	}
	by := g.marker.Detail
	g.marker.Expires, g.marker.Claim = time.Time{}, ""
	if away, err := leaveQueue(ctx, g); away != nil || err != nil {
		return away, err
	}
	g.marker.State = model.MergeFailed
	return nil, g.edit(ctx, merge.CancelText(g.Snap.Pull, g.marker, by))
}

// cancelGroup ends the request of a group that was taken back once a run had begun to land it, as soon as it is known what has landed.
func cancelGroup(ctx context.Context, g *merger) (*thread.Stop, error) {
	if err := atRest(ctx, g); err != nil {
		return nil, err
	}
	if err := thread.ReadMergeFacts(ctx, g.Thread); err != nil {
		return nil, err
	}
	err, s := gather(ctx, g, wayBegun(g)), (*Failure)(nil)
	if err != nil && (!errors.As(err, &s) || g.own() == nil) {
		return nil, err
	}
	if part := unread(g); part != nil && s != nil {
		return cancelLater(ctx, g, *part, s)
	}
	return nil, tellCancelled(context.WithoutCancel(ctx), g, g.marker.Detail)
}

// atRest reads the request once more, and ends the run where another one is at it: it may have taken it up since the command was
// answered.
func atRest(ctx context.Context, g *merger) error {
	delete(g.Liveness, g.comment)
	if err := g.Read(ctx); err != nil {
		return err
	}
	now := g.State.Merge()
	if now == nil || now.CommentID != g.comment || now.Marker.State != model.MergeRunning || len(now.Marker.Members) != len(g.marker.Members) {
		return thread.End(model.ResultRetry, "the request to merge pull request %d has changed in the meantime", g.Event.Number)
	}
	*g, g.MergeFacts = *newMerger(g.Request, *now), nil
	return YieldToOther(ctx, g.Thread)
}

// unread is the first part of the group that was about to land and that this run could not read; nil for none. It may have landed.
func unread(g *merger) *model.MergeMember {
	for _, is := range g.marker.Members {
		read := func(m *member) bool { return m.is.Repo == is.Repo && m.is.Number == is.Number }
		if is.Tip != "" && is.Landed == "" && !slices.ContainsFunc(g.members, read) {
			return &is
		}
	}
	return nil
}

// cancelLater says that the request ends once this part can be read, where it does not say so already. It stays begun and cancelled,
// so that nothing lands and the next sweep looks again.
func cancelLater(ctx context.Context, g *merger, part model.MergeMember, s *Failure) (*thread.Stop, error) {
	listMembers(g)
	text := merge.CancelWaitsText(g.Snap.Pull, g.marker, part, redact.Text(ctx, g.Thread, s.Detail))
	end := thread.End(model.ResultRetry, "the cancelled request to merge pull request %d ends once %s#%d can be read", g.Event.Number, part.Repo, part.Number)
	if g.text == text {
		return end, nil
	}
	return end, requested(g).Write(ctx, text)
}

// tellCancelled ends the request on all of its pull requests. What has landed stays, and is told as landed.
func tellCancelled(ctx context.Context, g *merger, by string) error {
	listMembers(g)
	own := g.own()
	text := func(m *member) string { return merge.CancelText(m.Snap.Pull, requestOf(g, m), by) }
	if err := tellNotMerged(ctx, g, model.CodeCancelled, text); err != nil {
		return err
	}
	g.members = slices.DeleteFunc(g.members, func(m *member) bool { return m.is.Landed == "" })
	if own.is.Landed != "" {
		own.notes = append(own.notes, restCancelled(g, by)...)
		return g.finish(ctx)
	}
	g.marker.State, g.marker.Reason, g.marker.Detail, g.marker.Expires, g.marker.Claim = model.MergeFailed, model.CodeCancelled, by, time.Time{}, ""
	if err := settleAll(ctx, g); err != nil {
		return err
	}
	return g.edit(ctx, merge.CancelText(g.Snap.Pull, g.marker, by))
}

// restCancelled takes what has not landed out of the group, and tells people which pull requests that is; none for all landed.
func restCancelled(g *merger, by string) []string {
	var left []string
	for _, is := range g.marker.Members {
		if is.Landed == "" {
			left = append(left, fmt.Sprintf("%s#%d", is.Repo, is.Number))
		}
	}
	if len(left) == 0 {
		return nil
	}
	g.marker.Members = slices.DeleteFunc(slices.Clone(g.marker.Members), func(is model.MergeMember) bool { return is.Landed == "" })
	if len(g.marker.Members) == 1 {
		g.marker.Members = nil
	}
	return []string{fmt.Sprintf("%s cancelled the rest: %s.", by, strings.Join(left, ", "))}
}
