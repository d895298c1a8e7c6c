package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// visible is what people read below a pull request. Of a comment that GitHub hides, they read only that it is there.
func (w *world) visible() string {
	w.t.Helper()
	const query = `query($n: Int!) { repository(owner: "octo", name: "widgets") { pullRequest(number: $n) { comments(first: 100) { nodes { isMinimized } } } } }`
	answer := w.api("octo", "POST", "/api/graphql", object{"query": query, "variables": object{"n": w.number}})
	nodes := answer.at("data", "repository", "pullRequest", "comments", "nodes").([]any)
	var b strings.Builder
	for i, c := range w.comments() {
		text := strings.TrimSpace(shown(c["body"]))
		if nodes[i].(map[string]any)["isMinimized"] == true {
			first, _, _ := strings.Cut(text, "\n")
			fmt.Fprintf(&b, "-- %s, hidden as resolved: %s\n\n", c.at("user", "login"), first)
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s\n\n", c.at("user", "login"), text)
	}
	return b.String()
}

// firstHidden is the first line of a hidden comment.
var firstHidden = regexp.MustCompile(`(?m)^-- (.*), hidden as resolved: .*$`)

// TestConversationsStayQuiet holds what people read of stories from their beginning to their end: a comment for each matter, whose first
// line is true, and nothing in sight of what is over.
func TestConversationsStayQuiet(t *testing.T) {
	line := func(w *world, text string) model.Report {
		w.review("alice", text)
		return w.handle(w.delivery("pull_request_review_comment"))
	}
	refused := func(settings ...string) func(t *testing.T) *world {
		return func(t *testing.T) *world {
			w := newMerge(t, settings...)
			w.command("carol", "/mergexo merge")
			return w
		}
	}
	again := func(w *world) {
		w.approve("alice")
		rep := w.command("carol", "/mergexo merge")
		require.Equal(w.t, model.ResultDone, rep.Result, rep.Reason)
	}
	type row struct {
		begins func(t *testing.T) *world
		goesOn func(w *world)
	}
	each(t, map[string]row{
		"question": {func(t *testing.T) *world { return asked(t) }, func(w *world) {
			w.talk("bob", "Formal, please.")
			w.handle(w.delivery("issue_comment"))
		}},
		"failure_and_recovery": {func(t *testing.T) *world {
			w := newWorld(t).whoseAgent("exit")
			line(w, "Answer me.")
			return w
		}, func(w *world) {
			w.agent = "answer"
			w.talk("bob", "And me.")
			w.handle(w.delivery("issue_comment"))
		}},
		"block_and_unblock": {func(t *testing.T) *world { w, _, _ := rewrittenPull(t); return w }, func(w *world) {
			w.orders("carol", "/mergexo unblock head_sha="+w.tip())
		}},
		"three_attempts": {func(t *testing.T) *world {
			w := newWorld(t).whoseAgent("exit")
			w.review("alice", "Answer me.")
			ev := w.delivery("pull_request_review_comment")
			for range 3 {
				w.passing(time.Minute, atWork)
				w.handle(ev)
			}
			return w
		}, func(w *world) {
			w.agent = "answer"
			w.orders("carol", "/mergexo unblock")
		}},
		"suggestion_that_fails": {func(t *testing.T) *world {
			w := newWorld(t, `required_tests = ["sh", "-c", "echo FAIL: TestGreet; exit 1"]`)
			w.agentSetting(`adapter = "command"`, `adapter = "suggestion"`)
			line(w, "```suggestion\nworld!\n```")
			return w
		}, func(*world) {}},
		"settings_that_were_wrong": {func(t *testing.T) *world {
			w := newWorld(t)
			w.setting("nonsense = 1")
			w.review("alice", "Answer me.")
			_, err := w.engine().Handle(t.Context(), w.delivery("pull_request_review_comment"))
			require.Error(t, err)
			return w
		}, func(w *world) {
			w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.fileOf("main", ".github/mergexo.toml"), "nonsense = 1\n", "", 1))
			w.agent = "answer"
			w.talk("bob", "Now it is right.")
			w.handle(w.delivery("issue_comment"))
		}},
		"merge_tests": {refused(`tests = ["test", "-e", "fixed"]`), func(w *world) {
			w.write("bob", w.head, "fixed", "yes\n")
			again(w)
		}},
		"merge_conflict": {func(t *testing.T) *world {
			w := newMerge(t)
			w.write("octo", "main", "a.txt", "another\n")
			w.write("bob", w.head, "a.txt", "this\n")
			w.approve("alice")
			w.command("carol", "/mergexo merge")
			return w
		}, func(*world) {}},
		"merge_head_moved": {func(t *testing.T) *world {
			w := newMerge(t)
			w.command("carol", "/mergexo merge sha="+strings.Repeat("1", 40))
			return w
		}, again},
		"merge_waits": {unapproved, func(w *world) {
			w.endorsed("alice")
		}},
		"merge_without_the_right": {func(t *testing.T) *world {
			w := newMerge(t)
			w.command("alice", "/mergexo merge")
			return w
		}, again},
		"landed_after_all_of_it": {func(t *testing.T) *world {
			w := newMerge(t, `tests = ["test", "-e", "fixed"]`).whoseAgent("doubts")
			line(w, "Greet.")
			return w
		}, func(w *world) {
			w.handle(w.remark("bob", "Formal, please."))
			w.command("carol", "/mergexo merge")
			w.write("bob", w.head, "fixed", "yes\n")
			again(w)
			ours := strings.Count(w.visible(), "== github-actions[bot]")
			answers := strings.Count(w.visible(), "**Answered ")
			assert.Equal(w.t, 2, ours-answers, "beside the answers: what begins, and what has landed")
		}},
		"merge_cancelled": {func(t *testing.T) *world {
			w := unapproved(t)
			w.command("carol", "/mergexo merge cancel")
			return w
		}, again},
	}, func(t *testing.T, name string, c row) {
		t.Parallel()
		w := c.begins(t)
		text := w.visible()
		c.goesOn(w)
		if after := w.visible(); after != text {
			text += "---- later ----\n\n" + after
		}
		golden.Text(t, "quiet/"+name+".md", text)
	})
}

// A token that may not hide comments does its work all the same.
func TestWhatGitHubDoesNotHideStaysInSight(t *testing.T) {
	t.Parallel()
	w := asked(t)
	next, refused := w.gate.next, 0
	w.gate.next = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte("minimizeComment")) {
			next.ServeHTTP(rw, r)
			return
		}
		refused++
		rw.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(rw, `{"message": "Resource not accessible by integration"}`)
	})
	w.talk("bob", "Formal, please.")
	rep := w.handle(w.delivery("issue_comment"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.NotZero(t, refused)
	assert.Contains(t, w.marked("block", "")[0]["body"], "**The agent has a question**")
}

// A death at any write on the way from a question's answer to the receipt, which hides the question, is made good by the next run.
func TestADeathWhileAQuestionEndsIsMadeGood(t *testing.T) {
	w := asked(t)
	ev := w.remark("bob", "Formal, please.")
	dead := w.wrecks(func() { w.done(w.handle(ev)) })
	want := w.visible()
	require.Contains(t, want, "hidden as resolved: **Answered.**")
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recover(ev)
		assert.Equal(t, want, w.visible())
	})
}

// A death at any write on the way to a question leaves nothing else of the turn in sight. One before the question costs an attempt.
func TestADeathWhileAQuestionIsAskedIsMadeGood(t *testing.T) {
	w := newWorld(t).whoseAgent("doubts")
	ev := w.remark("alice", "Greet.")
	dead := w.wrecks(func() { w.handle(ev) })
	want := firstHidden.ReplaceAllString(w.visible(), "-- $1")
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recover(ev)
		assert.Equal(t, want, firstHidden.ReplaceAllString(w.visible(), "-- $1"))
	})
}
