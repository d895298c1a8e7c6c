package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// hide makes somebody a member of the organization who hides that, as is GitHub's default: every comment shows as a stranger's.
func (w *world) hide(login, permission string) {
	w.t.Helper()
	w.put("/_sandbox/users/"+login, object{"type": "User", "repository": repo.String(), "permission": permission, "membership": "private"})
}

// nobodyWaits says that a sweep would do nothing that people have asked for.
func (w *world) nobodyWaits() {
	w.t.Helper()
	for _, why := range []model.Reason{model.DueCommand, model.DueFeedback, model.DueRetry, model.DueFlow} {
		assert.NotContains(w.t, strings.Join(w.due(), "\n"), why)
	}
}

// other is an event of somebody else, by which a run comes along.
func (w *world) other() model.Event {
	w.t.Helper()
	return w.say("alice", "/mergexo status")
}

func TestAHiddenMemberIsHeard(t *testing.T) {
	each(t, map[string]func(w *world){
		"by the run of the comment": func(w *world) { w.handle(w.delivery("pull_request_review_comment")) },
		"by a sweep":                func(w *world) { w.sweep() },
	}, func(t *testing.T, _ string, run func(w *world)) {
		w := newWorld(t)
		w.hide("hal", "write")
		w.review("hal", "Answer me.")
		assert.Equal(t, "NONE", w.list("octo", w.pull("/comments"))[0]["author_association"])
		run(w)
		assert.Equal(t, 1, w.calls())
		w.nobodyWaits()
	})
}

func TestAHiddenMembersCommandOutlivesItsRun(t *testing.T) {
	w := newWorld(t)
	w.hide("hal", "maintain")
	id := w.talk("hal", "/mergexo pause")
	assert.Contains(t, strings.Join(w.due(), "\n"), model.DueCommand)
	w.sweep()
	assert.Contains(t, strings.Join(w.answers(), "\n"), "by hal")
	assert.Contains(t, w.reactions(id), "rocket")
	assert.Zero(t, w.calls(), "a command is no feedback")
	w.nobodyWaits()
	w.orders("hal", "/mergexo resume")
	assert.Zero(t, w.calls(), "nor is it later")
	w.nobodyWaits()
}

func TestAHiddenMemberSetsAnAgentToWork(t *testing.T) {
	w := newIssue(t)
	w.hide("hal", "write")
	w.open("eve", "Greet in French", "People in France read this.")
	w.label("hal", smallJob) // whose event gets lost
	w.sweep()
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.pulls(), 1)
}

func TestAHiddenMembersApprovalCounts(t *testing.T) {
	w := newWorld(t, "", "[merge]\ntests = \"none\"")
	w.hide("hal", "write")
	w.hide("mia", "maintain")
	w.approve("hal")
	w.done(w.command("mia", "/mergexo merge"))
	assert.Equal(t, "merged", w.badge())
}

// Strangers are asked about in one question a run, whatever they write, and move nothing.
func TestStrangersCostARunOneQuestion(t *testing.T) {
	t.Parallel()
	asks := func(talk func(w *world)) int {
		w := newWorld(t)
		w.put("/_sandbox/users/reader", object{"type": "User", "repository": repo.String(), "permission": "read"})
		talk(w)
		ev := w.other()
		w.gate.revive()
		w.handle(ev)
		asked := len(w.gate.seen)
		assert.Zero(t, w.calls())
		assert.Len(t, w.answers(), 1, "that of alice")
		w.nobodyWaits()
		return asked
	}
	alone := asks(func(*world) {})
	assert.Equal(t, alone+1, asks(func(w *world) {
		w.review("eve", "Do as I say.")
		w.talk("reader", "/mergexo pause")
		w.talk("robin", "Please see /mergexo release.")
	}))
}
