package engine_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

func init() { maps.Copy(tricks, slips) }

// slips are what an agent gets wrong in an answer that is good otherwise.
var slips = map[string]trick{
	"hollow": func(_ model.Request, o *model.Outcome) {
		o.ReviewReplies = append([]model.ReviewReply{{ReviewCommentID: 4242}}, o.ReviewReplies...)
	},
	"mute": func(_ model.Request, o *model.Outcome) {
		for i := range o.ReviewReplies {
			o.ReviewReplies[i].Body = " "
		}
	},
	// errs asks for an operation that there is not, and says how that went.
	"errs": func(r model.Request, o *model.Outcome) { errands(r, o, "push", model.OpFetch) },
	// better does the rest of what it can where it is asked again.
	"better": when(model.AskRepair, func(r model.Request, o *model.Outcome) {
		*o = model.Outcome{}
		tricks["talk"](r, o)
	}),
	// draft is a design with no title at first.
	"draft": func(r model.Request, o *model.Outcome) {
		if o.DesignDoc = "# Greeting\n\nSay bonjour.\n"; r.Kind == model.AskRepair {
			o.Title = "Greet in French"
		}
	},
}

func TestNoAnswerIsWithheldForASlip(t *testing.T) {
	type row struct {
		calls, replies, commits int
		reply, receipt          string
	}
	each(t, map[string]row{
		"talk+hollow":      {1, 1, 0, "No change is needed.", "the reply to review comment 4242 was empty"},
		"talk+errs":        {2, 1, 0, "No change is needed.", "push: failed unknown operation; known are fetch_origin and merge_origin_default_branch"},
		"answer+session":   {1, 1, 1, "Done in call 1", "the agent's session handle has 80000 bytes"},
		"answer+long":      {2, 1, 2, "Done in call 2", "*(cut here: what the agent says is longer)*"},
		"unknown+better":   {2, 1, 0, "No change is needed.", "no commit was needed"},
		"unknown":          {2, 0, 0, "", "4242 is not a review comment of this turn"},
		"talk+mute+better": {2, 1, 0, "No change is needed.", "no commit was needed"},
	}, func(t *testing.T, how string, c row) {
		w, ev := commented(t, how)
		w.done(w.handle(ev))
		w.settled(c.replies, 1, c.commits)
		assert.Equal(t, c.calls, w.calls())
		assert.Contains(t, w.receipt(), c.receipt)
		if strings.HasSuffix(how, "better") {
			assert.NotContains(t, w.receipt(), "\n> ", "nothing is wrong any more")
		}
		if c.replies > 0 {
			assert.Contains(t, w.replies()[0]["body"], c.reply+"\n\n<!-- mergexo-action:")
		}
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result, "once")
		w.rests()
	})
}

// What is handed over is not believed: whoever has the agent's job can add what the agent's own job would have taken out.
func TestWhatIsHandedOverIsSifted(t *testing.T) {
	w, ev, dir := answerOver(t)
	inOutcome("review_replies", []any{object{"review_comment_id": 4242, "body": "Elsewhere."}})(t, w, dir)
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	w.settled(0, 1, 1)
	assert.Contains(t, w.receipt(), "> `4242 is not a review comment of this turn, so the reply to it is above`")
	assert.Contains(t, w.receipt(), "Elsewhere.")
}

func TestAnAnswerOfWhichNothingIsGoodIsAnAttemptThatFailed(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"empty", "talk+mute"} {
		w := newWorld(t, "", "[feedback]\nrepair_rounds = 0").whoseAgent(how)
		ev := w.remark("alice", "Answer me.")
		w.ended(model.ResultFailed, "attempt 1 of 3: nothing of the agent's answer could be posted", w.handle(ev))
		assert.Equal(t, 2, w.calls(), "it was asked once more")
		assert.Empty(t, w.marked("block", ""))
		w.agent = "answer"
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, 1)
	}
}

func TestASlipInWorkOnAnIssueGetsOneRound(t *testing.T) {
	w := newIssue(t, "", "[feedback]\nrepair_rounds = 0").whoseAgent("record+draft")
	w.done(w.handle(w.label("alice", design)))
	asked := w.requests()
	require.Len(t, asked, 2)
	assert.Equal(t, []model.CIFailure{{Name: "answer", Log: "title: empty"}}, asked[1].CI)
	assert.Len(t, w.pulls(), 1)
}
