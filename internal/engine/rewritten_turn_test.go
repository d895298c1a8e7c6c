package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// besides is a commit on main that is no descendant of the pull request's head, with this greeting.
func (w *world) besides(greeting string) string {
	w.t.Helper()
	main := w.at("main")
	tree := w.api("octo", "POST", w.path("/git/trees"), object{
		"base_tree": w.api("octo", "GET", w.path("/git/commits/"+main), nil).at("tree", "sha"),
		"tree":      []any{object{"path": "greeting.txt", "mode": "100644", "type": "blob", "content": greeting}},
	})["sha"]
	return w.api("octo", "POST", w.path("/git/commits"), object{"message": "Rewritten", "parents": []any{main}, "tree": tree})["sha"].(string)
}

// rewrittenTurn is a turn whose head somebody rewrote while its agent was at work, which has left its result on its stage.
func rewrittenTurn(t *testing.T, how, greeting string, more ...string) (w *world, old, now string) {
	t.Helper()
	w = newWorld(t, more...)
	w.handle(w.delivery("pull_request"))
	old, now = w.tip(), w.besides(greeting)
	w.agent = how
	w.review("alice", "Answer me.")
	w.meanwhile(deed{"bob", "PATCH", w.path("/git/refs/heads/" + w.head), fmt.Sprintf(`{"sha": %q, "force": true}`, now)})
	w.blocked("history_rewrite", w.handle(w.delivery("pull_request_review_comment")))
	w.agent = how
	return w, old, now
}

const sameGreeting = "hello\nworld\n"

func TestFinishedWorkIsPublishedOnceItFitsAgain(t *testing.T) {
	type row struct {
		greeting string
		accept   bool // the head as it is now; else the old one is restored
		commits  []string
		calls    int
	}
	each(t, map[string]row{
		"restored":              {sameGreeting, false, []string{"Write greeting.txt", "Answer, in words of call 1"}, 1},
		"accepted":              {sameGreeting, true, []string{"Rewritten", "Answer, in words of call 1"}, 1},
		"accepted, in conflict": {"moon\n", true, []string{"Rewritten", "Answer, in words of call 2"}, 2},
	}, func(t *testing.T, _ string, c row) {
		w, old, now := rewrittenTurn(t, "answer", c.greeting)
		order := "/mergexo unblock"
		if c.accept {
			order += " head_sha=" + now
		} else {
			w.move(old)
		}
		w.done(w.orders("carol", order))
		assert.Equal(t, c.commits, w.commits())
		w.settled(1, 1, 1)
		assert.Equal(t, c.calls, w.calls())
		if c.calls == 1 {
			assert.Empty(t, w.checkpoints())
		} else { // what was finished on the old history
			require.Len(t, w.checkpoints(), 1)
			assert.Contains(t, w.receipt(), w.linkOf(w.checkpoints()[0]))
			assert.Contains(t, w.receipt(), "the agent started over, without the work of an earlier attempt")
			assert.Equal(t, "Answer, in words of call 1", w.bare("log", "-1", "--format=%s", w.checkpoints()[0]))
		}
		w.later(time.Minute)
		assert.Equal(t, model.ResultNothing, w.handle(w.delivery("pull_request_review_comment")).Result, "nothing is left")
	})
}

func TestFinishedWorkWhoseTestsFailOnAnotherHeadIsTheAgentsToRepair(t *testing.T) {
	w, _, now := rewrittenTurn(t, "answer", "moon\n"+sameGreeting, `required_tests = ["sh", "-c", "test -e fixed.txt || ! grep -q moon greeting.txt"]`)
	w.agent = "answer+repair"
	w.done(w.orders("carol", "/mergexo unblock head_sha="+now))
	assert.Contains(t, w.commits(), "Answer, in words of call 1", "it goes on from there")
	assert.NotContains(t, w.receipt(), "started over")
	assert.Empty(t, w.stages())
}

func TestADeathWhileFinishedWorkIsBroughtOntoAnotherHeadIsMadeGood(t *testing.T) {
	each(t, map[string]string{"replayed": sameGreeting, "in conflict": "moon\n"}, func(t *testing.T, name, greeting string) {
		w, _, now := rewrittenTurn(t, "answer", greeting)
		ev := w.say("carol", "/mergexo unblock head_sha="+now)
		dead := w.wrecks(func() { w.done(w.handle(ev)) })
		last, calls := w.gate.writes, w.calls()
		w.sweep()
		want := w.shows()
		dead.each(t, writes(1, last, 2, 3, 4, 5, last-1), func(t *testing.T, w *world, _ int) {
			rep := w.handle(ev)
			assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
			w.sweep() // which deletes what a death left of the stage
			assert.Equal(t, want, w.shows())
			assert.LessOrEqual(t, w.calls(), calls+1)
			if name == "replayed" {
				assert.Equal(t, 1, w.calls(), "the work was done")
			}
		})
	})
}
