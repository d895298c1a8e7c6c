package turn

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Question is the open block in which the agent asks for a decision; nil for none.
func Question(st model.State) *model.Posted[model.BlockMarker] {
	if st.Block == nil || st.Block.Marker.Reason != model.ReasonAgent {
		return nil
	}
	return st.Block
}

// Answers are the comments that answer the agent's question: those of authorized people since it was asked. GitHub's times
// are in whole seconds. Within the question's second the ID of a conversation comment decides, and for a review comment
// whether the asking turn had read it.
func Answers(q model.Posted[model.BlockMarker], st model.State, number int, pending []model.Comment) []model.Comment {
	var read []string
	for _, t := range st.Turns {
		if t.Marker.Key == q.Marker.Key {
			read = append(read, t.Marker.Events...)
		}
	}
	var answers []model.Comment
	for _, c := range pending {
		since := c.UpdatedAt.Compare(q.At)
		switch {
		case c.Kind.Happened() || slices.Contains(read, c.Key(number)):
		case since > 0, since == 0 && (c.Kind != model.KindIssue || c.ID > q.CommentID):
			answers = append(answers, c)
		}
	}
	return answers
}

// TakeUp splits off the next turn's feedback, like Batch. It always includes the answers to the agent's question, however
// much else has waited longer.
func TakeUp(pending []model.Comment, st model.State, number int, policy Policy) (now, later []model.Comment) {
	if st.Question == nil {
		return Batch(pending, policy)
	}
	answers := Answers(*st.Question, st, number, pending)
	is := func(c model.Comment) bool {
		return slices.ContainsFunc(answers, func(a model.Comment) bool { return a.Kind == c.Kind && a.ID == c.ID })
	}
	rest := slices.DeleteFunc(slices.Clone(pending), is)
	now, later = Batch(slices.Concat(answers, rest), policy)
	byAge := func(a, b model.Comment) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) }
	slices.SortStableFunc(now, byAge)
	slices.SortStableFunc(later, byAge)
	return now, later
}
