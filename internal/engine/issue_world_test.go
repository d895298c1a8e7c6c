package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	smallJob = "agent:small-job"
	bugfix   = "agent:bugfix"
	design   = "agent:design"
)

// newIssue is a world whose stories are about an issue that alice has opened.
func newIssue(t *testing.T, more ...string) *world {
	t.Helper()
	w := newWorld(t, more...).whoseAgent("job")
	w.open("alice", "Greet in French", "People in France read this.")
	return w
}

// open opens an issue, which the story is about from here on.
func (w *world) open(login, title, body string) {
	w.t.Helper()
	w.later(time.Minute)
	w.number = int(w.api(login, "POST", w.path("/issues"), object{"title": title, "body": body})["number"].(float64))
}

// label puts a label on the issue, as somebody, and gives the event of it.
func (w *world) label(login, label string) model.Event {
	w.t.Helper()
	w.labels(login, label)
	return w.delivery("issues")
}

func (w *world) unlabel(login, label string) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.takesOff(login, label)
	return w.delivery("issues")
}

// say comments on the issue, and gives the event of it.
func (w *world) say(login, text string) model.Event {
	w.t.Helper()
	w.talk(login, text)
	return w.delivery("issue_comment")
}

// thread is a path below the issue's.
func (w *world) thread(rest string) string {
	return w.path(fmt.Sprintf("/issues/%d%s", w.number, rest))
}

// pulls are the pull requests from the agent's branches, oldest first.
func (w *world) pulls() []object {
	w.t.Helper()
	var out []object
	for _, p := range w.list("octo", w.path("/pulls?state=all&sort=created&direction=asc")) {
		if strings.HasPrefix(p.at("head", "ref").(string), "agent/") && p.at("head", "ref") != "agent/greet" {
			out = append(out, p)
		}
	}
	return out
}

// branches are all but the ones that every world has.
func (w *world) branches() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, b := range w.list("octo", w.path("/branches")) {
		if name := b["name"].(string); name != "main" && name != "agent/greet" {
			out[name] = b.at("commit", "sha").(string)
		}
	}
	return out
}

// talkOn is all that is said on a number, without what differs from run to run.
func (w *world) talkOn(number int) string {
	w.t.Helper()
	var b strings.Builder
	for _, c := range w.list("octo", w.path(fmt.Sprintf("/issues/%d/comments", number))) {
		fmt.Fprintf(&b, "== %s says\n%s\n", c.at("user", "login"), shown(c["body"]))
	}
	return b.String()
}

// labelled is a world with an issue for an agent, and its event. how is what the agent does where that is not the job.
func labelled(t *testing.T, label string, how ...string) (*world, model.Event) {
	t.Helper()
	w := newIssue(t)
	if len(how) > 0 {
		w.agent = how[0]
	}
	return w, w.label("alice", label)
}

// worked is a world with an issue that an agent has worked on.
func worked(t *testing.T, label string) *world {
	t.Helper()
	w := newIssue(t)
	w.done(w.handle(w.label("alice", label)))
	return w
}
