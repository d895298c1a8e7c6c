//go:build agents

package engine_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
	"github.com/mergexo/mergexo/internal/transcript"
)

// played is a world whose agent is a real program, with a stub for its model. A file of the checkout is edited by its
// path, so there is a workspace.
func played(t *testing.T, r modelstub.Rig, more string) (*world, *modelstub.Stub) {
	t.Helper()
	w, s := newWorld(t), modelstub.New(t)
	args := ""
	for _, a := range r.Args {
		args += fmt.Sprintf("%q, ", a)
	}
	names := ""
	for name := range r.Variables {
		names += fmt.Sprintf("%q, ", name)
	}
	w.write("octo", "main", ".github/mergexo.toml", fmt.Sprintf("[agent]\nadapter = %q\ntimeout = \"10m\"\nextra_args = [%s]\npass_env = [%s]\n%s", r.Adapter, args, names, more))
	w.env = map[string]string{"PATH": modelstub.Programs(t) + ":" + os.Getenv("PATH"), "HOME": "/nonexistent"}
	maps.Copy(w.env, r.Point(s.URL))
	w.keeps = t.TempDir()
	w.clone("--branch", w.head)
	return w, s
}

func newKey(t *testing.T) transcript.Key {
	t.Helper()
	identity := must.Get(age.GenerateX25519Identity())(t)
	key := must.Get(transcript.ParseKey(identity.String()))(t)
	return key
}

// programs tells a story with each of the real programs.
func programs(t *testing.T, story func(t *testing.T, r modelstub.Rig)) {
	t.Helper()
	t.Parallel()
	for _, r := range modelstub.Rigs() {
		t.Run(r.Adapter, func(t *testing.T) {
			t.Parallel()
			story(t, r)
		})
	}
}

// answering is a script in which the program edits the greeting with its own tools and answers a review comment.
func (w *world) answering(r modelstub.Rig, comment int64, from, to string) []modelstub.Answer {
	outcome := fmt.Sprintf(`{"review_replies": [{"review_comment_id": %d, "body": "It says %s now.", "done": true}], "general_comment": "", "commit_message": "Say %s", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`, comment, to, to)
	return append(r.Edit(filepath.Join(w.workdir, "greeting.txt"), from, to), r.Done(outcome))
}

func TestARealProgramAnswersAndGoesOnWithItsSession(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
		w.done(w.handle(w.delivery("pull_request_review_comment")))
		w.settled(1, 1, 1)
		assert.Equal(t, "hello\nmoon\n", w.file("greeting.txt"))
		assert.Contains(t, w.replies()[0]["body"], "It says moon now.")
		assert.Contains(t, w.marked("turn", "done")[0]["body"], " tokens")

		s.Play(w.answering(r, w.review("bob", "And now the sun."), "moon", "sun")...)
		w.done(w.handle(w.delivery("pull_request_review_comment")))
		w.settled(2, 2, 2)
		assert.Equal(t, "hello\nsun\n", w.file("greeting.txt"))
		second := s.Asked(s.Asks() - 1)
		assert.Contains(t, second, "Greet the moon.", "the session knows the first turn")
		assert.Contains(t, second, "And now the sun.")
	})
}

func TestASessionThatIsLostBeginsAnewFromWhatGitHubHolds(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
		require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)

		w.keeps = t.TempDir() // another runner
		s.Play(w.answering(r, w.review("bob", "And now the sun."), "moon", "sun")...)
		w.done(w.handle(w.delivery("pull_request_review_comment")))
		w.settled(2, 2, 2)
		first := s.Asked(0)
		assert.Contains(t, first, "Answered 1 comment", "the earlier receipt")
		assert.Contains(t, first, "diff --git a/greeting.txt", "the diff")
		assert.Contains(t, w.marked("turn", "done")[1]["body"], "it started a new one")
	})
}

func TestASealedTranscriptTravelsWithTheRepository(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "[feedback]\non_missing_session = \"block\"\n")
		w.seals = newKey(t)
		s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
		first := w.handle(w.delivery("pull_request_review_comment"))
		require.Equal(t, model.ResultDone, first.Result, first.Reason)
		require.Len(t, w.stages(), 2, w.logged.String())
		assert.True(t, strings.HasPrefix(w.stages()[1], "refs/mergexo/session/1/"))

		w.keeps = "" // a runner of its own for every run, with the checkout elsewhere
		w.clone("--branch", w.head)
		s.Play(w.answering(r, w.review("bob", "And now the sun."), "moon", "sun")...)
		rep := w.done(w.handle(w.delivery("pull_request_review_comment")))
		assert.Contains(t, s.Asked(0), "Greet the moon.", "the session knows the first turn")
		assert.LessOrEqual(t, rep.Calls.Git, 5, "two more than without: the one transcript is read, and removed when there is another")
		assert.Len(t, w.stages(), 2)

		w.seals = newKey(t)
		rep = w.handle(w.remark("alice", "And the stars."))
		assert.Equal(t, "session_missing", rep.BlockedReason, "another key opens nothing")
		assert.Contains(t, w.logged.String(), "it was sealed with another key")
	})
}

func TestASessionThatIsLostBlocksOnceWhereTheSettingsSaySo(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "[feedback]\non_missing_session = \"block\"\n")
		s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
		require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)

		w.keeps = t.TempDir()
		second := w.review("bob", "And now the sun.")
		ev := w.delivery("pull_request_review_comment")
		for range 2 {
			w.blocked("session_missing", w.handle(ev))
		}
		assert.Contains(t, w.saidOnce("block", ""), "To start a new agent session, comment `/mergexo unblock`.")

		s.Play(w.answering(r, second, "moon", "sun")...)
		w.done(w.handle(w.say("carol", "/mergexo unblock")))
		w.settled(2, 2, 2)
	})
}

func TestAProvidersLimitIsNoFailureHoweverOftenItIsMet(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		comment := w.review("alice", "Greet the moon.")
		ev := w.delivery("pull_request_review_comment")
		for range 4 {
			s.Play(r.RateLimit())
			w.ended(model.ResultRetry, "has reached a limit of its provider", w.handle(ev))
			s.Forget()
		}
		assert.Contains(t, w.saidOnce("turn", "failed"), "this attempt does not count")
		assert.Empty(t, w.marked("block", ""))

		s.Play(w.answering(r, comment, "world", "moon")...)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, 1)
	})
}

func TestWhatARealProgramCanFailAt(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		for name, c := range map[string]struct {
			script  modelstub.Answer
			result  model.Result
			blocked string
			says    string
		}{
			"refusal":     {modelstub.Refuse(), model.ResultBlocked, "agent_refused", "its model refused"},
			"model error": {r.Broken(), model.ResultFailed, "", "attempt 1 of 3"},
		} {
			t.Run(name, func(t *testing.T) {
				w, s := played(t, r, "")
				script := []modelstub.Answer{c.script}
				if name == "refusal" && r.Adapter == "claude" {
					script = append(script, c.script) // it asks once more
				}
				s.Play(script...)
				comment := w.review("alice", "Greet the moon.")
				ev := w.delivery("pull_request_review_comment")
				rep := w.handle(ev)
				assert.Equal(t, c.result, rep.Result, rep.Reason)
				assert.Equal(t, c.blocked, rep.BlockedReason)
				assert.Contains(t, rep.Reason, c.says)
				assert.Empty(t, w.replies())
				s.Forget()

				if c.blocked != "" {
					ev = w.say("carol", "/mergexo unblock")
				}
				s.Play(w.answering(r, comment, "world", "moon")...)
				require.Equal(t, model.ResultDone, w.handle(ev).Result)
				w.settled(1, 1, 1)
			})
		}
	})
}

func TestARealProgramThatIsCancelledLosesNothing(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		comment := w.review("alice", "Greet the moon.")
		script := w.answering(r, comment, "world", "moon")
		s.Play(append(script[:len(script)-1], modelstub.Hang().After(cancel))...)
		ev := w.delivery("pull_request_review_comment")
		rep := must.Get(w.engine().Handle(ctx, ev))(t)
		assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
		_, subjects := w.kept()
		assert.Equal(t, []string{"Checkpoint of work on pull request 1"}, subjects, "what it had edited until then")

		s.Play(w.answering(r, comment, "world", "moon")...)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, 1)
	})
}
