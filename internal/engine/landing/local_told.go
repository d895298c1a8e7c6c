package landing

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// told is the merge as programs read it, as far as it has come.
func (l *localMerger) told() model.Merging {
	one, made := l.one, l.one.made
	m := model.Merging{
		Branch: l.order.Branch, Into: l.order.Base, Strategy: one.way.Strategy, Head: one.is.Head, Base: one.is.BaseSHA,
		Tip: made.Tip, Tree: made.Tree, Landed: one.is.Landed, Count: made.Count, Conflicts: []model.MergeConflict{}, Notes: []string{},
		Commits: append([]model.Moved{}, made.Commits...), LeftOut: append([]model.Commit{}, made.Dropped...),
	}
	if made.Tip == "" {
		return m
	}
	m.Notes = append(m.Notes, plan(one).Notes...)
	switch {
	case one.tests.Argv != nil && l.passed:
		m.Tests = testsTold(one.tests, model.TestsPassed)
	case one.tests.Argv != nil:
		m.Tests = testsTold(one.tests, model.TestsPlanned)
	case l.g.Settings.Merge.Tests.None:
		m.Tests = testsTold(one.tests, model.TestsNone)
	}
	return m
}

func testsTold(t merge.TestRun, result string) *model.MergeTests {
	return &model.MergeTests{Command: append([]string{}, t.Argv...), Result: result, Exit: t.Exit, Seconds: t.Seconds, Why: t.Why, Output: t.Tail}
}

// tellFailure adds why nothing landed.
func tellFailure(m *model.Merging, f merge.Failure) {
	if f.Conflicts != nil {
		for _, c := range f.Conflicts.Files {
			m.Conflicts = append(m.Conflicts, model.MergeConflict{Path: c.Path, Kind: c.Kind, Hunks: c.Hunks})
		}
	}
	if t := f.Tests; t != nil {
		m.Tests = testsTold(*t, model.TestsFailed)
		switch {
		case t.Problem != "":
			m.Tests.Why = t.Problem
		case t.Timeout != "":
			m.Tests.Why = "they timed out after " + t.Timeout
		}
	}
}

// landed tells what has landed.
func (l *localMerger) landed() {
	m, rep, tip := l.one, l.g.Report, l.one.is.Landed
	rep.Result, rep.HeadSHA = model.ResultDone, tip
	rep.Reason = fmt.Sprintf("%s is merged into %s, which is at %s", l.order.Branch, l.order.Base, markdown.Short(tip))
	l.g.marker.Landed = tip
	landed := plan(m)
	if written := l.g.Settings.Merge.DeleteBranch; written != nil && *written {
		landed.Notes = append(landed.Notes, fmt.Sprintf("The branch %s stays: [merge] delete_branch is for pull requests", l.order.Branch))
	}
	l.say(merge.DoneText(l.pull(), l.g.marker, merge.Landing{Commits: landed.Commits, More: landed.More, Tests: landed.Tests, Notes: landed.Notes}))
}

func (l *localMerger) say(text string) {
	l.g.Report.Said = append(l.g.Report.Said, model.Saying{Where: fmt.Sprintf("merge of %s into %s", l.order.Branch, l.order.Base), Text: text})
}

// pull is the branch as the texts take it.
func (l *localMerger) pull() model.Pull {
	p := l.g.Snap.Pull
	p.HeadSHA = l.one.head
	return p
}
