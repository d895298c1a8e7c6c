package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
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
	unblock := model.UnblockMarker{Repo: "octo/widgets", Number: 7, Head: "abc", By: "olga"}
	warning := model.SettingsMarker{Repo: "octo/widgets", Number: 7}
	for name, c := range map[string]struct {
		th   func(*thread) *thread
		want []model.Ended
	}{
		"a block that stands": {func(th *thread) *thread { return th.say(journal.KindBlock, blockedBy(model.ReasonRewrite)) }, nil},
		"unblocked": {func(th *thread) *thread {
			return th.say(journal.KindBlock, blockedBy(model.ReasonRewrite)).say(journal.KindUnblock, unblock)
		}, []model.Ended{{CommentID: 1, Why: model.EndUnblocked, By: "olga"}}},
		"an answered question": {func(th *thread) *thread {
			return th.say(journal.KindBlock, blockedBy(model.ReasonAgent)).say(journal.KindTurn, lifting)
		}, []model.Ended{{CommentID: 1, Why: model.EndAnswered}}},
		"a question that another block displaces": {func(th *thread) *thread {
			return th.say(journal.KindBlock, blockedBy(model.ReasonAgent)).say(journal.KindBlock, blockedBy(model.ReasonSecret))
		}, nil},
		"a block for a day that is over": {func(th *thread) *thread {
			return th.say(journal.KindBlock, day).say(journal.KindBlock, blockedBy(model.ReasonSecret))
		}, []model.Ended{{CommentID: 1, Why: model.EndExpired}}},
		"an attempt that a block tells of": {func(th *thread) *thread {
			return th.say(journal.KindTurn, of(model.PhaseFailed, "k", "e")).say(journal.KindTurn, of(model.PhaseFailed, "other", "f")).say(journal.KindBlock, tells)
		}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"an attempt at feedback that is answered": {func(th *thread) *thread {
			return th.say(journal.KindTurn, of(model.PhaseFailed, "k", "e")).say(journal.KindTurn, of(model.PhaseFailed, "l", "e", "f")).say(journal.KindTurn, of(model.PhaseDone, "m", "e"))
		}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"an attempt at no feedback": {func(th *thread) *thread { return th.say(journal.KindTurn, of(model.PhaseFailed, "k")) }, nil},
		"a request that was made again": {func(th *thread) *thread {
			return th.say(journal.KindMerge, merge("a", model.MergeFailed)).say(journal.KindMerge, merge("b", model.MergeDone))
		}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"the newest request": {func(th *thread) *thread { return th.say(journal.KindMerge, merge("a", model.MergeFailed)) }, nil},
		"settings that were wrong": {func(th *thread) *thread {
			return th.say(journal.KindSettings, warning).say(journal.KindTurn, of(model.PhaseStarted, "k", "e"))
		}, []model.Ended{{CommentID: 1, Why: model.EndSuperseded}}},
		"settings that may be": {func(th *thread) *thread {
			return th.say(journal.KindTurn, of(model.PhaseStarted, "k", "e")).say(journal.KindSettings, warning)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			th := c.th(&thread{t: t})
			assert.Equal(t, c.want, th.fold().Ended)
			for i := range th.comments {
				th.comments[i].Minimized = true
			}
			assert.Empty(t, th.fold().Ended, "what GitHub hides is at its end")
		})
	}
}
