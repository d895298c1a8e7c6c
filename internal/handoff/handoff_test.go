package handoff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var (
	start, head = strings.Repeat("a", 40), strings.Repeat("b", 40)
	key         = strings.Repeat("c", 64)
	events      = []string{"7:issue:12:2026-01-02T03:04:05Z", "7:review:11:2026-01-02T03:04:05Z"}
)

// planned is what an agent's job hands over when all went well.
func planned() handoff.Handoff {
	return handoff.Handoff{
		Repository: "octo/widgets", Number: 7, Ended: handoff.Planned, Made: "random1", TurnKey: key, Start: start, Events: events, Head: head,
		Outcome: model.Outcome{
			ReviewReplies: []model.ReviewReply{{ReviewCommentID: 11, Body: "done -->\n::error::"}}, GeneralComment: "see above",
			CommitMessage: "Say two", Session: "s-1", Usage: model.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: 0.25},
			FlakyTestReport: &model.FlakyTest{Title: "t", Summary: "s", RelevantLogURL: "https://example.com"},
		},
		Seconds: 12, Notes: []string{"a file was left out"},
	}
}

// begun is what an agent's job hands over of an attempt on an issue.
func begun() handoff.Handoff {
	return handoff.Handoff{
		Repository: "octo/widgets", Number: 7, Flow: model.FlowBugfix, Ended: handoff.Planned, TurnKey: key, Start: start, Events: []string{events[0]}, Head: head,
		Outcome: model.Outcome{PRTitle: "Say two", PRSummary: "It says two.", CommitMessage: "Say two", Session: "s-1", Usage: model.Usage{CostUSD: 0.25}},
		Seconds: 12, Notes: []string{"a file was left out"},
	}
}

// designed is a design that is handed over, of an issue on which nobody said anything.
func designed() handoff.Handoff {
	h := begun()
	h.Flow, h.Events = model.FlowDesign, nil
	h.Outcome = model.Outcome{Title: "Say two", Summary: "How to.", TouchPaths: []string{"two.txt"}, DesignDoc: "# Two\n"}
	return h
}

// looked is a review that is handed over.
func looked() handoff.Handoff {
	return handoff.Handoff{
		Repository: "octo/widgets", Number: 7, Flow: handoff.Review, Ended: handoff.Planned, TurnKey: key, Start: start, Head: start, Dropped: 3,
		Outcome: model.Outcome{Findings: []model.Finding{{Path: "two.txt", Line: 2, Severity: model.Must, Text: "Say two."}}, Usage: model.Usage{CostUSD: 0.25}},
	}
}

// expected is what the second job found out by itself about the same turn.
func expected() handoff.Expected {
	return handoff.Expected{
		Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Start: start, TurnKey: key,
		Pending: append([]string{"7:issue:13:2026-01-02T03:04:06Z"}, events...),
	}
}

// bundle stands for git, which this package knows nothing of.
func bundle(file string) error { return os.WriteFile(file, []byte("the commits"), 0o600) }

// written is a directory with this handoff.
func written(t *testing.T, h handoff.Handoff) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "made", "on the way")
	require.NoError(t, handoff.Write(dir, h, bundle))
	return dir
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	still := planned()
	still.Head, still.Outcome.CommitMessage = start, ""
	onto := planned()
	onto.Onto = strings.Repeat("d", 40)
	blocked := planned()
	blocked.Ended, blocked.Reason, blocked.Detail, blocked.Head = handoff.Blocked, model.ReasonTests, "scripts/test fails", head
	blocked.Outcome = model.Outcome{Session: "s-1", Usage: model.Usage{CostUSD: 1}}
	rewrite := blocked
	rewrite.Reason, rewrite.Detail, rewrite.Observed, rewrite.Head = model.ReasonRewrite, "", head, ""
	failed := blocked
	failed.Ended, failed.Reason, failed.Detail = handoff.Failed, "", "the agent ended with exit code 3"
	postponed := failed
	postponed.Ended, postponed.Head = handoff.Postponed, ""
	stuck := begun()
	stuck.Ended, stuck.Reason, stuck.Detail, stuck.Outcome = handoff.Blocked, model.ReasonNoTest, "no test", model.Outcome{Session: "s-1"}
	nothing := handoff.Handoff{Repository: "octo/widgets", Number: 7, Ended: handoff.Nothing, Detail: "nothing is pending"}
	must.Each(t, map[string]handoff.Handoff{
		"planned": planned(), "without a change": still, "on another head": onto, "blocked": blocked, "a rewrite": rewrite,
		"failed": failed, "postponed": postponed, "nothing": nothing, "an issue": begun(), "a review": looked(), "a design": designed(), "a stop": stuck,
	}, func(t *testing.T, h handoff.Handoff) {
		dir := written(t, h)
		got := must.Get(handoff.Read(dir))(t)
		want := expected()
		want.Onto, want.Flow = h.Onto, h.Flow
		require.NoError(t, handoff.Check(got, want))
		assert.Equal(t, h.Head != "" && h.Head != start, got.Commits())
		assert.Equal(t, got.Commits(), got.Bundle != nil)
		h.Version, h.Bundle = handoff.Version, got.Bundle
		assert.Equal(t, h, got)
		assert.Equal(t, filepath.Join(dir, "commits.bundle"), handoff.BundlePath(dir))
		for _, file := range []string{handoff.OutcomeFile, handoff.BundleFile} {
			if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
				assert.EqualValues(t, 0o600, info.Mode())
			}
		}
	})
}

// TestWhatAFlowHasNoPlaceForIsLeftOut: what is written can be read, whatever an agent says beside it.
func TestWhatAFlowHasNoPlaceForIsLeftOut(t *testing.T) {
	for name, h := range map[string]handoff.Handoff{"a turn": planned(), "an issue": begun(), "a design": designed(), "a review": looked()} {
		had := h.Outcome
		for _, more := range []func(*model.Outcome){
			func(o *model.Outcome) { o.GeneralComment = "Repaired." },
			func(o *model.Outcome) { o.PRTitle, o.PRSummary = "Greet", "Politely." },
			func(o *model.Outcome) { o.Title, o.Goal, o.TouchPaths = "Greet", "Peace", []string{"a.txt"} },
			func(o *model.Outcome) { o.Findings = looked().Outcome.Findings },
		} {
			more(&h.Outcome)
		}
		got := must.Get(handoff.Read(written(t, h)))(t, name)
		assert.Equal(t, h.Outcome.Usage, got.Outcome.Usage, name)
		assert.Equal(t, had.CommitMessage, got.Outcome.CommitMessage, name)
		assert.Equal(t, name == "a turn", got.Outcome.GeneralComment != "", name)
		assert.Equal(t, name == "a design", got.Outcome.Title != "", name)
		assert.Equal(t, name != "a design", len(got.Outcome.Findings) > 0, name)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "handoff")
	require.NoError(t, handoff.Fresh(dir))
	require.NoError(t, handoff.Fresh(dir), "an empty one will do")

	long := planned()
	long.Outcome.GeneralComment = strings.Repeat("x", 5*65536)
	var refused *handoff.Refusal
	require.ErrorAs(t, handoff.Write(dir, long, bundle), &refused)
	assert.Equal(t, "outcome.general_comment", refused.What)
	many := planned()
	for i := range 100 {
		many.Outcome.ReviewReplies = append(many.Outcome.ReviewReplies, model.ReviewReply{ReviewCommentID: int64(i + 100), Body: strings.Repeat("x", 100_000)})
	}
	require.EqualError(t, handoff.Write(dir, many, bundle), "handoff refused: outcome.json: 10004402 bytes, at most 8388608: the agent's answers are too long")
	assert.ErrorContains(t, handoff.Write(dir, planned(), nil), "nothing to write them with")
	assert.ErrorIs(t, handoff.Write(dir, planned(), func(string) error { return os.ErrPermission }), os.ErrPermission)
	there := must.Get(os.ReadDir(dir))(t)
	assert.Empty(t, there, "so that it can be written why")

	long.Ended, long.Reason, long.Detail, long.Outcome = handoff.Blocked, model.ReasonOutcome, "x"+strings.Repeat("é", 50_000)+"\xff the end", model.Outcome{}
	long.Notes = []string{strings.Repeat("n", 3000)}
	require.NoError(t, handoff.Write(dir, long, bundle))
	got := must.Get(handoff.Read(dir))(t)
	assert.Equal(t, 64<<10-1, len(got.Detail), "the middle is left out, and half a letter")
	assert.True(t, strings.Contains(got.Detail, "é\n[... cut ...]\né"))
	assert.True(t, strings.HasSuffix(got.Detail, "\uFFFD the end"))
	assert.Len(t, got.Notes[0], 2000)

	assert.EqualError(t, handoff.Write(dir, planned(), bundle), dir+` is not empty ("commits.bundle"): want a new directory for every run`)
	assert.EqualError(t, handoff.Fresh(dir), dir+` is not empty ("commits.bundle"): want a new directory for every run`)
	require.NoError(t, must.Err(handoff.Read(dir)), "what was there is left alone")
	assert.Error(t, handoff.Fresh(filepath.Join(dir, handoff.OutcomeFile)))
}

func TestNothingWasHandedOver(t *testing.T) {
	dir := t.TempDir()
	require.ErrorIs(t, must.Err(handoff.Read(dir)), handoff.ErrAbsent)
	require.ErrorIs(t, must.Err(handoff.Read(filepath.Join(dir, "never made"))), handoff.ErrAbsent)
}

func TestACancelledJobHandsOverWhatTheNextOneNeeds(t *testing.T) {
	for name, c := range map[string]struct{ is, handedOn handoff.Handoff }{
		"a result stays one":                             {handoff.Handoff{Ended: handoff.Planned}, handoff.Handoff{Ended: handoff.Planned}},
		"a block stays one":                              {handoff.Handoff{Ended: handoff.Blocked, Reason: "x"}, handoff.Handoff{Ended: handoff.Blocked, Reason: "x"}},
		"a turn is tried again, and that does not count": {handoff.Handoff{Ended: handoff.Failed, Detail: "d"}, handoff.Handoff{Ended: handoff.Postponed, Detail: "d"}},
		"a flow asks a person": {handoff.Handoff{Ended: handoff.Failed, Flow: model.FlowBugfix},
			handoff.Handoff{Ended: handoff.Blocked, Flow: model.FlowBugfix, Reason: model.ReasonCancelled, Detail: "the agent's job was cancelled"}},
		"a flow's result stays one": {handoff.Handoff{Ended: handoff.Planned, Flow: model.FlowBugfix}, handoff.Handoff{Ended: handoff.Planned, Flow: model.FlowBugfix}},
	} {
		assert.Equal(t, c.handedOn, c.is.CutShort(), name)
	}
}
