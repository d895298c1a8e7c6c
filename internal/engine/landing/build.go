package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// prepare gets the two branches and makes the commits that would land. The branch has to be where it was approved, or
// where an earlier attempt of ours left it.
func (g *merger) prepare(ctx context.Context, m *member) error {
	if g.builds > 0 { // tests of our own user could have put other content behind the names of objects in the one before
		thread.UseOwnClone(m.Thread)
	}
	if err := findMergeBase(ctx, g, m); err != nil {
		return err
	}
	return m.buildOn(ctx, m.is.BaseSHA)
}

// findMergeBase gets the two branches and their merge base.
func findMergeBase(ctx context.Context, g *merger, m *member) error {
	if err := m.Open(ctx); err != nil {
		return err
	}
	head, ref := m.source()
	div, err := m.at.branches(ctx, m, ref)
	if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
		code, name := model.CodeBranchMissing, strings.TrimPrefix(gone.Ref, "refs/heads/")
		if name == m.is.Base {
			code = model.CodeBaseMissing
		}
		return failed(code, fmt.Sprintf("branch %s does not exist", name))
	}
	if err != nil {
		return failureOf(err, "")
	}
	if div.Unrelated {
		return failureOf(&history.ErrUnrelated{Base: div.BaseSHA, Head: div.HeadSHA}, "")
	}
	if head == "" { // without GitHub, what the branch is at is asked for
		m.is.Head, head = div.HeadSHA, div.HeadSHA
	}
	if tips := requestOf(g, m).Tips(); div.HeadSHA != head && !slices.Contains(tips, div.HeadSHA) {
		return failed(model.CodeHeadMoved, movedTo("the branch", head, div.HeadSHA))
	}
	if err := m.grown(ctx, div.BaseSHA); err != nil {
		return err
	}
	m.div, m.head, m.is.BaseSHA, m.made = div, div.HeadSHA, div.BaseSHA, merging.Merged{}
	return nil
}

// buildOn makes the commits that would land of what was approved, on top of a commit that they are to stand on. An earlier landing
// that came to nothing may have moved the branch, also to commits that stand on those of others.
func (m *member) buildOn(ctx context.Context, on string) (err error) {
	head, _ := m.source()
	m.is.BaseSHA = on
	if on != m.div.BaseSHA || head != m.div.HeadSHA {
		if err := history.FetchCommits(ctx, m.Checkout, on, head); err != nil {
			return failureOf(err, "")
		}
		if m.div, err = history.FindMergeBase(ctx, m.Checkout, on, head); err != nil {
			return err
		}
		if err := history.FillMerge(ctx, m.Checkout, m.div); err != nil {
			return err
		}
	}
	if m.made, err = merging.Build(ctx, m.Checkout, m.what()); err != nil {
		return failureOf(err, m.way.Strategy)
	}
	if err := m.at.takes(ctx, m); err != nil {
		return err
	}
	m.steers, err = steering(ctx, m.Checkout, m.Settings, m.is.BaseSHA, m.made.Tip)
	return err
}

// source is what lands, and the ref that the server has it at: the head of the pull request, or its mirror.
func (m *member) source() (sha, ref string) {
	if m.mirror.Name != "" {
		return m.mirror.SHA, m.mirror.Name
	}
	return m.is.Head, thread.HeadRef(m.Thread)
}

// grown refuses a base that no longer has what it had: landing on it would bring back what somebody took away.
func (m *member) grown(ctx context.Context, base string) error {
	m.known = slices.Compact(append(m.known, m.Snap.Pull.BaseSHA, m.is.BaseSHA))
	m.known = slices.DeleteFunc(m.known, func(sha string) bool { return sha == "" || sha == base })
	for _, was := range m.known {
		relation, err := m.at.relation(ctx, m, was, base)
		if err != nil {
			return err
		}
		if lineage.Decide(relation) != lineage.Pass {
			return failed(model.CodeRewound, movedTo(m.is.Base, was, base)+", which does not have it")
		}
	}
	// What GitHub compared the pull request with last may be older than all that we saw.
	if was := m.MergeFacts.BaseRecorded; was != "" && was != base && !slices.Contains(m.known, was) {
		if err := history.FetchCommits(ctx, m.Checkout, was); err != nil && !git.IsNoRef(err) {
			return err
		}
		m.known = append(m.known, was)
	}
	return nil
}

// elsewhere is why nothing lands whose base is elsewhere by now: it went on, or back, or it is gone ("").
func (m *member) elsewhere(ctx context.Context, at string) error {
	if at == "" {
		return failed(model.CodeBaseMissing, fmt.Sprintf("branch %s was deleted in the meantime", m.is.Base))
	}
	return cmp.Or(m.grown(ctx, at), failed(model.CodeBaseMoved, movedTo(m.is.Base, m.is.BaseSHA, at)))
}

// what is the order to git.
func (m *member) what() merging.Request {
	pull := m.Snap.Pull
	pull.Title = cmp.Or(m.title, pull.Title)
	known, _ := model.StrategyNamed(m.way.Strategy)
	title, body := fmt.Sprintf("Merge pull request #%d: %s", pull.Number, markdown.OneLine(pull.Title)), ""
	branch := cmp.Or(strings.TrimPrefix(m.mirror.Name, "refs/heads/"), pull.HeadRef)
	if pull.CrossRepo && m.mirror.Name == "" { // it lands without one
		branch = transport.MirrorName(pull.Number, pull.HeadRef, func(string) bool { return false })
	}
	number, slug, external := transport.MirrorOf(branch)
	switch {
	case known.Joins && external:
		title, body = flow.ExternalMerge(number, slug, pull.Title)
	case pull.Number == 0 && known.Joins:
		title = fmt.Sprintf("Merge branch '%s'", pull.HeadRef)
	case pull.Number == 0: // a squash of several commits is named after the branch
		title = pull.HeadRef
	case known.Titled:
		title = fmt.Sprintf("%s (#%d)", markdown.OneLine(pull.Title), pull.Number)
	}
	head, _ := m.source()
	return merging.Request{
		Strategy: m.way.Strategy, Base: m.is.BaseSHA, Head: head, Known: m.known, Title: title, Body: body, BaseWins: m.way.BaseWins, UnionFields: m.way.UnionFields,
	}
}

// test runs the tests of the project on the very commit that would land, within the time of the run. What that ends is left
// to the next run, which has more of it.
func (g *merger) test(ctx context.Context, m *member) error {
	if !m.Settings.Merge.Tests.None {
		if err := thread.Outside(ctx, m.Thread, "the tests of what would land on "+m.is.Base+" come next"); err != nil {
			return err
		}
	}
	run, err := testInTime(ctx, m.Thread, m.is.Base, m.is.BaseSHA, m.made.Tip)
	m.tests = run
	return err
}

// testInTime is testTip within the time that is left of the run.
func testInTime(ctx context.Context, t *thread.Thread, branch, base, tip string) (merge.TestRun, error) {
	limited, done := clock.WithTimeoutCause(ctx, t.Clock, thread.RunLeft(t.World, t.Settings), thread.ErrRunTime)
	defer done()
	run, err := testTip(limited, t.World, t.Checkout, t.Settings, branch, base, tip, redact.Words(ctx, t))
	if err != nil && !thread.Outlives(err) && ctx.Err() == nil && errors.Is(context.Cause(limited), thread.ErrRunTime) {
		return run, thread.OutOfTime(t)
	}
	return run, err
}

// testCar runs the tests of the settings on a commit that would land on the branch of the thread's settings. Its *Failure says
// that they fail. The thread leaves its checkout, in which the tests could have had their hands.
func testCar(ctx context.Context, t *thread.Thread, branch, base, tip string) error {
	if err := thread.Isolate(ctx, t.World, t.Settings); err != nil {
		return err
	}
	thread.ClearWorkspace(t)
	if err := t.Open(ctx); err != nil {
		return err
	}
	if err := thread.Outside(ctx, t, "the tests of what would land on "+branch+" come next"); err != nil {
		return err
	}
	if err := history.FetchCommits(ctx, t.Checkout, base, tip); err != nil {
		return failureOf(err, "")
	}
	_, err := testInTime(ctx, t, branch, base, tip)
	if !thread.Outlives(err) {
		thread.UseOwnClone(t)
	}
	return err
}
