package landing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// landedBefore recognizes what is on the base already: a run landed it that died before it could say so, or somebody else
// merged the pull request.
func landedBefore(ctx context.Context, g *merger) (bool, error) {
	merged := g.Snap.Pull.State == model.PullMerged
	if g.marker.State == model.MergeRunning && len(g.marker.Members) > 0 || g.marker.Tip == "" && !merged {
		return false, nil
	}
	if err := thread.ReadMergeFacts(ctx, g.Thread); err != nil {
		return false, err
	}
	way, err := merge.ChooseFor(policy(g.Request), g.Snap.Pull, *g.MergeFacts, g.marker)
	if err != nil { // it has landed, whatever the settings say by now
		way = merge.Way{Strategy: g.marker.Strategy}
	}
	m, k := self(g, way), g.marker
	m.is.BaseSHA, m.is.Tip, m.is.Tree, m.is.Strategy = k.BaseSHA, k.Tip, k.Tree, k.Strategy
	if err := m.landedSince(ctx, k); err != nil || m.is.Landed == "" {
		return false, err
	}
	if m.foreign { // nothing of ours landed
		m.is.Tip, m.is.Tree = "", ""
	}
	g.members = []*member{m}
	return true, nil
}

// mergedByHand notes that somebody else has merged the pull request, as this commit. It is not the tip that was to land.
func mergedByHand(m *member, commit string) {
	m.foreign, m.way, m.is.BaseSHA, m.is.Landed = true, merge.Way{}, "", commit
}

// finish says that everything has landed, and tidies up behind it.
func (g *merger) finish(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	own := g.own()
	k := &g.marker
	k.State, k.Reason, k.Detail, k.Cause, k.Expires, k.Claim = model.MergeDone, "", "", "", time.Time{}, ""
	if err := settleAll(ctx, g); err != nil { // by the tip that the record has
		return err
	}
	k.BaseSHA, k.Tip, k.Tree, k.Landed, k.Strategy, k.Badge = own.is.BaseSHA, own.is.Tip, own.is.Tree, own.is.Landed, own.way.Strategy, own.badge
	listMembers(g)
	if err := g.edit(ctx, merge.DoneText(g.Snap.Pull, *k, landingText(g, own))); err != nil {
		return err
	}
	for _, m := range g.members {
		m.draw(ctx)
	}
	g.Landed = true
	g.Report.Result, g.Report.Reason, g.Report.HeadSHA = model.ResultDone, "", k.Landed
	g.Log.Info("merged", "pr_number", g.Event.Number, "base", k.Base, "landed", k.Landed, "strategy", k.Strategy)
	return thread.End(model.ResultNothing, "pull request %d is merged", g.Event.Number)
}

// settleAll waits until GitHub shows all that has landed, tidies up behind it, and tells those who landed with the request.
func settleAll(ctx context.Context, g *merger) error {
	for _, m := range g.members {
		if err := settle(ctx, g, m); err != nil {
			return err
		}
		tidy(ctx, g, m)
	}
	for _, m := range g.members {
		if !isSelf(g, m) {
			if err := tellMember(ctx, g, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// landingText is what is told of a member that has landed.
func landingText(g *merger, m *member) merge.Landing {
	var fields []string
	if m.way.Strategy == model.StrategyUnion {
		fields = m.way.UnionFields
	}
	unanswered := slices.DeleteFunc(turn.MaySteer(turn.Candidates(m.Snap, m.State, m.Policy), m.Memory.Rights, m.Policy), func(c model.Comment) bool {
		_, asked := m.Memory.Rights[strings.ToLower(c.Author.Login)] // a count is not worth a question about a stranger
		return !c.Kind.Happened() && len(m.Policy.AllowedUsers) == 0 && !asked && !turn.Insider(c)
	})
	return merge.Landing{
		Fields: fields, Unanswered: len(unanswered), Commits: m.made.Commits, More: m.made.Count - len(m.made.Commits), Tests: m.tests, Car: m.car, Foreign: m.foreign, Notes: slices.Concat(steered(m), m.told(), m.notes), Seconds: int(g.Now().Sub(g.began).Round(time.Second).Seconds()), Closed: m.closed, Waits: !m.badge.IsZero(),
	}
}

// steered is what people are told of the files that decide over the repository. Where an earlier run built what landed, it
// is told by what GitHub lists.
func steered(m *member) []string {
	if m.made.Tree != "" && m.div.BaseSHA != "" {
		return m.steers
	}
	return merge.SteeringNotes(m.Snap.Pull.Paths())
}

// plan lists the commits of a member, with its tests and notes.
func plan(m *member) merge.Plan {
	made := m.made
	return merge.Plan{Commits: made.Commits, More: made.Count - len(made.Commits), BaseSHA: m.is.BaseSHA, Tip: made.Tip, Tests: m.tests, Notes: slices.Concat(m.steers, m.told(), m.notes)}
}

// told is what people should know of how the commits were made.
func (m *member) told() []string {
	made := m.made
	notes := slices.Clone(made.Notes)
	if note := m.way.Note("%s"); note != "" && !m.foreign {
		notes = append(notes, note)
	}
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if made.Strategy == merging.SquashReapply {
		say("The commits could not be rebased one by one, so the whole change landed as one commit")
	}
	if made.Signed > 0 {
		say("%s lost its signature", markdown.Count(made.Signed, "commit"))
	}
	for _, c := range made.Evil {
		say("The merge commit %s had changes of its own, which landed too", c.SHA)
	}
	for _, c := range made.Dropped {
		say("%s is left out because the base already had its changes: %s", c.SHA, c.Subject)
	}
	for _, path := range made.BaseWon {
		say("%s conflicted, so the base's version was kept", path)
	}
	return notes
}

// draw adds to the report what the merge did to the history. Without it nothing is wrong.
func (m *member) draw(ctx context.Context) {
	if m.div.MergeBase == "" || len(m.made.Commits) == 0 {
		return
	}
	h := merge.History{Base: m.is.Base, Branch: m.Snap.Pull.HeadRef, Strategy: m.way.Strategy, Fork: m.div.MergeBase}
	var err error
	if h.Before, err = history.List(ctx, m.Checkout, m.div.MergeBase, m.is.BaseSHA); err == nil {
		h.Commits, err = history.List(ctx, m.Checkout, m.div.MergeBase, m.div.HeadSHA)
	}
	if err != nil {
		m.Log.Debug("no_picture", "error", err)
		return
	}
	h.Before = append([]model.Commit{{SHA: m.div.MergeBase}}, h.Before...)
	for _, c := range m.made.Commits {
		h.Landed = append(h.Landed, c.Commit)
	}
	m.Report.Pictures = append(m.Report.Pictures, merge.Picture(h))
}
