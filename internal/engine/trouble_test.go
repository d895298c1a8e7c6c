package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// diesAfterWrite lets the process die once its n-th write is applied.
func (w *world) diesAfterWrite(n int) {
	w.gate.only(n, diesAfter)
}

// diesAt lets a new process take an event and die once its n-th write is applied.
func (w *world) diesAt(n int, ev model.Event) {
	w.t.Helper()
	w.gate.revive()
	w.gate.only(n, diesAfter)
	w.dies(ev)
}

// unblock accepts a head as an operator's command will.
func (w *world) unblock(head string) {
	w.t.Helper()
	w.posts(journal.KindUnblock, model.UnblockMarker{Repo: repo.String(), Number: w.number, Head: head, By: "carol"})
}

// The writes of a turn over two comments on a pull request that is tracked first.
const (
	writeClaim = 2
	writePlan  = 4
	writePush  = 5
)

func TestOldFeedbackIsNotAnsweredAgainWhereItsReceiptWasNotRead(t *testing.T) {
	w := newWorld(t)
	old := w.remark("alice", "Answer me.")
	w.handle(old)
	w.chatter(120)
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "And me.")).Result)
	w.settled(1, 2, 2)
	assert.Contains(t, w.handle(old).Reason, "nothing is pending", "the old event again, with the old comment's node")
	w.settled(1, 2, 2)
}

func TestRunsOverDifferentSetsOfTheSameFeedback(t *testing.T) {
	w := newWorld(t).whoseAgent("talk")
	ev := w.remark("alice", "One.")
	w.beforeWrite(writeClaim, func() { // the first run has read one comment; the second reads two, and is faster
		w.review("bob", "Two.")
		w.done(w.beside(ev))
	})
	w.gives(model.ResultRetry, w.by(w.engine(), ev))
	w.settled(2, 1, 0)
	assert.Equal(t, 1, w.calls())
}

func TestAPublishedTurnThatIsRewoundBlocksAndAsksNoAgent(t *testing.T) {
	w, ev := twoComments(t)
	start := w.tip()
	w.diesAt(writePush, ev)
	require.NotEqual(t, start, w.tip())
	w.move(start)
	w.write("bob", w.head, "bob.txt", "bob\n")
	w.blocked("history_rewrite", w.handle(ev))
	assert.Equal(t, 1, w.calls())
}

// Both runs find no claim, and each posts its own before it looks again: the older comment decides.
func TestOfTwoRunsThatClaimATurnTheOlderClaimGoesOn(t *testing.T) {
	w, ev := twoComments(t)
	first, second := w.engine(), w.engine()
	claimed, withdrawn := make(chan struct{}), make(chan struct{})
	var ended sync.WaitGroup
	w.beforeWrite(2, func() { // after the pull request's marker: the first run has read, and is about to claim: the second one reads and claims before it
		ended.Go(func() {
			rep, err := second.Handle(context.Background(), ev)
			assert.NoError(t, err)
			assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		})
		<-claimed
	})
	w.afterWrite(3, func() {
		close(claimed)
		<-withdrawn
	})
	rep, err := first.Handle(context.Background(), ev)
	close(withdrawn)
	ended.Wait()
	require.NoError(t, err)
	assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
	assert.Contains(t, rep.Reason, "another run is working on")
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.marked("turn", ""), 1)
}

// TestOfTwoRunsThatDidNotSeeEachOtherOneAnswers: GitHub may show an old conversation. The one that lands later sees the receipt.
func TestOfTwoRunsThatDidNotSeeEachOtherOneAnswers(t *testing.T) {
	w, ev := commented(t)
	w.gate.after = func(n int) {
		if n != writePlan {
			return
		}
		body, _ := w.marked("turn", "planned")[0]["body"].(string)
		_, text, _ := strings.Cut(body, "<!-- mergexo-turn:")
		text, _, _ = strings.Cut(text, " -->")
		var m model.TurnMarker
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		m.Phase, m.Claim, m.Outbox, m.OutboxZ, m.Head = model.PhaseDone, "another", nil, "", w.head
		w.posts(journal.KindTurn, m)
	}
	w.ended(model.ResultNothing, "another run answered this", w.handle(ev))
	assert.Len(t, w.commits(), 1)
	assert.Empty(t, w.replies())
	assert.Len(t, w.marked("turn", ""), 1, "the receipt")
}

func TestTwoRunsThatMeetTheSameRewriteBlockOnce(t *testing.T) {
	w := newWorld(t)
	w.handle(w.delivery("pull_request"))
	w.rewritten()
	ev := w.remark("alice", "Answer me.")
	w.beforeWriting(func() { w.gives(model.ResultBlocked, w.beside(ev)) })
	w.gives(model.ResultBlocked, w.by(w.engine(), ev))
	assert.Len(t, w.marked("block", ""), 1)
}

func TestAnswersAreStillGivenWhenAPublishedTurnWasMerged(t *testing.T) {
	w, ev := twoComments(t)
	w.diesAt(writePush, ev)
	w.api("octo", "PUT", w.pull("/merge"), object{})
	w.done(w.handle(ev))
	assert.Len(t, w.replies(), 2)
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Equal(t, 1, w.calls())
}

func TestWhatIsTestedIsWhatIsPushed(t *testing.T) {
	t.Parallel()
	t.Run("an uncommitted file does not make the tests pass", func(t *testing.T) {
		w := newWorld(t, `required_tests = ["test", "-f", "left.txt"]`, "[feedback]\nrepair_rounds = 0").whoseAgent("commits+dirty")
		w.blocked("tests_failed", w.handle(w.remark("alice", "Answer me.")))
	})
	t.Run("no test exchanges a commit behind its name", func(t *testing.T) {
		w := newWorld(t, `required_tests = ["sh", "-c", """
set -e
mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml; git add .github
made=$(git commit-tree -p HEAD~1 -m Work "$(git write-tree)")
file() { echo ".git/objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-)"; }
mv -f "$(file "$made")" "$(file "$(git rev-parse HEAD)")"
"""]`)
		rep := w.gives(model.ResultFailed, w.handle(w.remark("alice", "Answer me.")))
		assert.Regexp(t, "hash mismatch|it is not here", rep.Reason, "git looks as it takes back what the tests left")
		for name := range w.branches() {
			w.lacks(name, ".github/workflows/x.yml")
		}
	})
	t.Run("what tests leave is nobody's work", func(t *testing.T) {
		w := newWorld(t, `required_tests = ["sh", "-c", "echo x > coverage.out; test -f fixed.txt"]`).whoseAgent("answer+repair")
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
		w.lacks(w.head, "coverage.out")
		assert.NotContains(t, w.marked("turn", "done")[0]["body"], "left changes")
	})
}

// TestWhatEarlierAttemptsLeftOutlivesAPush: the claim that took their place is all that names it.
func TestWhatEarlierAttemptsLeftOutlivesAPush(t *testing.T) {
	w, ev := commented(t, "line+fail")
	require.Equal(t, model.ResultFailed, w.handle(ev).Result)
	saved := w.checkpoints()
	require.Len(t, saved, 1)
	w.agent = "answer"
	w.gate.revive()
	w.afterWrite(2, func() { w.write("bob", "agent/greet", "bob.txt", "bob\n") }) // the claim before is gone
	w.gives(model.ResultRetry, w.handle(ev))
	assert.Contains(t, w.saidOnce("turn", "failed"), saved[0])
	w.gate.revive()
	w.done(w.handle(ev))
	w.settled(1, 1, 3) // bob's, what the first attempt left, and the answer
	assert.Equal(t, 2, w.calls())
}

func TestCommitsLeftBehindOnTheBranchAreNotLostInSilence(t *testing.T) {
	w := newWorld(t).whoseAgent("detach+talk")
	w.ended(model.ResultFailed, "left HEAD at", w.handle(w.remark("alice", "Answer me.")))
	assert.Empty(t, w.replies())
}

func TestLostPushesAreTriedLaterAndNotTakenForConflicts(t *testing.T) {
	want, _ := uninterrupted(t)
	w, ev := twoComments(t)
	w.gate.pushes(lost, func(n int) bool { return n > 1 }) // the first is the stage's
	w.gives(model.ResultRetry, w.handle(ev))
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, want, w.shows())
	assert.Equal(t, 1, w.calls())
}

// Where the server takes a checkpoint, it takes the stage as well: the turn goes on, and leaves nothing of that.
func TestAStageThatGoesThroughInTheEndLeavesNoCheckpoint(t *testing.T) {
	w, ev := commented(t)
	w.gate.pushes(lost, func(n int) bool { return n <= 3 })
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
	assert.Equal(t, 1, w.calls())
	assert.Empty(t, w.checkpoints())
}

func TestAPushThatIsRefusedBlocksAndIsPublishedAfterTheUnblock(t *testing.T) {
	w, ev := twoComments(t)
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": w.head, "push": []string{"octo"}})
	w.blocked("push_refused", w.handle(ev))
	assert.Contains(t, w.marked("turn", "planned")[0]["body"], "The pull request is blocked; see the comment below.")
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": w.head, "push": []string{"octo", "github-actions[bot]"}})
	w.unblock(w.tip())
	w.done(w.handle(ev))
	w.settled(2, 1, 1)
	assert.Equal(t, 1, w.calls())
}

func TestARecordedReplyIsGivenEvenWhenItsCommentWasNotReadAgain(t *testing.T) {
	w := newWorld(t).whoseAgent("talk")
	id := w.review("alice", "Old.")
	w.handle(w.delivery("pull_request_review_comment"))
	for i := range 55 {
		w.review("eve", fmt.Sprintf("Chatter %d.", i))
	}
	w.handle(w.say("alice", "Settle what is older."))
	w.later(5 * time.Minute)
	w.api("alice", "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", id)), object{"body": "Old, edited."})
	edited, other := w.delivery("pull_request_review_comment"), w.delivery("pull_request")
	w.diesAt(2, edited)     // claim, plan
	w.done(w.handle(other)) // this trigger does not say where to look
	assert.Len(t, slices.DeleteFunc(w.replies(), func(r object) bool { return r["in_reply_to_id"] != float64(id) }), 2)
}

func TestAServerOfGitThatRefusesIsAMistake(t *testing.T) {
	w, ev := twoComments(t)
	w.gate.answers(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/info/refs") }, func(rw http.ResponseWriter) {
		http.Error(rw, "no", http.StatusUnauthorized)
	})
	rep, err := w.engine().Handle(context.Background(), ev)
	assert.Equal(t, model.ResultFailed, rep.Result, rep.Reason)
	require.Error(t, err, "the caller has to mend its token")
	assert.Zero(t, w.calls())
}

func TestClaimsDeletedOnALongConversationStayDeleted(t *testing.T) {
	each(t, map[string]int{"started": writeClaim, "planned": writePlan}, func(t *testing.T, name string, write int) {
		w, ev := twoComments(t)
		w.diesAt(write, ev)
		w.chatter(120)
		said := false
		w.gate.after = func(int) {
			if !said && len(w.marked("turn", "done")) == 0 && w.calls() == 1 && len(w.replies()) > 0 {
				said = true
				w.talk("bob", "Another wish.")
			}
		}
		if name == "started" {
			w.gate.after = nil
		}
		rep := w.done(w.handle(ev))
		assert.Len(t, slices.DeleteFunc(rep.Effects, func(e model.Effect) bool { return e.Kind != "delete" }), 1, "the dead claim, once")
		assert.Len(t, w.replies(), 2)
		if said {
			assert.Len(t, w.marked("turn", "done"), 2, "what was said meanwhile is taken up")
		}
		assert.Equal(t, name == "planned", said)
	})
}

func TestAClosedTurnWithoutCommitsIsLeftAlone(t *testing.T) {
	w := newWorld(t).whoseAgent("talk")
	w.review("alice", "Answer me.")
	w.meanwhile(deed{"octo", "PATCH", w.pull(""), `{"state": "closed"}`})
	w.handle(w.delivery("pull_request_review_comment"))
	assert.Contains(t, w.marked("turn", "planned")[0]["body"], "Once the pull request is open again")
	w.talk("eve", "Pity.")
	w.gate.revive()
	rep := w.handle(w.delivery("issue_comment"))
	assert.Contains(t, rep.Reason, "is closed")
	assert.Zero(t, w.gate.writes)
}

func TestAWishWithdrawnBeforeTheSecondLookIsForgotten(t *testing.T) {
	w := newWorld(t)
	for i := range 55 {
		w.review("eve", fmt.Sprintf("Chatter %d.", i))
	}
	w.handle(w.say("alice", "First."))
	calls := w.calls()
	ev := w.remark("alice", "One.")
	var id int64
	w.gate.revive()
	w.gate.after = func(n int) {
		switch {
		case id == 0:
			id = w.review("bob", "Oops.")
		case id > 0 && len(w.marked("turn", "done")) == 2:
			w.send("bob", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", id)), nil)
		}
	}
	rep := w.by(w.engine(), ev)
	assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, calls+1, w.calls())
	assert.Len(t, w.marked("turn", "done"), 2)
}

func TestAReplyFindsItsThreadWithoutTheFirstComment(t *testing.T) {
	w := newWorld(t)
	root := w.review("eve", "Hm.")
	w.later(time.Minute)
	w.api("alice", "POST", w.pull(fmt.Sprintf("/comments/%d/replies", root)), object{"body": "Please do it."})
	w.meanwhile(deed{"eve", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", root)), ""})
	w.done(w.handle(w.delivery("pull_request_review_comment")))
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "[reply](")
}

func TestATurnOfManyCommitsIsRecovered(t *testing.T) {
	w, ev := commented(t, "many+answer")
	w.diesAt(writePlan, ev)
	w.done(w.handle(ev))
	w.settled(1, 1, 61)
	assert.Equal(t, 1, w.calls())
}
