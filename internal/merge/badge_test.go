package merge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func landed(change func(*model.MergeMarker)) model.MergeMarker {
	return with(func(m *model.MergeMarker) {
		m.State, m.Was, m.Tip, m.Landed, m.Badge = model.MergeDone, []string{c}, d, e, noon
		change(m)
	})
}

func TestWhatLandedWaitsAnHourForGitHubsBadge(t *testing.T) {
	t.Parallel()
	m := landed(func(*model.MergeMarker) {})
	for head, waits := range map[string]bool{b: true, c: true, d: true, e: true, a: false, "": false} {
		assert.Equal(t, waits, merge.Waits(m, head), "the head is %q", head)
	}
	assert.False(t, merge.Waits(landed(func(m *model.MergeMarker) { m.Badge = time.Time{} }), b), "it has its badge")
	assert.False(t, merge.BadgeOver(m, noon.Add(time.Hour-time.Second)))
	assert.True(t, merge.BadgeOver(m, noon.Add(time.Hour)))

	older, newer := request(m), request(landed(func(m *model.MergeMarker) { m.Landed = d }))
	found := merge.Badge(model.State{Merges: []model.Posted[model.MergeMarker]{older, newer, request(asked())}})
	require.NotNil(t, found)
	assert.Equal(t, d, found.Marker.Landed, "the newest that waits, below a request that does not")
	assert.Nil(t, merge.Badge(model.State{Merges: []model.Posted[model.MergeMarker]{request(asked())}}))
	gate := merge.BadgeGate(older)
	assert.True(t, gate.Met)
	assert.Equal(t, `landed as eeeeeeeeee on branch "main", not shown as merged by GitHub since 2026-01-02 12:00 UTC, see `+page+`#issuecomment-50; a sweep closes it after an hour`, gate.Evidence)
}

func TestTheCommentSaysHowTheWaitForTheBadgeEnded(t *testing.T) {
	t.Parallel()
	m := landed(func(*model.MergeMarker) {})
	text := func(l merge.Landing) string {
		l.Tests, l.Commits, l.Seconds = passed, moved, 9
		return merge.DoneText(pull(), m, l)
	}
	ended := func(text string, state model.PullState) string {
		p := pull()
		p.State, p.HeadSHA = state, a
		return merge.BadgeSettled(text, p, m, nil)
	}
	waits := text(merge.Landing{Waits: true})
	assert.Equal(t, text(merge.Landing{}), ended(waits, model.PullMerged))
	assert.Equal(t, text(merge.Landing{Closed: true}), ended(waits, model.PullClosed))
	more := ended(waits, model.PullOpen)
	assert.NotContains(t, more, "not shown as merged yet")
	assert.Contains(t, more, "The branch has newer commits, up to aaaaaaaaaa, which were not merged.")
	assert.Equal(t, "Edited by hand.\n\nGitHub did not show this pull request as merged in time, so it was closed. Its changes are on `main` as ["+"`eeeeeeeeee`](https://github.com/octo/widgets/commit/"+e+").",
		ended("Edited by hand.", model.PullClosed), "what somebody wrote stays")
}
