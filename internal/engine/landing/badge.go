package landing

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// settle waits for GitHub to show a pull request as merged. What it does not show in that time stays open and is settled later,
// since what is closed would never be shown as merged; what GitHub cannot show is closed.
func settle(ctx context.Context, g *merger, m *member) error {
	if m.Snap.Pull.State == model.PullMerged { // which was seen when it landed
		return nil
	}
	limit := badgeLimit
	never := merge.NeverShown(m.way.Strategy, m.Snap.Pull)
	if never {
		limit = 0
	}
	now, ok, err := m.GitHub.Pulls.Await(ctx, m.Event.Repo, m.Event.Number, limit, func(now model.PullNow) bool { return now.State != model.PullOpen })
	switch {
	case err != nil:
		return err
	case ok && now.State == model.PullMerged:
		m.Snap.Pull.State = model.PullMerged
	case ok:
		m.closed = true
	case !slices.Contains(append(requestOf(g, m).Tips(), m.is.Head, m.is.Tip), now.HeadSHA):
		m.notes = append(m.notes, merge.MoreCommits(now.HeadSHA))
	case never:
		_, err = m.Apply(ctx, effect.Close(m.Event.Number, closing(g.marker, m.is.Repo)))
		m.closed = err == nil
	default:
		m.badge = g.ServerNow().UTC().Truncate(time.Second)
	}
	return err
}

// closing names the closing of a pull request that has landed.
func closing(m model.MergeMarker, repo string) string { return journal.Token("close", m.Command, repo) }

// settleBadges ends the waiting for GitHub's badge where GitHub shows it, somebody has closed the pull request, more commits
// came, or the time for it is over. Until then there is nothing else to be done: an answer of an agent would move the head away
// from what landed.
func settleBadges(ctx context.Context, p *Request) error {
	for _, said := range slices.Clone(p.State.Merges) { // which are read again below
		if said.Marker.Badge.IsZero() {
			continue
		}
		if err := settleBadge(ctx, p, said); err != nil {
			return err
		}
	}
	return nil
}

func settleBadge(ctx context.Context, p *Request, said model.Posted[model.MergeMarker]) error {
	g, k, pull, m := newMerger(p, said), said.Marker, p.Snap.Pull, &member{}
	if pull.State == model.PullOpen && merge.Waits(k, pull.HeadSHA) {
		if !merge.BadgeOver(k, p.ServerNow()) {
			if now := p.State.Merge(); now.Marker.Open() { // asked for again: that says how it stands
				return nil
			}
			return thread.End(model.ResultNothing, "pull request %d has landed, but GitHub does not show it as merged yet", p.Event.Number)
		}
		if _, err := p.Apply(ctx, effect.Close(p.Event.Number, closing(k, p.Event.Repo.String()))); err != nil {
			return err
		}
		pull.State = model.PullClosed
	}
	if pull.State == model.PullMerged {
		if err := thread.ReadMergeFacts(ctx, p.Thread); err != nil {
			return err
		}
		m = self(g, merge.Way{Strategy: k.Strategy})
		tidy(ctx, g, m)
	}
	g.marker.Badge = time.Time{}
	comment := requested(g)
	if k.Leader != "" {
		comment.Token = memberToken(k)
	}
	if err := comment.Write(ctx, merge.BadgeSettled(g.text, pull, k, m.notes)); err != nil {
		return err
	}
	return p.Read(ctx)
}
