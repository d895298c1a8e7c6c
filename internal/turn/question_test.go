package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestWhatAnswersAQuestion(t *testing.T) {
	at := noon.Add(10 * time.Second)
	q := &model.Posted[model.BlockMarker]{Marker: model.BlockMarker{Reason: model.ReasonAgent, Key: "k", Detail: "Formal or not?"}, CommentID: 100, At: at}
	comment := func(kind model.Kind, id int64, when time.Time) model.Comment {
		c := said(1, "alice", "OWNER", "x")
		c.Kind, c.ID, c.CreatedAt, c.UpdatedAt = kind, id, when, when
		return c
	}
	heard := comment(model.KindReview, 7, at)
	edited := comment(model.KindReview, 7, at.Add(time.Minute))
	edited.CreatedAt = noon
	st := model.State{Block: q, Turns: []model.Posted[model.TurnMarker]{{Marker: model.TurnMarker{Key: "k", Events: []string{heard.Key(7)}}}}}
	require.Same(t, q, turn.Question(st))
	type row struct {
		comment model.Comment
		answers bool
	}
	must.Each(t, map[string]row{
		"later":                           {comment(model.KindIssue, 90, at.Add(time.Second)), true},
		"earlier":                         {comment(model.KindIssue, 90, at.Add(-time.Second)), false},
		"in that second, behind it":       {comment(model.KindIssue, 101, at), true},
		"in that second, before it":       {comment(model.KindIssue, 99, at), false},
		"a review in that second":         {comment(model.KindReview, 8, at), true},
		"what the turn had read":          {heard, false},
		"the same, edited since":          {edited, true},
		"a workflow run that fails since": {comment(model.KindActions, 9, at.Add(time.Hour)), false},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.answers, len(turn.Answers(*q, st, 7, []model.Comment{c.comment})) == 1)
	})
	old, older, answer := comment(model.KindIssue, 2, noon.Add(time.Second)), comment(model.KindIssue, 1, noon), comment(model.KindIssue, 101, at)
	st.Lift(100)
	assert.Nil(t, st.Block)
	now, later := turn.TakeUp([]model.Comment{older, old, answer}, st, 7, turn.Policy{MaxPerTurn: 2})
	assert.Equal(t, []model.Comment{older, answer}, now)
	assert.Equal(t, []model.Comment{old}, later)

	r := turn.Request(snapshot(answer), turn.Ask{Kind: model.AskFeedback, Feedback: now, State: st, Boundary: "B"})
	assert.Equal(t, 1, strings.Count(r.Prompt, "Formal or not?"))
	assert.Equal(t, "You asked a question: Formal or not?", r.History[0].Summary)
}

func TestAnyOtherBlockOutlivesAnAnswer(t *testing.T) {
	st := model.State{Block: &model.Posted[model.BlockMarker]{Marker: model.BlockMarker{Reason: model.ReasonForbidden}, CommentID: 100}}
	st.Lift(100)
	assert.NotNil(t, st.Block)
	assert.Nil(t, turn.Question(st))
}
