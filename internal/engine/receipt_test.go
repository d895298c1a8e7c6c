package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// unreceipted has somebody delete the receipt of the only turn.
func (w *world) unreceipted() {
	w.t.Helper()
	receipts := w.marked("turn", "done")
	require.Len(w.t, receipts, 1)
	w.later(time.Minute)
	w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", receipts[0].id())), nil)
	require.Empty(w.t, w.marked("turn", "done"))
}

// unreplied has somebody delete all replies.
func (w *world) unreplied() {
	w.t.Helper()
	for _, r := range w.replies() {
		w.api("octo", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", r.id())), nil)
	}
}

// A turn leaves more than its receipt: its replies, and its commits on the branch.
func TestADeletedReceiptIsRestoredWithoutTheAgent(t *testing.T) {
	t.Parallel()
	reviewed := func(w *world) model.Event { return w.remark("alice", "Answer me.") }
	talked := func(w *world) model.Event { return w.say("alice", "Say more.") }
	for name, tt := range map[string]struct {
		agent            string
		said             func(*world) model.Event
		then             func(*world)
		replies, commits int
	}{
		"a reply and a commit are left": {agent: "answer", said: reviewed, replies: 1, commits: 1},
		"replies are left":              {agent: "talk", said: func(w *world) model.Event { w.review("alice", "One."); return talked(w) }, replies: 1},
		"a commit is left":              {agent: "answer", said: func(w *world) model.Event { w.talk("bob", "And more."); return talked(w) }, commits: 1},
		"a commit is left of a reply":   {agent: "answer", said: reviewed, then: (*world).unreplied, commits: 1},
		"commits of the agent are left": {agent: "commits", said: talked, commits: 2},
		"more was pushed since": {agent: "answer", said: talked, commits: 2,
			then: func(w *world) { w.write("bob", w.head, "bob.txt", "bob\n") }},
		"one comment is gone": {agent: "answer", said: func(w *world) model.Event { w.talk("bob", "And more."); return talked(w) }, commits: 1,
			then: func(w *world) { w.silences("alice") }},
	} {
		for way, look := range map[string]func(*world, model.Event){
			"an event": func(w *world, ev model.Event) { w.handle(ev) },
			"a sweep":  func(w *world, _ model.Event) { w.sweep() },
		} {
			first := name == "a reply and a commit are left"
			if way == "a sweep" && !first && !everyRow {
				continue // which finds the same
			}
			t.Run(name+", "+way, func(t *testing.T) {
				w := newWorld(t).whoseAgent(tt.agent)
				ev := tt.said(w)
				require.Equal(t, model.ResultDone, w.handle(ev).Result)
				before := w.tip()
				w.unreceipted()
				if tt.then != nil {
					tt.then(w)
				} else {
					require.Equal(t, before, w.tip())
				}
				for range 2 {
					look(w, ev)
					w.settled(tt.replies, 1, tt.commits)
				}
				assert.Equal(t, 1, w.calls(), "the agent is not asked again")
				assert.Contains(t, w.receipt(), "**Receipt restored**")
				if !first {
					return
				}

				require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Something new.")).Result, "and what is new is answered")
				assert.Equal(t, 2, w.calls())
				assert.Len(t, w.marked("turn", "done"), 2)
			})
		}
	}
}

func TestATurnWithoutAnyTraceIsDoneAgainOnceAnOperatorSaysSo(t *testing.T) {
	w := newWorld(t).whoseAgent("echo")
	ev := w.say("alice", "Say more.")
	w.handle(ev)
	w.unreceipted()
	require.Equal(t, model.ReasonMarkerDeleted, w.handle(ev).BlockedReason)
	assert.Equal(t, 1, w.calls())
	w.later(time.Minute)
	w.orders("carol", "/mergexo unblock")
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Equal(t, 2, w.calls())
	w.rests()
}

// What a person pushes or says may look like a trace, and nothing is kept from the agent by it.
func TestTracesThatSomebodyElseLaysSuppressNothing(t *testing.T) {
	trace := func(w *world, id int64) (model.AnswerMarker, string) {
		event := model.EventKey(w.number, model.KindReview, id, w.now)
		m := model.AnswerMarker{Repo: repo.String(), Number: w.number, Key: journal.TurnKey(w.number, w.tip(), []string{event}), Events: []string{event}, Start: w.tip(), Head: w.tip()}
		return m, journal.Codec{}.Trail("Mine", m)
	}
	each(t, map[string]func(*world, int64){
		"a commit": func(w *world, id int64) {
			_, message := trace(w, id)
			w.api("alice", "PUT", w.path("/contents/other.txt"), object{"message": message, "branch": w.head, "content": "Ym9iCg=="})
		},
		"a commit under our name": func(w *world, id int64) {
			_, message := trace(w, id)
			us := object{"name": ourName, "email": "41898282+github-actions[bot]@users.noreply.github.com", "date": "2026-01-02T12:00:00Z"}
			w.api("alice", "PUT", w.path("/contents/other.txt"), object{"message": message, "branch": w.head, "content": "Ym9iCg==", "author": us, "committer": us})
		},
		"a commit below one of ours": func(w *world, id int64) {
			_, message := trace(w, id)
			w.api("alice", "PUT", w.path("/contents/other.txt"), object{"message": message, "branch": w.head, "content": "Ym9iCg=="})
			w.api("actions", "PUT", w.path("/contents/ours.txt"), object{"message": "Ours", "branch": w.head, "content": "Ym9iCg=="})
		},
		"a reply": func(w *world, id int64) {
			m, _ := trace(w, id)
			body := must.Get(journal.Codec{}.Encode(journal.Body{Text: "Done", Kind: journal.KindAnswer, Marker: m, Tokens: []string{journal.Token("reply", m.Key, fmt.Sprint(id))}}))(w.t)
			w.api("eve", "POST", w.pull(fmt.Sprintf("/comments/%d/replies", id)), object{"body": body})
		},
	}, func(t *testing.T, _ string, lay func(*world, int64)) {
		w, ev := commented(t)
		lay(w, ev.CommentID)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		assert.Equal(t, 1, w.calls())
		assert.Len(t, w.marked("turn", "done"), 1)
		assert.NotContains(t, w.receipt(), "restored")
	})
}

func TestAnAgentLaysNoTracesEither(t *testing.T) {
	w := newWorld(t).whoseAgent("posing")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Pose.")).Result)
	assert.Equal(t, 1, strings.Count(w.bare("log", "--format=%B", "main.."+w.head), "MergeXO-Turn:"))
	assert.NotContains(t, w.bare("log", "--format=%B", "main.."+w.head), "MergeXO-Turn: forged")
}

// With a signing key the commit itself tells whose it is, and nobody is asked.
func TestASignedTrailIsBelievedAndAnUnsignedOneIsNot(t *testing.T) {
	w := newWorld(t)
	w.key = "secret"
	ev := w.say("alice", "Say more.")
	w.handle(ev)
	w.unreceipted()
	w.gate.revive()
	w.handle(ev)
	w.settled(0, 1, 1)
	assert.Equal(t, 1, w.calls())
	assert.NotContains(t, strings.Join(w.gate.seen, "\n"), "/activity")

	t.Run("of another key", func(t *testing.T) {
		w.unreceipted()
		w.key = "another"
		assert.Equal(t, model.ReasonMarkerDeleted, w.handle(ev).BlockedReason)
		assert.Equal(t, 1, w.calls())
	})
}

func TestARestoredReceiptIsWrittenOnceWhateverDies(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fate{"before": diesFirst, "after": diesAfter, "unclear": unclear, "lost": lost} {
		if name != "after" && !everyRow {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, ev := twoComments(t)
			w.handle(ev)
			w.unreceipted()
			w.gate.revive()
			w.gate.only(1, f)
			w.handle(ev)
			w.gate.revive()
			w.recover(ev)
			w.settled(2, 1, 1)
			assert.Equal(t, 1, w.calls())
		})
	}
	t.Run("two at once", func(t *testing.T) {
		w, ev := twoComments(t)
		w.handle(ev)
		w.unreceipted()
		w.beforeWriting(func() { w.handle(ev) })
		w.handle(ev)
		w.settled(2, 1, 1)
		assert.Equal(t, 1, w.calls())
	})
}

// The head that a lost receipt had accepted is still the last accepted one.
func TestARewriteBehindALostReceiptBlocks(t *testing.T) {
	w, ev := twoComments(t)
	start := w.tip()
	w.handle(ev)
	w.unreceipted()
	w.move(start)
	w.write("bob", w.head, "bob.txt", "bob\n")
	w.blocked("history_rewrite", w.handle(w.say("alice", "And now?")))
	assert.Equal(t, 1, w.calls())
}

// A signature tells of which turn a commit says it is, and not who has put the commit there: anybody can copy its message.
func TestACopiedTrailAcceptsNoRewrite(t *testing.T) {
	w := newWorld(t)
	w.key = "secret"
	start := w.tip()
	ev := w.say("alice", "Say more.")
	w.handle(ev)
	message := w.api("octo", "GET", w.path("/commits/"+w.tip()), nil).at("commit", "message").(string)
	require.Contains(t, message, "MergeXO-Turn: ")
	w.unreceipted()
	w.later(time.Minute)
	tree := w.api("octo", "GET", w.path("/commits/main"), nil).at("commit", "tree", "sha")
	copied := w.api("octo", "POST", w.path("/git/commits"), object{"message": message, "tree": tree, "parents": []any{w.at("main")}})
	require.NotEqual(t, start, copied["sha"])
	w.move(copied["sha"].(string))
	w.handle(ev)
	w.blocked("history_rewrite", w.handle(w.say("alice", "And now?")))
	assert.Equal(t, 1, w.calls())
}
