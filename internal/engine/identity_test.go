package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const appToken = "sandbox-mergexo-app[bot]"

// newApp lets an App's bot work in the repository.
func (w *world) newApp() {
	w.t.Helper()
	w.put("/_sandbox/users/mergexo-app[bot]", object{"type": "Bot", "repository": repo.String(), "permission": "write"})
}

// refusesAs lets somebody else's token sweep, and shows that nothing is done on the number of the story, and why. A bot says so there,
// once.
func (w *world) refusesAs(token, login string) {
	w.t.Helper()
	w.gate.revive()
	was, notices := w.calls(), w.notices(login)
	swept := w.sweepWith(w.engineAs(token), sweeping.Options{})
	rep := of(swept, w.number)
	require.NotNil(w.t, rep, "%v", swept.Work)
	assert.Equal(w.t, model.ResultFailed, rep.Result)
	assert.True(w.t, rep.Mistaken, "which is exit code 2")
	assert.Contains(w.t, rep.Reason, "github-actions[bot] wrote as MergeXO at ")
	assert.Contains(w.t, rep.Reason, "this token belongs to "+login)
	assert.NotContains(w.t, rep.Reason, "bots", "nobody is proposed to be trusted")
	assert.Equal(w.t, was, w.calls(), "no agent was called")
	says := 0
	if strings.HasSuffix(login, "[bot]") {
		says = 1
	}
	assert.Len(w.t, w.notices(login), says)
	assert.Equal(w.t, says-len(notices), len(rep.Effects))
}

// notices are the comments of an account that tell of another one.
func (w *world) notices(login string) []string {
	w.t.Helper()
	var out []string
	for _, c := range w.comments() {
		if body := c["body"].(string); strings.Contains(body, "belongs to `"+login+"`") {
			out = append(out, body)
		}
	}
	return out
}

// as lets a new process with somebody's token take an event.
func (w *world) as(token string, ev model.Event) model.Report {
	w.t.Helper()
	rep := w.by(w.engineAs(token), ev)
	w.over(w.runs)
	return rep
}

func TestAnotherTokenWritesNothingWhereTheBotHasBlocked(t *testing.T) {
	w, _, head := rewrittenPull(t)
	w.newApp()
	w.refusesAs("sandbox-octo", "octo")
	w.refusesAs(appToken, "mergexo-app[bot]")
	assert.Equal(t, head, w.tip())
	require.ErrorIs(t, must.Err(w.engineAs(appToken).Handle(context.Background(), w.say("alice", "And again."))), thread.ErrIdentity)
	assert.Equal(t, model.ResultBlocked, w.handle(w.delivery("issue_comment")).Result, "for the bot nothing has changed")
}

func TestAnotherTokenDoesNoAnsweredCommentAgain(t *testing.T) {
	w := newWorld(t)
	w.newApp()
	w.review("alice", "Answer me.")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "And me.")).Result)
	for range 2 {
		w.refusesAs("sandbox-octo", "octo")
		w.refusesAs(appToken, "mergexo-app[bot]")
	}
	w.settled(1, 1, 1)
	w.rests()
}

// What was opened with the token before this one is ours as long as the settings name that account.
func TestWhatAnEarlierTokenOpenedIsNotOpenedAgain(t *testing.T) {
	t.Parallel()
	const both = `bots = ["github-actions[bot]"]`
	t.Run("a pull request whose issue lost its receipt", func(t *testing.T) {
		w := newIssue(t, both)
		w.newApp()
		ev := w.label("alice", smallJob)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		for _, c := range w.comments() {
			w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", c.id())), nil)
		}
		w.ended(model.ResultNothing, "its receipt on issue ", w.as(appToken, ev))
		assert.Len(t, w.pulls(), 1)
		assert.Equal(t, 1, w.calls())
	})
	t.Run("a pull request that was closed before the run that opened it died", func(t *testing.T) {
		w := newIssue(t, both)
		w.newApp()
		ev := w.label("alice", smallJob)
		w.gate.when(diesAfter, opening)
		w.dies(ev)
		require.Len(t, w.pulls(), 1)
		w.closed("3")
		w.as(appToken, ev)
		assert.Len(t, w.pulls(), 1)
	})
	t.Run("an issue about a flaky test", func(t *testing.T) {
		w, ev := flake(t)
		w.setting(both)
		w.newApp()
		w.gate.when(diesAfter, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/issues") })
		w.dies(ev)
		w.as(appToken, ev)
		assert.Len(t, w.issues(), 1)
	})
}

// What somebody's run of MergeXO said is nobody's feedback, and the bot does not go on beside it.
func TestTheBotStopsWhereAPersonsTokenHasWorked(t *testing.T) {
	w := newWorld(t)
	w.as("sandbox-octo", w.remark("alice", "Answer me."))
	w.settled(1, 1, 1)
	said, ev := len(w.comments()), w.delivery("issue_comment")
	for range 2 {
		_, err := w.engine().Handle(context.Background(), ev)
		require.ErrorIs(t, err, thread.ErrIdentity)
		assert.ErrorContains(t, err, "octo wrote as MergeXO at ")
	}
	assert.Len(t, w.comments(), said+1, "which says so, once")

	t.Run("and goes on once the settings name both", func(t *testing.T) {
		w.setting(`bots = ["octo", "github-actions[bot]"]`)
		w.rests()
		w.done(w.handle(w.say("alice", "One more.")))
		w.settled(1, 2, 2)
		w.later(time.Minute)
		require.Equal(t, model.ResultDone, w.handle(w.say("octo", "And one of mine.")).Result, "what octo says without a token is octo's own")
		w.settled(1, 3, 3)
	})
}

// A run that dies is gone on with under another account, and its comment is edited, which spoils nothing.
func TestAnAccountThatTheSettingsNameGoesOnWhereAnotherDied(t *testing.T) {
	w := newWorld(t, `bots = ["octo", "github-actions[bot]"]`)
	ev := w.remark("alice", "Answer me.")
	for _, last := range []int{2, 3} {
		w.diesAt(last, ev)
	}
	w.as("sandbox-octo", ev)
	w.settled(1, 1, 1)
	assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	assert.Empty(t, w.marked("block", ""))
}

// Who only looks needs no setting to see what runs with other tokens have done.
func TestWhoLooksSeesWhatRunsWithOtherTokensSay(t *testing.T) {
	every(t, []string{appToken, "sandbox-octo", "sandbox-actions"}, func(t *testing.T, worker string) {
		w := newWorld(t)
		w.newApp()
		w.by(w.engineAs(worker), w.remark("alice", "Answer me."))
		for _, onlooker := range []string{"sandbox-carol", "sandbox-octo", appToken, "sandbox-actions"} {
			one, _, err := w.engineAs(onlooker).Look(context.Background(), repo, w.number)
			require.NoError(t, err, onlooker)
			assert.Equal(t, model.PhaseDone, one.LastTurn.Phase, onlooker)
			all, _ := w.standings(onlooker)
			require.Len(t, all, 1, onlooker)
			require.NotNil(t, all[0].LastTurn, onlooker)
			assert.Equal(t, model.PhaseDone, all[0].LastTurn.Phase, onlooker)
			assert.Zero(t, all[0].Pending, onlooker)
		}
	})
}

// No run hears a bot that gives a command.
func TestABotLiftsNoBlockOfAnother(t *testing.T) {
	w, _, head := rewrittenPull(t)
	w.newApp()
	said := len(w.comments())
	reports, err := w.engineAs(appToken).Reset(context.Background(), engine.Reset{Repo: repo, Numbers: []int{w.number}, Head: head})
	require.ErrorIs(t, err, thread.ErrIdentity)
	require.Len(t, reports, 1)
	assert.ErrorContains(t, err, "github-actions[bot] wrote as MergeXO at ")
	assert.Len(t, w.comments(), said)
}

// A marker stops a number only where it is the first one, and whoever wrote it could have let MergeXO work here.
func TestWhoseMarkerStopsANumber(t *testing.T) {
	type row struct {
		login, kind, permission, membership string
		stops                               bool
	}
	each(t, map[string]row{
		"who may write":  {"alice", "User", "write", "", true},
		"who hides that": {"hal", "User", "write", "private", true},
		"who may read":   {"reader", "User", "read", "", false},
		"a stranger":     {"eve", "User", "none", "", false},
		"a bot":          {"robot", "Bot", "none", "", true},
	}, func(t *testing.T, _ string, c row) {
		w := newWorld(t)
		w.put("/_sandbox/users/"+c.login, object{"type": c.kind, "repository": repo.String(), "permission": c.permission, "membership": c.membership})
		w.talk(c.login, "<!-- hi -->\n"+w.quotes(journal.Codec{}))
		_, err := w.engine().Handle(context.Background(), w.remark("bob", "Answer me."))
		if c.stops {
			require.ErrorIs(t, err, thread.ErrIdentity)
			assert.Zero(t, w.calls())
			assert.Len(t, w.notices("github-actions[bot]"), 1)
			return
		}
		require.NoError(t, err)
		assert.Equal(t, 1, w.calls())
	})
}

// quotes is a line that would be MergeXO's if MergeXO had written it.
func (w *world) quotes(by journal.Codec) string {
	w.t.Helper()
	m := model.TurnMarker{Repo: repo.String(), Number: w.number, Key: "k", Phase: model.PhaseDone}
	body := must.Get(by.Encode(journal.Body{Text: "hi", Tokens: []string{journal.Token("k")}, Kind: journal.KindTurn, Marker: m}))(w.t)
	return body
}

// Who quotes MergeXO where it works, with or without a key, stops nothing. A person is answered as ever.
func TestAQuotedMarkerIsACommentLikeAnyOther(t *testing.T) {
	every(t, []string{"", "a signing key"}, func(t *testing.T, key string) {
		w := newWorld(t)
		w.key, w.agent = key, "talk"
		w.newApp()
		require.Equal(t, model.ResultDone, w.handle(w.say("alice", "First.")).Result)
		receipt := w.comments()[1]["body"].(string)
		w.later(time.Minute)
		w.talk("mergexo-app[bot]", receipt)
		ev := w.say("alice", "What does this mean?\n\n"+receipt)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		assert.Equal(t, 2, w.calls())
		w.later(time.Minute)
		w.talk("alice", "/mergexo pause\n\n"+w.quotes(journal.Codec{Key: []byte(key)}))
		w.sweep()
		assert.Equal(t, 2, w.calls())
		assert.Contains(t, w.lastSaid(), "**Nothing was changed.** Only people with the maintain")
	})
}

// Another account stops its own number. The sweep goes on with the others.
func TestASweepGoesOnWhereAnotherAccountHasNotWorked(t *testing.T) {
	w := newWorld(t)
	w.newApp()
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Answer me.")).Result)
	first := w.number
	w.number = w.openBeside("agent/other", "other\n")
	w.talk("alice", "And me.")
	swept := w.sweepWith(w.engineAs(appToken), sweeping.Options{})
	assert.Equal(t, model.ResultDone, of(swept, w.number).Result)
	assert.Equal(t, model.ResultFailed, of(swept, first).Result)
}

// Whose token it is may review like anybody, and be answered.
func TestAPersonIsHeardByARunWithTheirToken(t *testing.T) {
	w := newWorld(t)
	w.done(w.as("sandbox-octo", w.remark("octo", "Answer me.")))
	w.settled(1, 1, 1)
	w.done(w.as("sandbox-octo", w.say("octo", "And me.")))
	w.settled(1, 2, 2)
	assert.Equal(t, model.ResultNothing, w.as("sandbox-octo", w.delivery("issue_comment")).Result, "its own answers are no feedback")
	assert.Equal(t, 2, w.calls())
}

// A person's token sets workflows going by its own comments too, also by those that it has edited since.
func TestTheEventsOfARunWithAPersonsTokenSayNothingTwice(t *testing.T) {
	w := newWorld(t, `bots = ["mergexo-app[bot]"]`)
	ev := w.say("alice", "Say more.")
	w.gate.after = func(int) { w.later(time.Minute) } // so that an edit is later than what it edits
	require.Equal(t, model.ResultDone, w.as("sandbox-octo", ev).Result)
	own := w.deliveries("issue_comment")[1:]
	require.Len(t, own, 4, "two comments, and two edits of one")
	for _, ev := range own {
		w.gate.revive()
		assert.Equal(t, model.ResultNothing, w.as("sandbox-octo", ev).Result, ev.Action)
		assert.Zero(t, w.gate.writes, "%v", w.gate.seen)
	}
	assert.Equal(t, 1, w.calls())
}
