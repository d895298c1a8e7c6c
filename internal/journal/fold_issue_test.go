package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// attempt is a comment of ours with the marker of an attempt on issue 7.
func attempt(t *testing.T, id int64, m model.IssueMarker) model.Comment {
	t.Helper()
	m.Repo, m.Number = "octo/widgets", 7
	at := time.Date(2026, 1, 2, 12, int(id), 0, 0, time.UTC)
	return model.Comment{
		Kind: model.KindIssue, ID: id, Author: model.Actor{Login: "bot", Bot: true}, Ours: true, CreatedAt: at, UpdatedAt: at,
		Body: encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindIssue, Marker: m}),
	}
}

var onSeven = journal.Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7}

func TestAnAttemptOnAnIssueIsAmongItsTurns(t *testing.T) {
	t.Parallel()
	st := journal.Codec{}.Fold([]model.Comment{
		attempt(t, 1, model.IssueMarker{
			TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "c"}, Spent: &model.Spent{Day: "2026-01-02", Turns: 1}}, Status: model.PhaseStarted,
			Flow: model.FlowBugfix, Branch: "agent/bugfix/7-x", Base: "main",
		}),
	}, onSeven)
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
		attempt(t, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "another"}}, Status: model.PhaseStarted}),
		attempt(t, 2, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Lease: model.Lease{Claim: "c"}}, Status: model.PhaseStarted}),
		attempt(t, 4, stopped),
	}, onSeven)
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
		attempt(t, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k", Events: []string{"7:issue:3:x"}, Since: time.Now()}, Status: model.PhaseFailed}),
	}, onSeven)
	assert.False(t, st.Answered["7:issue:3:x"])
	assert.Zero(t, st.Settled)
}

func TestWhatIsQueuedBetweenTwoCommandsIsNotSettledByThem(t *testing.T) {
	t.Parallel()
	reply := model.Comment{
		Kind: model.KindIssue, ID: 9, Ours: true, Author: model.Actor{Login: "bot", Bot: true},
		Body: encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindCommand, Marker: model.CommandMarker{
			Repo: "octo/widgets", Number: 7, Key: "c", Command: "status", Result: model.Applied, At: time.Date(2026, 1, 2, 13, 0, 0, 0, time.UTC), Seen: 8,
		}}),
	}
	assert.Equal(t, int64(8), journal.Codec{}.Fold([]model.Comment{reply}, onSeven).Settled.ID)
	begun := attempt(t, 1, model.IssueMarker{TurnMarker: model.TurnMarker{Key: "k"}, Status: model.PhaseStarted})
	assert.Zero(t, journal.Codec{}.Fold([]model.Comment{begun, reply}, onSeven).Settled)
}

func TestIssueMarkersThatDoNotHold(t *testing.T) {
	t.Parallel()
	for status, want := range map[model.Phase]string{"lost": `mergexo-issue marker: phase "lost" is unknown`, model.PhasePlanned: "phase planned without an outbox"} {
		st := journal.Codec{}.Fold([]model.Comment{attempt(t, 1, model.IssueMarker{Status: status})}, onSeven)
		require.Len(t, st.Distrusted, 1, status)
		assert.Contains(t, st.Distrusted[0].Reason, want)
	}
	waits := model.TurnMarker{Repo: "octo/widgets", Number: 7, Phase: model.PhaseWaiting}
	c := attempt(t, 1, model.IssueMarker{})
	c.Body = encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindTurn, Marker: waits})
	st := journal.Codec{}.Fold([]model.Comment{c}, onSeven)
	require.Len(t, st.Distrusted, 1)
	assert.Contains(t, st.Distrusted[0].Reason, "is an issue's")
}
