package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

func TestAnAttemptOnAnIssueIsAmongItsTurns(t *testing.T) {
	t.Parallel()
	st := journal.Codec{}.Fold([]model.Comment{
		said(t, journal.Codec{}, 1, model.IssueMarker{
			TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "c"}, Spent: &model.Spent{Day: "2026-01-02", Turns: 1}}, Status: model.PhaseStarted,
			Flow: model.FlowBugfix, Branch: "agent/bugfix/7-x", Base: "main",
		}),
	}, scope)
	require.Len(t, st.Flows, 1)
	assert.Equal(t, model.FlowBugfix, st.Flows[0].Marker.Flow)
	assert.Equal(t, "agent/bugfix/7-x", st.Flows[0].Marker.Branch)
	require.Len(t, st.Turns, 1)
	assert.Equal(t, model.PhaseStarted, st.Turns[0].Marker.Phase)
	assert.Equal(t, 1, st.Spent.Turns)
	assert.Empty(t, st.Distrusted)
}

func TestAStopTakesThePlaceOfItsClaim(t *testing.T) {
	t.Parallel()
	stopped := model.IssueMarker{
		TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "c"}, Events: []string{"7:issue:3:x"}, Since: time.Date(2026, 1, 2, 12, 5, 0, 0, time.UTC), Seen: 3},
		Status:     model.PhaseWaiting, Waiting: model.ReasonAgent, LastCheckpoint: "abc",
	}
	st := journal.Codec{}.Fold([]model.Comment{
		said(t, journal.Codec{}, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "another"}}, Status: model.PhaseStarted}),
		said(t, journal.Codec{}, 2, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "c"}}, Status: model.PhaseStarted}),
		said(t, journal.Codec{}, 4, stopped),
	}, scope)
	assert.Equal(t, []int64{2}, st.Surplus)
	require.Len(t, st.Flows, 2)
	assert.Equal(t, "abc", st.Flows[1].Marker.LastCheckpoint)
	assert.Len(t, st.Turns, 2)
	assert.True(t, st.Answered["7:issue:3:x"], "what the attempt was about is consumed")
	assert.Equal(t, model.Mark{At: stopped.Since, ID: 3}, st.Settled)
	assert.Empty(t, st.Accepted)
}

func TestAFailedAttemptConsumesNothing(t *testing.T) {
	t.Parallel()
	st := journal.Codec{}.Fold([]model.Comment{
		said(t, journal.Codec{}, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Events: []string{"7:issue:3:x"}, Since: time.Now()}, Status: model.PhaseFailed}),
	}, scope)
	assert.False(t, st.Answered["7:issue:3:x"])
	assert.Zero(t, st.Settled)
}

func TestWhatIsQueuedBetweenTwoCommandsIsNotSettledByThem(t *testing.T) {
	t.Parallel()
	reply := said(t, journal.Codec{}, 9, model.CommandMarker{Key: "c", Command: "status", Result: model.Applied, At: noon.Add(time.Hour), Seen: 8})
	assert.Equal(t, int64(8), fold(reply).Settled.ID)
	begun := said(t, journal.Codec{}, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k"}, Status: model.PhaseStarted})
	assert.Zero(t, fold(begun, reply).Settled)
}

func TestIssueMarkersThatDoNotHold(t *testing.T) {
	t.Parallel()
	refused(t, func() model.IssueMarker { return model.IssueMarker{} }, map[string]func(*model.IssueMarker){
		`mergexo-issue marker: phase "lost" is unknown`: func(m *model.IssueMarker) { m.Status = "lost" },
		"phase planned without an outbox":               func(m *model.IssueMarker) { m.Status = model.PhasePlanned },
	})
	refused(t, func() model.TurnMarker { return marker(model.PhaseWaiting) }, map[string]func(*model.TurnMarker){"is an issue's": func(*model.TurnMarker) {}})
}
