package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// merger brings one request to merge to its end, which is on the base branch or in words that say why not.
type merger struct {
	*pass
	comment int64
	heading string // the first paragraph of its comment: what was asked, and by whom
	text    string // what the comment says below it
	marker  model.MergeMarker
	// earlier is the claim of the run whose place this one takes; "": none.
	earlier string
	members []*member // that land together, in their order
	began   time.Time
}

// member is one pull request that lands.
type member struct {
	*pass
	way   merge.Way
	is    model.MergeMember
	head  string // what its branch is at: the approved head, or a tip of ours
	known []string
	met   git.Met
	made  git.Merged
	tests merge.TestRun
	lock  *git.Lock
	// closed says that GitHub did not show it as merged, and branchKept why its branch was not deleted.
	closed bool
	notes  []string
}

func newMerger(p *pass, said model.Said[model.MergeMarker]) *merger {
	heading, text, _ := strings.Cut(said.Text, "\n\n")
	g := &merger{pass: p, comment: said.CommentID, heading: heading, text: text, marker: said.Marker, began: p.Now()}
	if said.Marker.Claim != p.memory.mergeClaim {
		g.earlier = said.Marker.Claim
	}
	return g
}

// advance takes the request as far as it goes now.
func (g *merger) advance(ctx context.Context) (*Stop, error) {
	if done, err := g.landedBefore(ctx); done || err != nil {
		return g.ended(ctx, err)
	}
	if g.marker.State == model.MergeRunning && len(g.marker.Members) > 0 { // what has landed of a group is not asked about again
		way, err := merge.Choose(g.mergePolicy(), g.snap.Pull, model.MergeFacts{}, g.marker.Asked)
		if err != nil {
			way = merge.Way{Strategy: g.marker.Strategy}
		}
		if err := g.readMergeFacts(ctx); err != nil {
			return nil, err
		}
		if err := g.claim(ctx, way); err != nil {
			return nil, err
		}
		return g.ended(ctx, g.run(ctx, way))
	}
	if err := g.untilIdle(ctx); err != nil {
		return nil, err
	}
	v, err := g.judgeMerge(ctx, g.marker, "")
	if s := (*setback)(nil); errors.As(err, &s) {
		return g.ended(ctx, err)
	}
	switch {
	case err != nil:
		return nil, err
	case v.Wait:
		return g.wait(ctx, v.Code, v.Reason, merge.WaitText(g.snap.Pull, g.waiting(v), v))
	case !v.Go:
		return g.ended(ctx, &setback{Failure: merge.Failure{Code: v.Code, Detail: v.Reason}})
	}
	if err := g.claim(ctx, v.Way); err != nil {
		return nil, err
	}
	return g.ended(ctx, g.run(ctx, v.Way))
}

// waiting is the marker with what it waits for.
func (g *merger) waiting(v merge.Verdict) model.MergeMarker {
	m := g.marker
	m.Reason, m.Detail = v.Code, clip(v.Reason)
	return m
}

// untilIdle waits for a turn that is at work on the same pull request, as long as a lock is waited for.
func (g *merger) untilIdle(ctx context.Context) error {
	limit := g.settings.Merge.LockTimeout
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		busy := false
		for _, t := range turn.Open(g.state) {
			live, err := g.live(ctx, t)
			if err != nil {
				return err
			}
			busy = busy || live
		}
		if !busy || pause > limit {
			return nil // whoever judges the request sees who is at work
		}
		if err := g.GitHub.Pause(ctx, pause); err != nil {
			return err
		}
		limit -= pause
		g.liveness = nil
		if err := g.read(ctx); err != nil {
			return err
		}
	}
}

// The pauses in which something is waited for that another run does.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
)

// claim makes the request this run's. A command that begins at once was posted as such.
func (g *merger) claim(ctx context.Context, way merge.Way) error {
	if g.marker.State == model.MergeRunning && g.marker.Claim != "" && g.marker.Claim == g.memory.mergeClaim {
		return nil
	}
	g.signMerge(&g.marker)
	g.marker.State, g.marker.Strategy, g.marker.Reason, g.marker.Detail = model.MergeRunning, way.Strategy, "", ""
	if err := g.edit(ctx, merge.RunningText(g.snap.Pull, g.marker, g.settings.Merge.Attempts)); err != nil {
		return err
	}
	if err := g.read(ctx); err != nil {
		return err
	}
	now := g.state.Merge()
	switch {
	case now == nil || now.CommentID != g.comment:
		return stop(model.ResultRetry, "the request to merge pull request %d was replaced or deleted meanwhile", g.event.Number)
	case now.Marker.Claim != g.marker.Claim:
		return stop(model.ResultRetry, "another run is merging pull request %d, see %s", g.event.Number, now.URL)
	}
	return nil
}

// edit writes the comment of the request as its marker stands.
func (g *merger) edit(ctx context.Context, text string) error {
	if g.marker.Open() && g.marker.State == model.MergeRunning {
		g.marker.Expires = g.mergeExpiry()
	}
	if err := g.write(ctx, g.body(text, commandToken(g.marker.Command))); err != nil {
		return err
	}
	g.text = text
	g.say(model.Saying{Where: fmt.Sprintf("comment on #%d", g.event.Number), Text: text, Passing: g.marker.Open()})
	return nil
}

// write puts a body in the place of the comment. Sending the same one twice does no harm.
func (g *merger) write(ctx context.Context, b journal.Body) error {
	body, err := g.Codec.Encode(b)
	if err != nil {
		return err
	}
	for sends := 1; ; sends++ {
		err := g.GitHub.EditComment(ctx, g.event.Repo, g.comment, body)
		if err == nil {
			break
		}
		if k := github.KindOf(err); k == github.NotFound || k == github.Gone {
			g.forget(g.comment)
			return stop(model.ResultRetry, "the request to merge pull request %d was deleted meanwhile", g.event.Number)
		} else if k != github.Unclear || sends == maxSends {
			return err
		}
	}
	g.applied("edit", strconv.FormatInt(g.comment, 10), mergeToken(g.marker), "applied")
	return nil
}

// body is the comment of the request.
func (g *merger) body(text string, tokens ...string) journal.Body {
	g.marker.Repo, g.marker.Number, g.marker.Detail = g.event.Repo.String(), g.event.Number, clip(g.marker.Detail)
	return journal.Body{
		Text: g.heading + "\n\n" + text, Tokens: tokens, Kind: journal.KindMerge, Marker: g.marker,
	}
}

// wait says what the request waits for, where it does not say so already.
func (g *merger) wait(ctx context.Context, code model.MergeCode, detail, text string) (*Stop, error) {
	m := &g.marker
	same := m.State == model.MergeWaiting && m.Reason == code && g.text == text
	m.State, m.Reason, m.Detail, m.Expires, m.Claim = model.MergeWaiting, code, clip(detail), time.Time{}, ""
	if !same {
		if err := g.edit(ctx, text); err != nil {
			return nil, err
		}
	}
	return g.stopped(code, detail), nil
}

// stopped is how a run ends whose merge did not come about.
func (g *merger) stopped(code model.MergeCode, detail string) *Stop {
	s := stop(merge.Settle(code), "%s", merge.ShortLine(g.event.Number, code, detail))
	s.Merge = true
	if s.Result == model.ResultBlocked {
		s.Block = &model.BlockMarker{Repo: g.event.Repo.String(), Number: g.event.Number, Reason: string(code), Observed: g.marker.Head}
	}
	return s
}

// run prepares, tests and lands all members, anew where a base moved meanwhile, as often as the settings allow.
func (g *merger) run(ctx context.Context, way merge.Way) (err error) {
	if err := g.gather(ctx, way); err != nil {
		return err
	}
	defer func() { g.unlock(context.WithoutCancel(ctx)) }()
	if err := g.lock(ctx); err != nil {
		return err
	}
	for build := 1; ; build++ {
		err := g.once(ctx)
		s := (*setback)(nil)
		if !errors.As(err, &s) || s.Code != model.CodeBaseMoved || build >= g.settings.Merge.Attempts || g.partial() {
			return err
		}
		g.Log.Info("merge_base_moved", "pr_number", g.event.Number, "base", g.marker.Base, "build", build)
	}
}

// once builds, tests and lands everything once.
func (g *merger) once(ctx context.Context) error {
	for _, part := range []func(context.Context, *member) error{g.prepare, g.test} {
		for _, m := range g.members {
			if m.is.Landed != "" {
				continue
			}
			if err := part(ctx, m); err != nil {
				return g.of(m, err)
			}
		}
	}
	if err := g.recheck(ctx); err != nil {
		return err
	}
	// From here on nothing is begun anew because of a cancelled run: it would stop between two moves.
	ctx = context.WithoutCancel(ctx)
	if err := g.record(ctx); err != nil {
		return err
	}
	for _, m := range g.members {
		if m.is.Landed != "" {
			continue
		}
		if err := g.land(ctx, m); err != nil {
			return g.of(m, err)
		}
		m.is.Landed = m.is.Tip
		if m.way.Strategy != model.StrategyAPI {
			m.applied("merge", m.is.Base, journal.Token("land", g.marker.Command, m.is.Repo, strconv.Itoa(m.is.Number)), "applied")
		}
		if err := g.note(ctx); err != nil {
			return err
		}
	}
	return nil
}

// of names the member that a setback is about, where there are several.
func (g *merger) of(m *member, err error) error {
	s := (*setback)(nil)
	if len(g.members) > 1 && errors.As(err, &s) {
		s.Detail = fmt.Sprintf("%s#%d: %s", m.is.Repo, m.is.Number, s.Detail)
	}
	return err
}

// partial says that some member has landed and another one has not.
func (g *merger) partial() bool {
	landed := func(m *member) bool { return m.is.Landed != "" }
	return slices.ContainsFunc(g.members, landed) && slices.ContainsFunc(g.members, func(m *member) bool { return !landed(m) })
}

// recheck looks once more at what may have changed while the tests ran.
func (g *merger) recheck(ctx context.Context) error {
	for _, m := range g.members {
		if m.is.Landed != "" {
			continue
		}
		m.mergeFacts = nil
		if err := m.readMergeFacts(ctx); err != nil {
			return err
		}
		facts, pull := m.mergeFacts, &m.snap.Pull
		pull.BaseRef, pull.State, pull.Draft, pull.Labels, pull.HeadSHA = facts.BaseRef, facts.State, facts.Draft, facts.Labels, facts.HeadSHA
		v, err := m.judgeMerge(ctx, g.requestOf(m), "")
		if err != nil {
			return err
		}
		if !v.Go {
			return g.of(m, &setback{Failure: merge.Failure{Code: v.Code, Detail: v.Reason}, waits: v.Wait})
		}
	}
	return nil
}

// record writes down what is about to land, before anything moves: from here on a head that moves there is our own doing.
func (g *merger) record(ctx context.Context) error {
	k := &g.marker
	for _, m := range g.members {
		m.is.Tip, m.is.Tree = m.made.Tip, m.made.Tree
	}
	own := g.members[slices.IndexFunc(g.members, g.isSelf)]
	if k.Tip != "" && k.Tip != own.is.Tip && !slices.Contains(k.Was, k.Tip) {
		k.Was = append(k.Was, k.Tip)
	}
	if own.is.BaseSHA != k.BaseSHA {
		k.Attempt = merge.Attempts(g.state, k.Head, own.is.BaseSHA) + 1
	}
	k.BaseSHA, k.Tip, k.Tree = own.is.BaseSHA, own.is.Tip, own.is.Tree
	g.listMembers()
	if err := g.edit(ctx, merge.RunningText(g.snap.Pull, *k, g.settings.Merge.Attempts)); err != nil {
		return err
	}
	for _, m := range g.members {
		if m == own || m.is.Landed != "" {
			continue
		}
		if err := g.announce(ctx, m, model.MergeRunning, "", merge.RunningText(m.snap.Pull, g.requestOf(m), g.settings.Merge.Attempts)); err != nil {
			return err
		}
	}
	return nil
}

func (g *merger) isSelf(m *member) bool { return m.pass == g.pass }

func (g *merger) listMembers() {
	if len(g.members) < 2 {
		return
	}
	g.marker.Members = nil
	for _, m := range g.members {
		g.marker.Members = append(g.marker.Members, m.is)
	}
}

// note records that a member of a group has landed, so that a run which goes on from here knows it.
func (g *merger) note(ctx context.Context) error {
	if len(g.members) < 2 {
		return nil
	}
	g.listMembers()
	return g.edit(ctx, merge.RunningText(g.snap.Pull, g.marker, g.settings.Merge.Attempts))
}

// ended says how the request ended.
func (g *merger) ended(ctx context.Context, err error) (*Stop, error) {
	s := (*setback)(nil)
	switch {
	case err == nil:
		return nil, g.finish(ctx)
	case errors.As(err, &s) && ctx.Err() == nil:
		return g.fail(ctx, s)
	}
	g.release(ctx)
	return nil, err
}

// release lets the next run go on at once where this one ends in order, and not at its goal.
func (g *merger) release(ctx context.Context) {
	if ctx.Err() != nil || g.marker.State != model.MergeRunning || g.marker.Claim != g.memory.mergeClaim {
		return
	}
	g.marker.Expires = g.serverNow().Add(-time.Second).UTC().Truncate(time.Second)
	body, err := g.Codec.Encode(g.body(g.text, commandToken(g.marker.Command)))
	if err == nil {
		err = g.GitHub.EditComment(ctx, g.event.Repo, g.comment, body)
	}
	if err != nil {
		g.Log.Warn("merge_not_released", "pr_number", g.event.Number, "error", err)
	}
}

// fail says why the request does not go on. What may come right by itself stays open; the end of a request is said in a
// comment of its own, since nobody hears of an edit.
func (g *merger) fail(ctx context.Context, s *setback) (*Stop, error) {
	g.explain(ctx, s)
	s.Detail = g.clean(ctx, s.Detail)
	if s.Tests != nil {
		s.Tests.Tail = g.clean(ctx, s.Tests.Tail)
	}
	g.marker.Reason, g.marker.Detail = s.Code, clip(s.Detail)
	for _, m := range g.members {
		if m.is.Landed != "" {
			s.Landed = m.is.Landed
		}
	}
	pull := g.snap.Pull
	for _, m := range g.members {
		if g.isSelf(m) && m.head != "" {
			pull.HeadSHA = m.head // it may have moved in this run
		}
	}
	text := merge.FailText(pull, g.marker, s.Failure)
	if s.waits || s.Code.Retryable() && s.Code != model.CodeHeadMoved {
		return g.wait(ctx, s.Code, s.Detail, text)
	}
	if g.partial() { // what has landed is not undone, and what has not can still land
		g.marker.Expires = g.serverNow().Add(-time.Second).UTC().Truncate(time.Second)
		return g.stopped(s.Code, s.Detail), g.edit(ctx, text)
	}
	for _, m := range g.members {
		if !g.isSelf(m) && m.announced(g) != nil {
			if err := g.announce(ctx, m, model.MergeFailed, model.CodeMember, "Nothing has landed: "+markdown.Plain(s.Detail)+"."); err != nil {
				return nil, err
			}
		}
	}
	g.marker.State, g.marker.Expires, g.marker.Claim = model.MergeFailed, time.Time{}, ""
	old := g.comment
	token := journal.Token("merge_failed", g.marker.Command)
	body := g.body(text)
	id, err := g.pass.comment(ctx, token, body, func() int64 { return g.state.Tokens[token] })
	if err != nil {
		return nil, err
	}
	g.comment = id
	if err := g.remove(ctx, old, mergeToken(g.marker)); err != nil {
		return nil, err
	}
	g.Log.Info("merge_failed", "pr_number", g.event.Number, "reason", string(s.Code), "detail", markdown.Inline(clip(s.Detail)))
	return g.stopped(s.Code, s.Detail), nil
}
