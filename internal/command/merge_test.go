package command_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// requested is a request to merge, by somebody else.
func requested(state model.MergeState) []model.Posted[model.MergeMarker] {
	return []model.Posted[model.MergeMarker]{{Marker: model.MergeMarker{State: state, By: "oskar", Landed: a}, CommentID: 42, URL: "https://github.com/octo/widgets/pull/7#issuecomment-42"}}
}

// merged is a pull request that is on its base.
func merged() command.Case {
	return with(free(), func(c *command.Case) { c.Target.Pull.State = model.PullMerged })
}

func given(c command.Case, text string) command.Case {
	c.Command = command.Parse(text)[0]
	return c
}

func TestARequestToMergeIsItsOwnReceipt(t *testing.T) {
	c := given(free(), "/mergexo merge strategy=squash")
	c.Found = &command.Found{Verdict: model.Applied, Text: "**Merging**", Marker: &model.MergeMarker{State: model.MergeRunning, Head: b, Base: "main", Asked: "squash"}}
	got := command.Decide(c)
	assert.Equal(t, command.Answer{
		Verdict: model.Applied, Text: "**Merging**",
		Marker: model.MergeMarker{Command: c.Key, By: "olga", At: noon, State: model.MergeRunning, Head: b, Base: "main", Asked: "squash"},
	}, got)
	assert.True(t, got.Changes())
	assert.Empty(t, c.Found.Marker.By, "what was found is not changed")
}

func TestACancelEndsWhatWaits(t *testing.T) {
	c := given(free(), "/mergexo merge cancel")
	c.State.Merges = requested(model.MergeWaiting)
	want := model.CommandMarker{Key: c.Key, Command: command.MergeCancel, Result: model.Applied, By: "olga", At: noon}
	got := command.Decide(c)
	assert.Equal(t, model.Applied, got.Verdict)
	assert.Equal(t, want, got.Marker)
	assert.True(t, got.Changes())
	said := command.Said{Comment: posted("/mergexo merge cancel"), Commands: []command.Command{c.Command}}
	golden.Text(t, "merge_cancel.md", command.Text(said, 0, got))

	c.Away = true
	assert.Equal(t, want, command.Decide(c).Marker, "whoever has taken over may be stopped by it as well")
}

func TestACancelEndsAGroupThatHasLandedInPart(t *testing.T) {
	c := given(merged(), "/mergexo merge cancel")
	c.State.Merges, c.Facts.Halted = requested(model.MergeRunning), true
	got := command.Decide(c)
	assert.Equal(t, model.Applied, got.Verdict)
	assert.Equal(t, model.CommandMarker{Key: c.Key, Command: command.MergeCancel, Result: model.Applied, By: "olga", At: noon}, got.Marker)
	said := command.Said{Comment: posted("/mergexo merge cancel"), Commands: []command.Command{c.Command}}
	golden.Text(t, "merge_cancel_group.md", command.Text(said, 0, got))
}

func TestWhatAMergeChangesWhereItIsSaid(t *testing.T) {
	found := &command.Found{Verdict: model.Applied, Text: "x"}
	for line, want := range map[string]bool{"/mergexo merge dry-run": false, "/mergexo merge": false, "/mergexo merge cancel": false} {
		c := given(free(), line)
		c.Found = found
		assert.Equal(t, want, command.Decide(c).Changes(), line)
	}
	c := given(merged(), "/mergexo revert")
	c.Found = found
	assert.True(t, command.Decide(c).Changes())
}

func TestWhatNeedsNoFurtherLook(t *testing.T) {
	closedButLanded := with(free(), func(c *command.Case) {
		c.Target.Pull.State, c.State.Merges = model.PullClosed, requested(model.MergeDone)
	})
	closedAndNot := with(free(), func(c *command.Case) {
		c.Target.Pull.State, c.State.Merges = model.PullClosed, requested(model.MergeFailed)
	})
	for name, tt := range map[string]struct {
		line string
		c    command.Case
		want bool
	}{
		"a merge":                              {"/mergexo merge", free(), false},
		"a dry run":                            {"/mergexo merge dry-run", free(), false},
		"a merge of what is merged":            {"/mergexo merge", merged(), true},
		"a mistake":                            {"/mergexo merge strategy=yolo", free(), true},
		"a cancel":                             {"/mergexo merge cancel", free(), true},
		"a revert":                             {"/mergexo revert", merged(), false},
		"a revert of what is open":             {"/mergexo revert", free(), true},
		"a revert of what was closed":          {"/mergexo revert", closedAndNot, true},
		"a revert of what landed all the same": {"/mergexo revert", closedButLanded, false},
		"another command":                      {"/mergexo pause", free(), true},
	} {
		c := given(tt.c, tt.line)
		answer, ok := command.Early(c)
		assert.Equal(t, tt.want, ok, name)
		if ok {
			assert.Equal(t, command.Decide(c), answer, name)
		}
	}
}
