package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestCommentsEndWithTheirMatter(t *testing.T) {
	of := func(phase model.Phase, key string, events ...string) model.TurnMarker {
		m := marker(phase)
		m.Key, m.Events = key, events
		return m
	}
	merge := func(command string, state model.MergeState) model.MergeMarker {
		m := mergeMarker(command)
		if m.State = state; state == model.MergeDone {
			m.Landed = m.Head
		}
		return m
	}
	lifting := of(model.PhaseStarted, "k", "e")
	lifting.Lifts = 1
	tells := blockedBy(model.ReasonAttempts)
	tells.Key = "k"
	day := blockedBy(model.ReasonBudget)
	day.Until = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	unblock := model.UnblockMarker{Head: "abc", By: "olga"}
	warning := model.SettingsMarker{}
	type row struct {
		said []any
		want []model.Ended
	}
	must.Each(t, map[string]row{
		"a block that stands":                     {[]any{blockedBy(model.ReasonRewrite)}, nil},
		"unblocked":                               {[]any{blockedBy(model.ReasonRewrite), unblock}, []model.Ended{{CommentID: 1, Why: model.EndUnblocked, By: "olga"}}},
		"an answered question":                    {[]any{blockedBy(model.ReasonAgent), lifting}, []model.Ended{{CommentID: 1, Why: model.EndAnswered}}},
		"a question that another block displaces": {[]any{blockedBy(model.ReasonAgent), blockedBy(model.ReasonSecret)}, nil},
		"a block for a day that is over":          {[]any{day, blockedBy(model.ReasonSecret)}, []model.Ended{{CommentID: 1, Why: model.EndExpired}}},
		"an attempt that a block tells of":        {[]any{of(model.PhaseFailed, "k", "e"), of(model.PhaseFailed, "other", "f"), tells}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"an attempt at feedback that is answered": {[]any{of(model.PhaseFailed, "k", "e"), of(model.PhaseFailed, "l", "e", "f"), of(model.PhaseDone, "m", "e")}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"an attempt at no feedback":               {[]any{of(model.PhaseFailed, "k")}, nil},
		"a request that was made again":           {[]any{merge("a", model.MergeFailed), merge("b", model.MergeDone)}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"the newest request":                      {[]any{merge("a", model.MergeFailed)}, nil},
		"settings that were wrong":                {[]any{warning, of(model.PhaseStarted, "k", "e")}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"settings that may be":                    {[]any{of(model.PhaseStarted, "k", "e"), warning}, nil},
	}, func(t *testing.T, c row) {
		th := talk(t)
		for _, m := range c.said {
			th.say(m)
		}
		assert.Equal(t, c.want, th.fold().Ended)
		for i := range th.comments {
			th.comments[i].Minimized = true
		}
		assert.Empty(t, th.fold().Ended, "what GitHub hides is at its end")
	})
}
