package journal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// thread builds a conversation of ours, one comment a minute.
type thread struct {
	t        *testing.T
	comments []model.Comment
}

func talk(t *testing.T) *thread { return &thread{t: t} }

func (th *thread) say(marker any, tokens ...string) *thread {
	return th.write(journal.Codec{}, marker, tokens)
}

func (th *thread) write(c journal.Codec, marker any, tokens []string) *thread {
	th.t.Helper()
	th.comments = append(th.comments, said(th.t, c, int64(len(th.comments)+1), marker, tokens...))
	return th
}

func (th *thread) fold() model.State { return fold(th.comments...) }

func commanded(name string, result model.Verdict) model.CommandMarker {
	return model.CommandMarker{Key: "k-" + name, Command: name, Result: result, By: "olga"}
}

func tracked(head string) model.PRMarker {
	return model.PRMarker{Branch: "agent/greet", Head: head}
}

func failedTurn() model.TurnMarker {
	m := marker(model.PhaseFailed)
	m.Events = nil
	return m
}

func TestPauseLastsUntilResume(t *testing.T) {
	th := talk(t).say(commanded("pause", model.Rejected))
	assert.Nil(t, th.fold().Paused, "only what was applied counts")
	th.say(commanded("pause", model.Applied))
	require.NotNil(t, th.fold().Paused)
	assert.EqualValues(t, 2, th.fold().Paused.CommentID)
	th.say(commanded("resume", model.Applied))
	assert.Nil(t, th.fold().Paused)
	assert.Equal(t, map[string]model.Verdict{"k-pause": model.Applied, "k-resume": model.Applied}, th.fold().Commands)
}

func TestRetryForgivesWhatFailedBefore(t *testing.T) {
	th := talk(t).say(failedTurn()).say(commanded("retry", model.Applied)).say(failedTurn())
	require.Len(t, th.fold().Turns, 1)
	assert.EqualValues(t, 3, th.fold().Turns[0].CommentID)
}

func TestAnAdoptAfterAReleaseBeginsAnew(t *testing.T) {
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	th := talk(t).say(tracked(one)).say(model.BlockMarker{Reason: "x"}).
		say(commanded("release", model.Applied))
	st := th.fold()
	require.NotNil(t, st.Released)
	assert.NotNil(t, st.Block, "a release decides nothing")
	adopt := tracked(two)
	adopt.Command, adopt.AwayFrom, adopt.At = "k", noon.Add(170*time.Second), noon.Add(200*time.Second) // when the commands were given
	th.say(adopt)
	st = th.fold()
	assert.Nil(t, st.Released)
	assert.Nil(t, st.Block)
	assert.Equal(t, two, st.Accepted)
	assert.EqualValues(t, 4, st.Tracked.CommentID)
	assert.Empty(t, st.Surplus)
	assert.Equal(t, []model.Span{{From: adopt.AwayFrom, To: adopt.At}}, st.Away)
	assert.Equal(t, st.Away, journal.Codec{}.Fold(th.comments[3:], scope).Away, "the release may be on a page that is not read")
	th.say(tracked(one))
	assert.Equal(t, two, th.fold().Accepted, "a second marker is said once too often")
	assert.Equal(t, []int64{5}, th.fold().Surplus)
}

func TestTheFirstReplyToACommandCounts(t *testing.T) {
	token := journal.Token("command", "k")
	unblock := model.UnblockMarker{Head: strings.Repeat("1", 40), Command: "k"}
	second := unblock
	second.Head = strings.Repeat("2", 40)
	st := talk(t).say(unblock, token).say(second, token).fold()
	assert.Equal(t, strings.Repeat("1", 40), st.Accepted)
	assert.Equal(t, []int64{2}, st.Surplus)
	assert.Equal(t, map[string]int64{token: 1}, st.Tokens)
}

func TestAnUnblockEndsTheBlockThatItIsAbout(t *testing.T) {
	block := model.BlockMarker{Reason: "x"}
	unblock := model.UnblockMarker{Head: strings.Repeat("1", 40), Block: 1}
	th := talk(t).say(block).say(unblock, journal.Token("a")).say(block)
	require.EqualValues(t, 3, th.fold().Block.CommentID)
	th.say(unblock, journal.Token("b"))
	assert.EqualValues(t, 3, th.fold().Block.CommentID, "it was decided on another one")
	unblock.Block = 3
	th.say(unblock, journal.Token("c")).say(unblock, journal.Token("c"))
	assert.Nil(t, th.fold().Block)
	assert.Equal(t, []int64{6}, th.fold().Surplus, "said by two runs at once")
}

func TestWhatAnAttemptLeftIsKnownUntilAReceipt(t *testing.T) {
	turn := func(phase model.Phase, kept model.Kept, tries ...model.Try) model.TurnMarker {
		m := marker(phase)
		if m.Kept, m.Tries = kept, tries; phase == model.PhasePlanned {
			m.Outbox = &model.Outbox{}
		}
		return m
	}
	one, two := model.Kept{Branch: "mergexo/checkpoint/7/1", SHA: "1"}, model.Kept{SHA: "2", Bundle: "/tmp/2.bundle"}
	unblock := model.UnblockMarker{Head: strings.Repeat("9", 40)}
	for name, c := range map[string]struct {
		turns []model.TurnMarker
		want  model.Kept
	}{
		"a failure":                {[]model.TurnMarker{turn(model.PhaseFailed, one)}, one},
		"a bundle":                 {[]model.TurnMarker{turn(model.PhaseFailed, one), turn(model.PhaseFailed, two)}, two},
		"one without work":         {[]model.TurnMarker{turn(model.PhaseFailed, one), turn(model.PhaseFailed, model.Kept{})}, one},
		"a claim that replaced it": {[]model.TurnMarker{turn(model.PhaseStarted, model.Kept{}, model.Try{Kept: one})}, one},
		"work that is elsewhere":   {[]model.TurnMarker{turn(model.PhaseStarted, model.Kept{}, model.Try{Kept: model.Kept{SHA: "1"}})}, model.Kept{}},
		"a receipt":                {[]model.TurnMarker{turn(model.PhaseFailed, one), turn(model.PhaseDone, one, model.Try{Kept: one})}, model.Kept{}},
	} {
		th := talk(t)
		for _, m := range c.turns {
			th.say(m)
		}
		got := th.say(unblock).fold().Unfinished // failures are forgiven, and their work is kept
		if c.want == (model.Kept{}) {
			assert.Nil(t, got, name)
			continue
		}
		require.NotNil(t, got, name)
		assert.Equal(t, c.want, got.Kept, name)
		assert.Equal(t, c.turns[0].Events, got.Events, name)
	}
}

func TestAnUnblockOfARestoredLineageKeepsWhatWasPlanned(t *testing.T) {
	planned := marker(model.PhasePlanned)
	planned.Outbox = &model.Outbox{}
	unblock := model.UnblockMarker{Head: strings.Repeat("9", 40)}
	folded := func() model.TurnMarker {
		return talk(t).say(planned).say(unblock).fold().Turns[0].Marker
	}
	assert.Equal(t, []any{model.PhasePlanned, unblock.Head}, []any{folded().Phase, folded().Moved}, "it is brought from a history that is given up to this one")
	unblock.Restored = true
	assert.Equal(t, []any{model.PhasePlanned, ""}, []any{folded().Phase, folded().Moved})
}

func TestWhatATurnSaidOfAnAbandonedHistoryIsMarked(t *testing.T) {
	here, there := strings.Repeat("8", 40), strings.Repeat("9", 40)
	for name, c := range map[string]struct {
		unblock model.UnblockMarker
		want    bool
	}{
		"an unblock here":             {model.UnblockMarker{Head: here}, false},
		"an unblock elsewhere":        {model.UnblockMarker{Head: there}, true},
		"an unblock with the lineage": {model.UnblockMarker{Head: there, Restored: true}, false},
	} {
		th := talk(t).say(model.AnswerMarker{Repo: "octo/widgets", Number: 7, Key: strings.Repeat("a", 64), Events: []string{"7:review:6:2026-01-02T12:01:00Z"}, Head: here})
		th.comments[0].Kind = model.KindReview
		traces := th.say(c.unblock).fold().Traces
		require.Len(t, traces, 1, name)
		assert.Equal(t, c.want, traces[0].Abandoned, name)
	}
}

func TestAnOperatorsReplyIsNoSecondMarker(t *testing.T) {
	adopt := tracked(strings.Repeat("1", 40))
	adopt.Command = "k"
	st := talk(t).say(tracked(strings.Repeat("1", 40))).say(adopt).fold()
	assert.Empty(t, st.Surplus)
	assert.EqualValues(t, 1, st.Tracked.CommentID)
}

func TestRepliesOnAnIssueTellHowFarItIsRead(t *testing.T) {
	m := commanded("status", model.Applied)
	m.At, m.Seen = noon, 41
	assert.Equal(t, model.Mark{At: noon, ID: 41}, talk(t).say(m).fold().Settled)
	m.Seen = 0
	assert.Zero(t, talk(t).say(m).fold().Settled)
}

func TestWithinOneSecondTheReceiptThatAnUnblockKnewIsOlder(t *testing.T) {
	head := strings.Repeat("9", 40)
	after := func(receipt int64) model.State {
		th := talk(t).say(marker(model.PhaseDone)).say(model.UnblockMarker{Head: head, Receipt: receipt})
		for i := range th.comments {
			th.comments[i].CreatedAt, th.comments[i].UpdatedAt = noon, noon
		}
		return th.fold()
	}
	assert.Equal(t, strings.Repeat("2", 40), after(0).Accepted, "a turn that ended after the unblock counts from its end")
	assert.Equal(t, head, after(1).Accepted)
	assert.EqualValues(t, 1, after(1).Receipt())
	later := talk(t).say(marker(model.PhaseDone)).say(model.UnblockMarker{Head: head, Receipt: 0})
	later.comments[0].UpdatedAt = later.comments[1].CreatedAt.Add(time.Minute)
	assert.Equal(t, strings.Repeat("2", 40), later.fold().Accepted, "the receipt of a turn that was claimed before")
}

func TestABlockForADaysBudgetEndsByItself(t *testing.T) {
	first := ours(1, "").CreatedAt
	spent := marker(model.PhaseDone)
	spent.Spent = &model.Spent{Day: "2026-01-02", Turns: 2, CostUSD: 1.5}
	block := model.BlockMarker{Reason: model.ReasonBudget, Until: first.Add(150 * time.Second)}
	th := talk(t).say(spent).say(block)
	at := func(now time.Time) model.State {
		s := scope
		s.Now = now
		return journal.Codec{}.Fold(th.comments, s)
	}
	assert.Equal(t, *spent.Spent, th.fold().Spent)
	assert.NotNil(t, at(block.Until.Add(-time.Second)).Block)
	assert.Nil(t, at(block.Until).Block)

	other := model.BlockMarker{Reason: model.ReasonAgent}
	th.say(other)
	assert.EqualValues(t, 2, at(block.Until.Add(-time.Second)).Block.CommentID, "one block is enough")
	th.say(other)
	require.NotNil(t, at(block.Until.Add(time.Hour)).Block, "one that came after it was over counts")
	assert.EqualValues(t, 4, at(block.Until.Add(time.Hour)).Block.CommentID)
}

func TestAnUnblockBeginsWhatItWasAboutAnew(t *testing.T) {
	turn := marker(model.PhaseDone)
	turn.Spent, turn.Session = &model.Spent{Day: "2026-01-02", Turns: 2}, "s-1"
	unblock := model.UnblockMarker{Head: turn.Head, By: "olga"}
	for reason, want := range map[string]struct {
		turns   int
		session string
	}{
		model.ReasonBudget: {0, "s-1"}, model.ReasonSession: {2, ""}, model.ReasonTests: {2, "s-1"},
	} {
		block := model.BlockMarker{Reason: reason}
		st := talk(t).say(turn).say(block).say(unblock).fold()
		require.Len(t, st.Turns, 1)
		assert.Equal(t, want.turns, st.Spent.Turns, reason)
		assert.Equal(t, want.session, st.Turns[0].Marker.Session, reason)
	}
}

func TestDelegatesStayUntilTheyAreTakenBack(t *testing.T) {
	delegated := func(login string) model.CommandMarker {
		m := commanded("delegate", model.Applied)
		m.Key, m.Login = "k-"+login, login
		return m
	}
	logins := func(st model.State) (out []string) {
		for _, d := range st.Delegates {
			out = append(out, d.Login)
		}
		return out
	}
	th := talk(t).say(delegated("dana")).say(delegated("bob")).say(delegated("Dana"))
	assert.Equal(t, []string{"bob", "Dana"}, logins(th.fold()))
	turn := marker(model.PhaseDone)
	turn.Delegates = th.fold().Delegates
	later := talk(t).say(turn)
	assert.Equal(t, []string{"bob", "Dana"}, logins(later.fold()), "the comments that made them so are not read again")
	later.say(commanded("delegate cancel", model.Applied))
	assert.Empty(t, later.fold().Delegates)
	turn.Key, turn.Delegates = strings.Repeat("e", 64), later.fold().Delegates
	assert.Empty(t, talk(t).say(delegated("bob")).say(turn).fold().Delegates, "a receipt says that there are none")
}
