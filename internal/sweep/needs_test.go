package sweep_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sweep"
)

func TestWhatAPersonHasToDo(t *testing.T) {
	t.Parallel()
	merge := func(state model.MergeState, why model.MergeCode, head string) model.Standing {
		return model.Standing{Head: "a", State: model.StandQueued, Merge: &model.MergeRequest{State: state, Reason: why, Head: head}}
	}
	for name, c := range map[string]struct {
		row  model.BoardPull
		want string
	}{
		"nothing":                  {model.BoardPull{Standing: model.Standing{State: model.StandIdle}}, ""},
		"blocked":                  {model.BoardPull{Standing: model.Standing{State: model.StandBlocked, Block: &model.Blocked{Reason: "tests_failed"}}}, "decide about the block (tests_failed)"},
		"waits for an approval":    {model.BoardPull{Standing: merge(model.MergeWaiting, model.CodeApproval, "a")}, "approve it"},
		"waits for checks":         {model.BoardPull{Standing: merge(model.MergeWaiting, model.CodeChecks, "a")}, ""},
		"merge failed":             {model.BoardPull{Standing: merge(model.MergeFailed, model.CodeConflict, "a")}, "the merge came to nothing (REBASE_CONFLICT)"},
		"merge of an earlier head": {model.BoardPull{Standing: merge(model.MergeFailed, model.CodeConflict, "b")}, ""},
		"taken over":               {model.BoardPull{Standing: model.Standing{State: model.StandTaken, Merge: &model.MergeRequest{State: model.MergeWaiting, Reason: model.CodeApproval}}}, ""},
		"not evaluated":            {model.BoardPull{Standing: model.Standing{Head: "a"}, External: &model.ExternalMarker{Head: "a", State: model.ExternalFailed}}, "the evaluation came to no result"},
		"an agent failed":          {model.BoardPull{Standing: model.Standing{State: model.StandFailed}}, "the agent failed; it is tried again"},
	} {
		assert.Equal(t, c.want, sweep.Needs(c.row), name)
	}
}
