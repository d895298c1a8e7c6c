package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// mergeMarker is a request to merge that waits.
func mergeMarker(command string) model.MergeMarker {
	return model.MergeMarker{
		Repo: "octo/widgets", Number: 7, Command: command, By: "olga", At: noon, State: model.MergeWaiting, Strategy: model.StrategyRebase,
		Head: strings.Repeat("1", 40), Base: "main",
	}
}

// mergeComment is a comment of ours with a request to merge, whose reply has the token of what it is said in.
func mergeComment(t *testing.T, id int64, m model.MergeMarker, about string) model.Comment {
	t.Helper()
	return said(t, journal.Codec{}, id, m, journal.Token(about))
}

func TestARequestToMergeReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	m := mergeMarker("k")
	m.State, m.Attempt, m.Asked, m.BaseSHA, m.Tip, m.Tree = model.MergeDone, 2, "squash", strings.Repeat("2", 40), strings.Repeat("3", 40), strings.Repeat("4", 40)
	m.Was, m.Landed, m.Reason, m.Detail = []string{strings.Repeat("5", 40)}, strings.Repeat("3", 40), model.CodeBaseMoved, "-->"
	m.Members = []model.MergeMember{{Repo: "octo/client", Number: 4, Head: "a", Base: "main", Landed: "b"}}
	m.Run, m.RunAttempt, m.RunURL, m.Expires, m.Claim, m.Leader = 9, 1, "https://github.com/octo/widgets/actions/runs/9", noon.Add(time.Hour), "c", "octo/api#3"
	m.Mirror, m.MirrorSHA = "gh-pr-7/a--b", strings.Repeat("6", 64)
	for _, key := range []string{"", "secret"} {
		c := journal.Codec{Key: []byte(key)}
		st := c.Fold([]model.Comment{ours(1, encode(t, c, journal.Body{Text: "Merged", Kind: journal.KindMerge, Marker: m}))}, scope)
		require.Len(t, st.Merges, 1)
		assert.Equal(t, m, st.Merges[0].Marker)
		assert.Equal(t, "Merged", st.Merges[0].Text)
		assert.Equal(t, map[string]model.Verdict{"k": model.Applied}, st.Commands, "the request is the answer to its command")
		assert.Equal(t, []string{strings.Repeat("5", 40), strings.Repeat("3", 40)}, st.MergeTips)
		assert.Empty(t, st.Accepted, "a merge accepts no head")
		assert.Empty(t, st.Distrusted)
	}
}

func TestTheNewestRequestToMergeCounts(t *testing.T) {
	t.Parallel()
	assert.Nil(t, fold().Merge())
	over := mergeMarker("first")
	over.State, over.Reason = model.MergeFailed, model.CodeConflict
	st := journal.Codec{}.Fold([]model.Comment{
		mergeComment(t, 1, mergeMarker("first"), "first"), mergeComment(t, 2, mergeMarker("second"), "second"), mergeComment(t, 3, over, "the end of the first"),
	}, scope)
	require.Len(t, st.Merges, 2)
	assert.Equal(t, "second", st.Merge().Marker.Command, "the end of an earlier one, said anew, does not make it the newest")
	assert.Equal(t, model.CodeConflict, st.Merges[0].Marker.Reason)
	assert.Equal(t, int64(3), st.Merges[0].CommentID)
	assert.Equal(t, []int64{1}, st.Surplus, "what it said before is surplus")
}

func TestTwoRunsThatAnswerOneCommandMakeOneRequest(t *testing.T) {
	t.Parallel()
	for _, state := range []model.MergeState{model.MergeRunning, model.MergeFailed} {
		first := mergeMarker("k")
		first.State = state
		st := fold(mergeComment(t, 1, first, "k"), mergeComment(t, 2, mergeMarker("k"), "k"))
		require.Len(t, st.Merges, 1)
		assert.Equal(t, int64(1), st.Merges[0].CommentID, "the first counts, and what is over is not opened anew")
		assert.Equal(t, state, st.Merges[0].Marker.State)
		assert.Equal(t, []int64{2}, st.Surplus)
	}
	local := mergeMarker("")
	assert.Len(t, fold(mergeComment(t, 1, local, "a"), mergeComment(t, 2, local, "b")).Merges, 2, "what answers no command is never the same")
}

func TestATipOfBeforeTheLastAcceptedHeadIsNotOursAnyMore(t *testing.T) {
	t.Parallel()
	moved := func(tip rune) model.MergeMarker {
		m := mergeMarker(string(tip))
		m.State, m.Reason, m.Tip = model.MergeFailed, model.CodeTests, strings.Repeat(string(tip), 40)
		return m
	}
	accepted := said(t, journal.Codec{}, 2, model.UnblockMarker{Head: strings.Repeat("3", 40)})
	st := fold(mergeComment(t, 1, moved('4'), "4"), accepted, mergeComment(t, 3, moved('5'), "5"))
	require.Equal(t, strings.Repeat("3", 40), st.Accepted)
	assert.Equal(t, []string{strings.Repeat("5", 40)}, st.MergeTips)
}

func TestACancelIsKnownByItsReceipt(t *testing.T) {
	t.Parallel()
	cancel := func(id int64, result model.Verdict) model.Comment {
		return ours(id, encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindCommand, Marker: model.CommandMarker{
			Repo: "octo/widgets", Number: 7, Key: fmt.Sprint("c", id), Command: "merge cancel", Result: result, By: "oskar",
		}}))
	}
	reason := func(comments ...model.Comment) model.MergeCode {
		return journal.Codec{}.Fold(comments, scope).Merge().Marker.Reason
	}
	waiting := mergeComment(t, 1, mergeMarker("k"), "k")
	assert.Equal(t, model.CodeCancelled, reason(waiting, cancel(2, model.Applied)), "also where the request's own comment does not say so yet")
	assert.Empty(t, reason(waiting, cancel(2, model.Rejected)))
	assert.Empty(t, reason(mergeComment(t, 3, mergeMarker("k"), "k"), cancel(2, model.Applied)), "a later request is another one")
	running := mergeMarker("k")
	running.State = model.MergeRunning
	assert.Equal(t, model.CodeCancelled, reason(mergeComment(t, 1, running, "k"), cancel(2, model.Applied)), "also where a run has claimed it that had not heard of it")
	over := mergeMarker("k")
	over.State, over.Reason = model.MergeFailed, model.CodeConflict
	assert.Equal(t, model.CodeConflict, reason(mergeComment(t, 1, over, "k"), cancel(2, model.Applied)), "what is over is not cancelled")
}

func TestMergeMarkersThatDoNotHold(t *testing.T) {
	t.Parallel()
	refused(t, func() model.MergeMarker { return mergeMarker("k") }, map[string]func(*model.MergeMarker){
		`state "merged" is unknown`:              func(m *model.MergeMarker) { m.State = "merged" },
		`state "" is unknown`:                    func(m *model.MergeMarker) { m.State = "" },
		"state done without a landed commit":     func(m *model.MergeMarker) { m.State = model.MergeDone },
		"it names no head or no base":            func(m *model.MergeMarker) { m.Head = "" },
		"mergexo-merge marker: it names no head": func(m *model.MergeMarker) { m.Base = "" },
		`mirror "gh-pr-7/x" with mirror_sha ""`:  func(m *model.MergeMarker) { m.Mirror = "gh-pr-7/x" },
		`mirror "m" with mirror_sha "1"`:         func(m *model.MergeMarker) { m.Mirror, m.MirrorSHA = "m", "1" },
		`mirror "" with mirror_sha "11`:          func(m *model.MergeMarker) { m.MirrorSHA = m.Head },
		"it is about octo/widgets#8":             func(m *model.MergeMarker) { m.Number = 8 },
		"it is about octo/gadgets#7":             func(m *model.MergeMarker) { m.Repo = "octo/gadgets" },
	})
}

func TestTheOrderOfReadingRequestsToMergeDoesNotMatter(t *testing.T) {
	t.Parallel()
	states := []model.MergeState{model.MergeWaiting, model.MergeRunning, model.MergeFailed}
	var comments []model.Comment
	for i := range int64(12) {
		m := mergeMarker(fmt.Sprint("command ", i/2))
		m.State, m.Attempt = states[i%3], int(i)
		cm := mergeComment(t, i+1, m, fmt.Sprint("said ", i))
		cm.CreatedAt = noon.Add(time.Duration(i/4) * time.Second) // several in one second
		comments = append(comments, cm)
	}
	assert.Len(t, inAnyOrder(t, comments).Merges, 6)
}
