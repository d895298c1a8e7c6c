package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func blockedBy(reason string) model.BlockMarker {
	return model.BlockMarker{Reason: reason}
}

func TestAClaimLiftsTheQuestionThatItNames(t *testing.T) {
	claim := marker(model.PhaseStarted)
	claim.Lifts = 1
	th := talk(t).say(blockedBy(model.ReasonAgent)).say(claim)
	st := th.fold()
	assert.Nil(t, st.Block)
	require.NotNil(t, st.Question, "what it answers is told")
	assert.EqualValues(t, 1, st.Question.CommentID)
	assert.EqualValues(t, 1, st.Lifted)

	st = th.say(blockedBy(model.ReasonAgent)).fold()
	require.NotNil(t, st.Block, "the next question is another one")
	assert.EqualValues(t, 3, st.Block.CommentID)

	done := marker(model.PhaseDone)
	done.Lifts = 3
	st = th.say(done).fold()
	assert.Nil(t, st.Block)
	assert.Nil(t, st.Question, "it is answered")
	assert.EqualValues(t, 3, st.Lifted)
}

func TestOnlyAQuestionGivesWay(t *testing.T) {
	for _, reason := range []string{model.ReasonRewrite, model.ReasonMarkerEdited, model.ReasonSecret, model.ReasonForbidden} {
		t.Run(reason, func(t *testing.T) {
			claim := marker(model.PhaseStarted)
			claim.Lifts = 2
			st := talk(t).say(blockedBy(model.ReasonAgent)).say(blockedBy(reason)).say(claim).fold()
			require.NotNil(t, st.Block)
			assert.Equal(t, reason, st.Block.Marker.Reason, "it takes the question's place, and no claim lifts it")
			assert.Empty(t, st.Surplus)
			require.NotNil(t, st.Question, "and the next turn is told it all the same")
			assert.EqualValues(t, 1, st.Question.CommentID)
			st = talk(t).say(blockedBy(reason)).say(blockedBy(model.ReasonAgent)).fold()
			assert.Equal(t, reason, st.Block.Marker.Reason)
			assert.Equal(t, []int64{2}, st.Surplus)
		})
	}
}

func TestAnUnblockTellsTheQuestionToo(t *testing.T) {
	unblock := model.UnblockMarker{Head: "abc", By: "olga"}
	st := talk(t).say(blockedBy(model.ReasonAgent)).say(unblock).fold()
	assert.Nil(t, st.Block)
	assert.NotNil(t, st.Question)
}
