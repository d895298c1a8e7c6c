package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
)

// requested is the comment of the request.
func requested(g *merger) thread.Record {
	g.marker.Repo, g.marker.Number, g.marker.Detail = g.Event.Repo.String(), g.Event.Number, thread.Clip(g.marker.Detail)
	return thread.Record{
		Thread: g.Thread, Comment: &g.comment, Marker: &g.marker, Kind: journal.KindMerge, Token: thread.CommandToken(g.marker.Command),
		About: fmt.Sprintf("the merge of pull request %d", g.Event.Number), Heading: g.heading + "\n\n", Term: term(g.Request),
	}
}

// edit writes the comment of the request as its marker stands.
func (g *merger) edit(ctx context.Context, text string) error {
	err := requested(g).Write(ctx, text)
	if err == nil {
		g.text = text
	}
	return err
}

// wait says what the request waits for, where it does not say so already.
func (g *merger) wait(ctx context.Context, code model.MergeCode, detail, text string) (*thread.Stop, error) {
	m := &g.marker
	now := looked(g.Thread, code)
	same := m.State == model.MergeWaiting && m.Reason == code && g.text == text && m.Looked == now
	was := m.Claim
	m.Looked = now
	over := !landedInPart(g)
	if over { // who belongs to it is found out again
		m.Members = nil
	}
	m.State, m.Reason, m.Detail, m.Expires, m.Claim = model.MergeWaiting, code, thread.Clip(detail), time.Time{}, ""
	if !same {
		if err := lookAgain(ctx, g, was); err != nil {
			return nil, err
		}
		if over {
			if err := tellNotMerged(ctx, g, model.CodeMember, nothingMerged(detail)); err != nil {
				return nil, err
			}
		}
		if err := g.edit(ctx, text); err != nil {
			return nil, err
		}
	}
	if !g.tried && !g.asked { // nobody waits for this run
		return thread.End(model.ResultNothing, "%s", merge.ShortLine(g.Event.Number, code, detail)), nil
	}
	return g.stopped(code, detail), nil
}

// stopped is how a run ends whose merge did not happen.
func (g *merger) stopped(code model.MergeCode, detail string) *thread.Stop {
	result := merge.Settle(code)
	if code == model.CodeEmpty {
		result = model.ResultNothing
	}
	s := thread.End(result, "%s", merge.ShortLine(g.Event.Number, code, detail))
	s.Merge = true
	if s.Result == model.ResultBlocked {
		s.Block = &model.BlockMarker{Repo: g.Event.Repo.String(), Number: g.Event.Number, Reason: string(code), Observed: g.marker.Head}
		now := thread.PullStatus(g.Thread, nil)
		now.Merge = &model.MergeRequest{
			State: g.marker.State, Reason: code, Head: g.marker.Head, By: g.marker.By, Since: g.ServerNow(), Tip: g.marker.Tip, URL: fmt.Sprintf("%s#issuecomment-%d", g.Snap.Pull.URL, g.comment),
		}
		g.Report.Need = needs.OfPull(now, g.State.External())
	}
	return s
}

// record writes down what is about to land, before anything moves: from here on a head that moves there is our own doing.
func (g *merger) record(ctx context.Context) error {
	k := &g.marker
	own := g.own()
	if own.is.BaseSHA != k.BaseSHA {
		k.Attempt = merge.Attempts(g.State, k.Head, own.is.BaseSHA) + 1
	}
	sum(g)
	listMembers(g)
	if err := g.edit(ctx, merge.RunningText(g.Snap.Pull, *k, g.Settings.Merge.Attempts)); err != nil {
		return err
	}
	for _, m := range g.members {
		if m == own || m.is.Landed != "" {
			continue
		}
		if err := announce(ctx, g, m, model.MergeRunning, "", merge.RunningText(m.Snap.Pull, requestOf(g, m), g.Settings.Merge.Attempts)); err != nil {
			return err
		}
	}
	return nil
}

// sum puts what is about to land into the marker.
func sum(g *merger) {
	for _, m := range g.members {
		if m.is.Landed == "" { // what has landed stays as it is recorded
			m.is.Tip, m.is.Tree, m.is.Strategy = m.made.Tip, m.made.Tree, m.way.Strategy
		}
	}
	k, own := &g.marker, g.own()
	if k.Tip != "" && k.Tip != own.is.Tip && !slices.Contains(k.Was, k.Tip) {
		k.Was = append(k.Was, k.Tip)
	}
	k.BaseSHA, k.Tip, k.Tree = own.is.BaseSHA, own.is.Tip, own.is.Tree
}

func listMembers(g *merger) {
	if all := parts(g); len(all) > 1 {
		g.marker.Members = all
	}
}

// release lets the next run go on at once where this one ends in order, and not at its goal.
func release(ctx context.Context, g *merger, cause error) {
	if !thread.Releases(ctx, cause) || g.lost || g.marker.State != model.MergeRunning || !g.Claims[g.marker.Claim] {
		return
	}
	g.marker.Cause = merge.Cause("", redact.Text(ctx, g.Thread, cause.Error()))
	if err := requested(g).Release(ctx, merge.HaltedText(g.Snap.Pull, g.marker, g.Settings.Merge.Attempts)); err != nil {
		g.Log.Warn("merge_not_released", "pr_number", g.Event.Number, "error", err)
	}
}

// fail says why the request does not go on. What may come right by itself stays open, and so does what has landed in part:
// that is not undone, and the rest can still land.
func (g *merger) fail(ctx context.Context, s *Failure) (*thread.Stop, error) {
	if s.Code == model.CodeHeadMoved && g.marker.Label != "" && !g.marker.ByLabel() { // the label was for another head, which is said of the label
		if away, err := g.Voided(ctx); away != nil || err != nil {
			return away, err
		}
	}
	text := failureText(ctx, g, s)
	if s.waits {
		text = merge.WaitText(g.Snap.Pull, g.marker, s.verdict())
	}
	switch {
	case landedInPart(g):
		if err := lookAgain(ctx, g, g.marker.Claim); err != nil {
			release(ctx, g, err)
			return nil, err
		}
		return g.stopped(s.Code, s.Detail), requested(g).Release(ctx, text)
	case s.waits || s.Code.Retryable() && s.Code != model.CodeHeadMoved:
		return g.wait(ctx, s.Code, s.Detail, text)
	}
	if err := tellNotMerged(ctx, g, model.CodeMember, nothingMerged(s.Detail)); err != nil {
		return nil, err
	}
	if err := lookAgain(ctx, g, g.marker.Claim); err != nil {
		return nil, err
	}
	if g.Snap.Pull.State == model.PullMerged { // another run was faster
		if done, err := landedBefore(ctx, g); err != nil || done {
			return nil, cmp.Or(err, g.finish(ctx))
		}
	}
	if err := bury(ctx, g, s, text); err != nil {
		return nil, err
	}
	return g.stopped(s.Code, s.Detail), nil
}

func nothingMerged(detail string) func(*member) string {
	return func(*member) string { return "Nothing was merged: " + markdown.Plain(detail) + "." }
}

// tellNotMerged says on the pull requests that were told of a merge that it does not happen. They can be asked for alone.
func tellNotMerged(ctx context.Context, g *merger, code model.MergeCode, text func(*member) string) error {
	for _, m := range g.members {
		if said := m.announced(g); isSelf(g, m) || m.is.Landed != "" || said == nil || !said.Marker.Open() {
			continue
		}
		if err := announce(ctx, g, m, model.MergeFailed, code, text(m)); err != nil {
			return err
		}
	}
	return nil
}

// failureText is the text of a failure, with what people need to know of it.
func failureText(ctx context.Context, g *merger, s *Failure) string {
	explain(ctx, g, s)
	s.Detail = redact.Text(ctx, g.Thread, s.Detail)
	cleanRun(ctx, g.Request, s.Tests)
	g.marker.Reason, g.marker.Detail, g.marker.Unstarted = s.Code, thread.Clip(s.Detail), s.Tests != nil && s.Tests.Unstarted() != ""
	if g.tried {
		g.marker.Cause = merge.Cause(s.Code, s.Detail)
	}
	listMembers(g)
	pull := g.Snap.Pull
	for _, is := range parts(g) {
		if is.Landed != "" {
			s.Landed = is.Landed
		}
	}
	for _, m := range g.members {
		if isSelf(g, m) && m.head != "" {
			pull.HeadSHA = m.head // it may have moved in this run
		}
		if note := m.way.Note("%s"); note != "" {
			s.Notes = append(s.Notes, note)
		}
	}
	return merge.FailText(pull, g.marker, s.Failure)
}

// cleanRun takes secrets out of what a run of tests, and what came before it, has printed; nil for none.
func cleanRun(ctx context.Context, p *Request, t *merge.TestRun) {
	if t == nil {
		return
	}
	t.Tail = redact.Text(ctx, p.Thread, t.Tail)
	for i := range t.Setup {
		t.Setup[i].Tail = redact.Text(ctx, p.Thread, t.Setup[i].Tail)
	}
}

// bury ends the request.
func bury(ctx context.Context, g *merger, s *Failure, text string) error {
	g.marker.State = model.MergeFailed
	if err := requested(g).End(ctx, journal.Token("merge_failed", g.marker.Command), text); err != nil {
		return err
	}
	g.Log.Info("merge_failed", "pr_number", g.Event.Number, "reason", string(s.Code), "detail", markdown.Inline(thread.Clip(s.Detail)))
	return nil
}
