package landing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// cancel ends a request that an operator has taken back, and that no run is at.
func cancel(ctx context.Context, g *merger) (*thread.Stop, error) {
	by := g.marker.Detail
	if g.marker.State == model.MergeRunning {
		return nil, cancelGroup(ctx, g, by)
	}
	if away, err := leaveQueue(ctx, g); away != nil || err != nil {
		return away, err
	}
	g.marker.State = model.MergeFailed
	return nil, g.edit(ctx, merge.CancelText(g.Snap.Pull, g.marker, by))
}

// cancelGroup ends the request of a group that was taken back once a run had begun to land it. What has landed stays, and is told
// as landed. A member that cannot be read is told nothing.
func cancelGroup(ctx context.Context, g *merger, by string) error {
	live, err := thread.MergeAtWork(ctx, g.Thread, model.Posted[model.MergeMarker]{CommentID: g.comment, Marker: g.marker})
	if err != nil {
		return err
	}
	if live {
		return thread.End(model.ResultRetry, "another run is merging pull request %d", g.Event.Number)
	}
	if err := thread.ReadMergeFacts(ctx, g.Thread); err != nil {
		return err
	}
	if err := gather(ctx, g, wayBegun(g)); err != nil && (!is[*Failure](err) || g.own() == nil) {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	listMembers(g)
	landed := func(m *member) bool { return m.is.Landed != "" }
	for _, m := range g.members {
		if landed(m) || g.isSelf(m) || m.announced(g) == nil {
			continue
		}
		if err := announce(ctx, g, m, model.MergeFailed, model.CodeCancelled, merge.CancelText(m.Snap.Pull, requestOf(g, m), by)); err != nil {
			return err
		}
	}
	g.members = slices.DeleteFunc(g.members, func(m *member) bool { return !landed(m) && !g.isSelf(m) })
	if own := g.own(); landed(own) {
		own.notes = append(own.notes, restCancelled(g, by)...)
		return g.finish(ctx)
	}
	for _, m := range g.members {
		if g.isSelf(m) {
			continue
		}
		if err := settle(ctx, g, m); err != nil {
			return err
		}
		dropBranch(ctx, g, m)
		if err := tellMember(ctx, g, m); err != nil {
			return err
		}
	}
	g.marker.State, g.marker.Reason, g.marker.Detail, g.marker.Expires, g.marker.Claim = model.MergeFailed, model.CodeCancelled, by, time.Time{}, ""
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
