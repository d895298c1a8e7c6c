package landing

import (
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// told is the merge as programs read it, as far as it has come.
func (l *localMerger) told() model.Merging {
	m := model.Merging{
		Branch: l.order.Branch, Into: l.order.Base, Strategy: l.way.Strategy, Head: l.asked, Base: l.met.BaseSHA,
		Tip: l.made.Tip, Tree: l.made.Tree, Landed: l.ended, Count: l.made.Count, Conflicts: []model.MergeConflict{}, Notes: []string{},
		Commits: append([]model.Moved{}, l.made.Commits...), LeftOut: append([]model.Commit{}, l.made.Dropped...),
	}
	if l.made.Tip == "" {
		return m
	}
	m.Notes = append(m.Notes, l.notes()...)
	switch {
	case l.ran.Argv != nil && l.order.DryRun:
		m.Tests = testsTold(l.ran, model.TestsPlanned)
	case l.ran.Argv != nil:
		m.Tests = testsTold(l.ran, model.TestsPassed)
	case l.settings.Merge.Tests.None:
		m.Tests = testsTold(l.ran, model.TestsNone)
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
			m.Tests.Why = "they did not come to an end within " + t.Timeout
		}
	}
}
