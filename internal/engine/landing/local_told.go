package landing

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git/conflicts"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// told is the merge as programs read it, as far as it has come.
func (l *localMerger) told() model.Merging {
	m := model.Merging{
		Branch: l.order.Branch, Into: l.order.Base, Strategy: l.way.Strategy, Head: l.asked, Base: l.div.BaseSHA,
		Tip: l.made.Tip, Tree: l.made.Tree, Landed: l.ended, Count: l.made.Count, Conflicts: []model.MergeConflict{}, Notes: []string{},
		Commits: append([]model.Moved{}, l.made.Commits...), LeftOut: append([]model.Commit{}, l.made.Dropped...),
	}
	if l.made.Tip == "" {
		return m
	}
	m.Notes = append(m.Notes, l.notes()...)
	switch {
	case l.ran.Argv != nil && l.passed:
		m.Tests = testsTold(l.ran, model.TestsPassed)
	case l.ran.Argv != nil:
		m.Tests = testsTold(l.ran, model.TestsPlanned)
	case l.Settings.Merge.Tests.None:
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
			m.Tests.Why = "they timed out after " + t.Timeout
		}
	}
}

func (l *localMerger) landed() error {
	l.lock = nil // it went with the move of the base
	l.Report.Result, l.Report.HeadSHA, l.ended = model.ResultDone, l.made.Tip, l.made.Tip
	l.Report.Reason = fmt.Sprintf("%s is merged into %s, which is at %s", l.order.Branch, l.order.Base, markdown.Short(l.made.Tip))
	m := l.marker()
	m.Landed = l.made.Tip
	notes := l.notes()
	if written := l.Settings.Merge.DeleteBranch; written != nil && *written {
		notes = append(notes, fmt.Sprintf("The branch %s stays: [merge] delete_branch is for pull requests", l.order.Branch))
	}
	l.say(merge.DoneText(l.pull(), m, merge.Landing{
		Commits: l.made.Commits, More: l.made.Count - len(l.made.Commits), Tests: l.ran, Notes: notes,
	}))
	return nil
}

// notes are what people should know of what lands.
func (l *localMerger) notes() []string {
	told := slices.Concat(l.steers, (&member{made: l.made}).told())
	if l.kept != "" {
		told = append(told, l.kept)
	}
	return told
}

func (l *localMerger) say(text string) {
	l.Report.Said = append(l.Report.Said, model.Saying{Where: fmt.Sprintf("merge of %s into %s", l.order.Branch, l.order.Base), Text: text})
}

// pull and marker are the merge as the texts take it.
func (l *localMerger) pull() model.Pull {
	p := model.Pull{HeadRef: l.order.Branch, BaseRef: l.order.Base, HeadSHA: l.asked}
	if len(l.tips) > 0 {
		p.HeadSHA = l.tips[len(l.tips)-1]
	}
	return p
}

func (l *localMerger) marker() model.MergeMarker {
	return model.MergeMarker{Base: l.order.Base, Head: l.asked, BaseSHA: l.div.BaseSHA, Tip: l.made.Tip, Was: l.tips, Strategy: l.way.Strategy}
}

// explain is why nothing landed, at length.
func (l *localMerger) explain(ctx context.Context, s *Failure) string {
	if s.conflict != nil {
		s.Conflicts = conflictsOf(s.conflict)
		if culprits, err := conflicts.Culprits(ctx, l.Checkout, l.div.BaseSHA, l.div.HeadSHA, s.conflict.Paths); err == nil {
			for _, c := range culprits {
				s.Conflicts.Culprits = append(s.Conflicts.Culprits, merge.Culprit{Commit: c})
			}
		}
	}
	return l.order.Explain(l.pull(), l.marker(), s.Failure)
}
