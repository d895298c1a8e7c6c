package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestAttemptsAsPeopleReadOfThem(t *testing.T) {
	s := snapshot()
	b, c := strings.Repeat("b", 40), strings.Repeat("c", 40)
	run := "https://github.com/octo/widgets/actions/runs/"
	tries := []model.Try{
		{Attempt: 1, Reason: "agent: exit code 3\n@everyone", RunURL: run + "1", Kept: model.Kept{Branch: "mergexo/checkpoint/7/bbbb", SHA: b}},
		{Attempt: 2, RunURL: run + "2"},
		{Attempt: 2, Reason: "the model's provider is at a limit", RunURL: run + "3", Kept: model.Kept{SHA: c}},
		{Attempt: 3, Reason: "x", Kept: model.Kept{Branch: "refs/mergexo/kept/7/cccc", SHA: c}},
		{Reason: "y"},
		{Attempt: 1, Reason: "z", Kept: model.Kept{Branch: "refs/mergexo/checkpoint/7/cccc", SHA: c}},
		{Attempt: 2, Reason: "z", Kept: model.Kept{SHA: c, Bundle: "/tmp/mergexo-checkpoint-7-cccc.bundle"}},
	}
	golden.Text(t, "attempts.md", turn.Earlier(s.Pull.URL, tries))
	golden.Text(t, "block_tries.md", turn.BlockText(s.Pull, model.BlockMarker{Reason: model.ReasonAttempts, Observed: b}, "agent: exit code 3", model.Kept{Branch: "x", SHA: c}, tries[:2]))
	golden.Text(t, "block_after_a_try.md", turn.BlockText(s.Pull, model.BlockMarker{Reason: model.ReasonTests, Observed: b}, "FAIL", model.Kept{}, tries[:1]))
	limit := model.Try{Reason: "the model's provider is at a limit"}
	same := []model.Try{limit, limit, {Attempt: 1, Reason: limit.Reason, RunURL: run + "1"}, {Attempt: 2, Reason: limit.Reason, RunURL: run + "2"}, {Attempt: 3, Reason: limit.Reason}}
	golden.Text(t, "attempts_alike.md", turn.Earlier(s.Pull.URL, same))
	assert.Empty(t, turn.Earlier(s.Pull.URL, nil))
	assert.Len(t, turn.WorthTelling(tries), 6, "one that died without a word and left nothing is nothing to tell of")
}

func TestAttemptsAreNotedOnce(t *testing.T) {
	claim := func(phase model.Phase, attempt int, url string, earlier ...model.Try) model.Posted[model.TurnMarker] {
		return model.Posted[model.TurnMarker]{Marker: model.TurnMarker{Phase: phase, Attempt: attempt, Lease: model.Lease{RunURL: url}, Tries: earlier, Reason: strings.Repeat("long\n", 200)}}
	}
	one := model.Try{Attempt: 1, Reason: "one", RunURL: "1"}
	got := turn.Past([]model.Try{one}, []model.Posted[model.TurnMarker]{claim(model.PhaseFailed, 2, "2", one), claim(model.PhasePlanned, 3, "3"), claim(model.PhaseStarted, 3, "4")})
	require.Len(t, got, 3)
	assert.Equal(t, []string{"1", "2", "4"}, []string{got[0].RunURL, got[1].RunURL, got[2].RunURL}, "what is planned came to a result")
	assert.Less(t, len(got[1].Reason), 400)
	assert.NotContains(t, got[1].Reason, "\n")
	var many []model.Posted[model.TurnMarker]
	for i := range 30 {
		many = append(many, claim(model.PhaseFailed, i, fmt.Sprint(i)))
	}
	got = turn.Past(nil, many)
	assert.Len(t, got, 10)
	assert.Equal(t, 29, got[9].Attempt, "the newest stay")
}
