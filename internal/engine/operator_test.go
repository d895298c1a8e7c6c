package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// carol may maintain, alice and bob may write, eve is a stranger.

// orders gives a command in the conversation and lets a run take its event.
func (w *world) orders(login, line string) model.Report {
	w.t.Helper()
	return w.handle(w.say(login, line))
}

// ordered gives a command, and sees what the one reply to it says.
func (w *world) ordered(login, line, verdict string, says ...string) model.Report {
	w.t.Helper()
	rep := w.orders(login, line)
	for _, text := range says {
		w.answered(verdict, text)
	}
	return rep
}

// answers are our replies to commands, oldest first, without their hidden ends.
func (w *world) answers() []string {
	w.t.Helper()
	out := w.receipts()
	for i := range out {
		out[i], _, _ = strings.Cut(out[i], "\n<!--")
	}
	return out
}

// receipts are the same with their hidden ends.
func (w *world) receipts() []string {
	w.t.Helper()
	var out []string
	for _, c := range w.comments() {
		body := c["body"].(string)
		if c.at("user", "login") == "github-actions[bot]" && strings.Contains(body, "`/mergexo") && strings.Contains(body, "` · [comment](") {
			out = append(out, body)
		}
	}
	return out
}

// answered is the one reply to the newest command.
func (w *world) answered(verdict, says string) {
	w.t.Helper()
	all := w.receipts()
	require.NotEmpty(w.t, all)
	last := all[len(all)-1]
	result := "applied" // other receipts, such as that of an unblock, hold no result
	for _, r := range []string{"rejected", "failed", "help"} {
		if strings.Contains(last, `"result":"`+r+`"`) {
			result = r
		}
	}
	assert.Equal(w.t, verdict, result, last)
	assert.Contains(w.t, last, says)
}

// reactions are what we left under a conversation comment.
func (w *world) reactions(id int64) []string {
	w.t.Helper()
	var out []string
	for _, r := range w.list("octo", w.path(fmt.Sprintf("/issues/comments/%d/reactions", id))) {
		out = append(out, r["content"].(string))
	}
	return out
}

// rewrittenPull is a pull request with one answered comment whose branch was then rewritten, and a second comment that
// ran into the block. old is the head that was accepted.
func rewrittenPull(t *testing.T) (w *world, old, head string) {
	w = newWorld(t)
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
	old = w.tip()
	head = w.rewritten()
	require.Equal(t, model.ResultBlocked, w.handle(w.say("alice", "And me.")).Result)
	return w, old, head
}

func TestFromForcePushToTheNextGoodTurnByRestoringTheLineage(t *testing.T) {
	w, old, head := rewrittenPull(t)

	w.gives(model.ResultBlocked, w.ordered("carol", "/mergexo unblock", "rejected", // what was observed is not accepted by itself
		"is not part of the branch", "`Answer, in words of call 1`", "/commit/"+old, "/mergexo unblock head_sha="+head))

	w.move(old)
	assert.Equal(t, model.ResultBlocked, w.handle(w.pullEvent()).Result, "nor is the old one by itself")
	w.done(w.orders("carol", "/mergexo unblock"))
	assert.Len(t, w.marked("unblock", ""), 1)
	assert.Contains(t, w.marked("unblock", "")[0]["body"], old)
	assert.Equal(t, 2, w.calls(), "what was pending is answered in the same run")
	w.settled(1, 2, 2)
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issue_comment")).Result)
}

func TestFromForcePushToTheNextGoodTurnByAcceptingTheNewHead(t *testing.T) {
	w, old, head := rewrittenPull(t)

	for name, says := range map[string]string{old: "is not the current head of pull request 1", strings.Repeat("c", 40): "does not name exactly one commit in this repository"} {
		w.gives(model.ResultBlocked, w.ordered("carol", "/mergexo unblock head_sha="+name, "rejected", says))
	}

	w.done(w.ordered("carol", "/mergexo unblock head_sha="+head[:8], "applied", "is now the accepted head", "`Answer, in words of call 1`"))
	assert.Contains(t, w.marked("unblock", "")[0]["body"], head, "the whole head")
	w.settled(1, 2, 1)
	assert.Equal(t, 2, w.calls())
}

func TestACommandShowsHowFarItIs(t *testing.T) {
	w := newWorld(t)
	id := w.talk("carol", "/mergexo status")
	ev := w.delivery("issue_comment")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, []string{"eyes", "rocket"}, w.reactions(id))
	w.answered("applied", fmt.Sprintf("[comment](%s/octo/widgets/pull/1#issuecomment-%d) by carol", w.origin, id))
	bad := w.talk("carol", "/mergexo unblok")
	require.Equal(t, model.ResultDone, w.handle(w.delivery("issue_comment")).Result)
	assert.Equal(t, []string{"eyes", "confused"}, w.reactions(bad))
	w.answered("rejected", "Did you mean `/mergexo unblock`?")

	assert.Equal(t, model.ResultNothing, w.handle(ev).Result, "a delivery that comes again")
	assert.Len(t, w.answers(), 2)
	assert.Zero(t, w.calls(), "a command is no feedback")
}

func TestForgedEditedAndQuotedCommandsAreWithoutEffect(t *testing.T) {
	w := newWorld(t)
	edit := func(login string, id int64, text string) {
		w.later(time.Minute)
		w.api(login, "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": text})
	}
	// An edit makes no command, whoever does it.
	id := w.talk("carol", "Looks good.")
	edit("alice", id, "/mergexo pause")
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issue_comment")).Result)
	edit("carol", id, "/mergexo pause")
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issue_comment")).Result)
	for _, text := range []string{"> /mergexo pause", "`/mergexo pause`", "```\n/mergexo pause\n```", "<!--\n/mergexo pause\n-->", "    /mergexo pause"} {
		w.handle(w.say("eve", text))
	}
	assert.Empty(t, w.answers())

	// Nor does one take a command back, or turn it into another.
	id = w.talk("carol", "/mergexo pause")
	ev := w.delivery("issue_comment")
	edit("alice", id, "/mergexo release")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.answered("applied", "Nothing happens here until `/mergexo resume`")
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issue_comment")).Result)
	assert.Len(t, w.answers(), 1)

	// Somebody's copy of our reply answers nothing, and undoes nothing.
	copied := w.marked("command", "")[0]["body"].(string)
	assert.Equal(t, model.ResultNothing, w.handle(w.say("eve", strings.ReplaceAll(copied, `"command":"pause"`, `"command":"resume"`))).Result)
	rep := w.handle(w.remark("alice", "Answer me."))
	assert.Contains(t, rep.Reason, "paused by carol")
}

func TestAReplyThatIsDeletedOrSpoiltRepeatsNoCommand(t *testing.T) {
	each(t, map[string]func(w *world, id int64){
		"deleted": func(w *world, id int64) { w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", id)), nil) },
		"spoilt": func(w *world, id int64) {
			w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": "Never mind."})
		},
	}, func(t *testing.T, _ string, do func(w *world, id int64)) {
		w := newWorld(t)
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo release").Result)
		ev := w.delivery("issue_comment")
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo adopt").Result)
		do(w, w.marked("command", "")[0].id())
		before := len(w.comments())
		w.handle(ev)
		w.handle(w.delivery("issue_comment"))
		assert.Empty(t, w.marked("command", ""), "the release is not done again")
		assert.LessOrEqual(t, len(w.comments()), before+1, "but for the block that a spoilt marker costs")
	})
}

func TestAReplyThatHeldEverythingUpIsGivenAgain(t *testing.T) {
	each(t, map[string]string{"pause": "resume", "release": "adopt"}, func(t *testing.T, name string, ends string) {
		w := newWorld(t)
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo "+name).Result)
		first := w.marked("command", "")[0].id()
		w.later(time.Minute)
		w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", first)), nil)
		assert.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Go on at once.")).Result)
		w.answered("applied", "`/mergexo "+name+"`")
		assert.Zero(t, w.calls())

		w.orders("carol", "/mergexo "+ends)
		again := w.marked("command", "")[0].id()
		w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", again)), nil)
		said := len(w.answers())
		w.handle(w.pullEvent())
		assert.Len(t, w.answers(), said, "what was ended is over")
	})
}

func TestPauseAndResume(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo pause").Result)
	w.ended(model.ResultNothing, "paused by carol", w.handle(w.remark("alice", "Answer me.")))
	w.ordered("carol", "/mergexo retry", "rejected", "paused by carol")
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo resume").Result)
	w.settled(1, 1, 1)
}

func TestReleaseAndAdopt(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo release").Result)
	w.ended(model.ResultNothing, "released by carol", w.handle(w.remark("alice", "Between people.")))
	w.rewritten()

	w.done(w.ordered("carol", "/mergexo adopt", "applied", w.tip()[:10]))
	assert.Equal(t, 1, w.calls(), "what was said meanwhile is not replayed")
	w.done(w.handle(w.remark("alice", "Answer me again.")))
	w.settled(2, 2, 1)
}

func TestAnUntrackedPullRequestIsAdopted(t *testing.T) {
	w := newWorld(t)
	w.write("octo", "main", ".github/mergexo.toml", "[repo]\ntrack = []\n[agent]\nadapter = \"suggestion\"\n")
	assert.Equal(t, model.ResultNothing, w.handle(w.remark("alice", "Nobody hears me yet.")).Result)
	for _, line := range []string{"retry", "pause", "release"} {
		w.ordered("carol", "/mergexo "+line, "rejected", "Pull request 1 is not tracked: head branch \"agent/greet\" matches nothing in [repo] track []; /mergexo adopt tracks it anyway.")
	}
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo adopt").Result)
	require.Len(t, w.marked("pr", ""), 1)
	w.settled(1, 1, 0)
	w.ordered("carol", "/mergexo adopt", "rejected", "is already tracked")
}

func TestRetryForgivesFailedAttempts(t *testing.T) {
	w := newWorld(t).whoseAgent("exit")
	w.review("alice", "Answer me.")
	for range 2 {
		w.handle(w.delivery("pull_request_review_comment"))
	}
	w.agent = "answer"
	w.done(w.ordered("carol", "/mergexo retry", "applied", "1 pending comment is handled now"))
	w.settled(1, 1, 1)
	w.ordered("carol", "/mergexo retry", "rejected", "There is nothing to retry")
}

func TestTakeover(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Before.")
	w.api("octo", "PATCH", w.pull(""), object{"body": "Fixes #2"})
	w.open("octo", "Greet", "Please.")
	w.labels("octo", "agent:ignore")
	w.number = 1
	w.ended(model.ResultNothing, "a person has taken over", w.handle(w.remark("alice", "Meanwhile.")))
	w.ordered("carol", "/mergexo pause", "rejected", "A person had already taken over by adding a label")
	w.ordered("carol", "/mergexo why", "applied", "**No turn starts here**: label \"agent:ignore\" is on")
	w.later(time.Minute)
	w.on(2).takesOff("octo", "agent:ignore")
	w.number = 1
	w.done(w.handle(w.say("alice", "Fresh.")))
	w.settled(1, 1, 1)
	assert.Contains(t, w.saidOnce("turn", "done"), "**Answered 2 comments**", "what was said before and after")
}

func TestFiveHundredCommandsInOneComment(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, model.ResultDone, w.orders("carol", strings.Repeat("/mergexo help\n", 500)).Result)
	require.Len(t, w.answers(), 6)
	assert.Contains(t, w.answers()[5], "This comment holds more than 5 commands.")
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issue_comment")).Result)
	assert.Len(t, w.answers(), 6)
}

func TestCommandsOnLinesAndInReviews(t *testing.T) {
	w := newWorld(t)
	id := w.review("carol", "/mergexo pause")
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
	w.answered("applied", "Nothing happens here until")
	var signs []string
	for _, r := range w.list("octo", w.path(fmt.Sprintf("/pulls/comments/%d/reactions", id))) {
		signs = append(signs, r["content"].(string))
	}
	assert.Equal(t, []string{"eyes", "rocket"}, signs)
	w.later(time.Minute)
	w.api("carol", "POST", w.pull("/reviews"), object{"event": "COMMENT", "body": "/mergexo resume"})
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review")).Result)
	w.answered("applied", "is over")
}

func TestTheOperationsIssue(t *testing.T) {
	w, _, head := rewrittenPull(t)
	say, said := w.operationsIssue()
	told := func(line, says string) model.Report {
		rep := say(line)
		assert.Contains(t, said()[len(said())-1], says)
		return rep
	}
	w.done(told("/mergexo unblock", "`pr=NUMBER`"))
	told("/mergexo unblock pr=77", "There is no issue or pull request 77 in this repository.")
	told("/mergexo unblock pr=2", "Number 2 is an issue, not a pull request.")
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/gh-pr-9/feature", "sha": w.at("main")})
	w.second("agent/more", "more.txt")
	w.api("octo", "PATCH", w.pull(""), object{"base": "gh-pr-9/feature"})
	w.number, w.head = 1, "agent/greet"
	w.done(told("/mergexo status pr=3", "MergeXO does not work on #3: pull requests into gh-pr-9/feature are ignored"))
	told("/mergexo status pr=1", "| state | blocked |")
	rep := w.done(told("/mergexo unblock pr=1 head_sha="+head, "**Done on #1**, see [the reply]("))
	assert.Len(t, w.marked("unblock", ""), 1)
	w.settled(1, 2, 1)
	assert.Equal(t, 1, rep.Number, "the pull request that was gone on with")
}

func TestTheSourceIssueTakesCommandsForItsPullRequest(t *testing.T) {
	w := newWorld(t)
	w.api("octo", "POST", w.path("/issues"), object{"title": "Greet", "body": "Please."})
	w.api("octo", "PATCH", w.pull(""), object{"body": "Fixes #2"})
	w.agent = "exit"
	w.handle(w.remark("alice", "Answer me."))
	w.agent = "answer"
	w.number = 2
	ev := w.say("carol", "/mergexo retry issue=2")
	w.number = 1
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
	w.number = 2
	ev = w.say("carol", "Thank you.")
	w.gate.revive()
	w.gives(model.ResultNothing, w.handle(ev))
	api, _ := w.gate.counted()
	assert.LessOrEqual(t, api, 1, "talk on an issue costs one look")
}

// A comment counts as it was posted, also where no run came before its author mended it, and by whatever run it is read.
func TestACommandIsHeardAsPostedThoughItWasEdited(t *testing.T) {
	w := newWorld(t)
	edit := func(method, path string, id int64, text string) {
		w.later(time.Minute)
		w.api("carol", method, fmt.Sprintf("%s/%d", path, id), object{"body": text})
	}
	const lapse, mended, added = "Wehre is it?\n\n/mergexo status", "Where is it?\n\n/mergexo status", "Nothing.\n\n/mergexo status"
	w.sweep() // which has nothing left to do here that would have it read more
	edit("PATCH", w.path("/issues/comments"), w.talk("carol", lapse), mended)
	edit("PATCH", w.path("/issues/comments"), w.talk("carol", "Nothing."), added)
	w.sweep()
	require.Len(t, w.answers(), 1, "a command that was not there is none")
	review := func(text string) int64 {
		w.later(time.Minute)
		return w.api("carol", "POST", w.pull("/reviews"), object{"event": "COMMENT", "body": text}).id()
	}
	edit("PUT", w.pull("/reviews"), review(lapse), mended)
	require.Equal(t, "edited", w.delivery("pull_request_review").Action)
	w.done(w.handle(w.delivery("pull_request_review")))
	require.Len(t, w.answers(), 2)
	edit("PUT", w.pull("/reviews"), review("Nothing."), added)
	w.handle(w.delivery("pull_request_review"))
	w.sweep()
	assert.Len(t, w.answers(), 2)
	edit("PATCH", w.path("/pulls/comments"), w.review("carol", lapse), mended)
	w.sweep()
	assert.Len(t, w.answers(), 3)
	w.quiet()
}

// rewrittenEarly is a pull request that was tracked and then rewritten, with a comment that ran into the block.
func rewrittenEarly(t *testing.T) (w *world, head string) {
	w = newWorld(t)
	w.handle(w.delivery("pull_request"))
	head = w.rewritten()
	require.Equal(t, model.ResultBlocked, w.handle(w.say("alice", "Answer me.")).Result)
	return w, head
}

// signs are our reactions under the newest command in the conversation of an event.
func (w *world) signs(ev model.Event) string { return fmt.Sprint(w.reactions(ev.CommentID)) }

// operations is what stands on the issue of an event, where that is not the pull request.
func (w *world) operations(ev model.Event) string {
	if ev.Number == w.number {
		return ""
	}
	out := ""
	for _, c := range w.list("octo", w.path(fmt.Sprintf("/issues/%d/comments", ev.Number))) {
		out += changing.ReplaceAllString(hidden.ReplaceAllString(c["body"].(string), "[$1]"), "#") + "\n"
	}
	return out
}

// pullEvent is any event of the pull request, such as the sweep would make up.
func (w *world) pullEvent() model.Event {
	return model.Event{Name: "workflow_dispatch", Repo: repo, Number: w.number, IsPull: true}
}

func TestTwoRunsAtOnceAnswerACommandOnce(t *testing.T) {
	every(t, []int{1, 2, 3}, func(t *testing.T, n int) { // the second one runs before each of these writes of the first
		w := newWorld(t)
		ev := w.say("carol", "/mergexo pause")
		w.beforeWrite(n, func() { w.beside(ev) })
		w.by(w.engine(), ev)
		assert.Len(t, w.answers(), 1)
		w.ordered("carol", "/mergexo status", "applied", "| state | paused |")
	})
}
