package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
)

// phase lets a process do one part of a run, with a workspace of its own.
func (w *world) phase(part thread.Phase, ev model.Event, dir string) model.Report {
	w.t.Helper()
	e := w.engine()
	e.Phase, e.Bundle = part, dir
	rep, err := e.Handle(context.Background(), ev)
	require.NoError(w.t, errors.Join(err, e.Close()))
	w.over(w.runs)
	return rep
}

// prepared is what an agent's phase handed over, which must not have written anything to GitHub.
func (w *world) prepared(ev model.Event) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "handoff")
	w.gate.revive()
	rep := w.phase(thread.AgentPhase, ev, dir)
	assert.Equal(w.t, model.ResultDone, rep.Result, rep.Reason)
	assert.Zero(w.t, w.gate.writes, "an agent's phase writes nothing: %v", w.gate.seen)
	return dir
}

// handedOver is what build makes with an event of that name, and what an agent's job made of it. The agent's calls are not counted.
func handedOver(t *testing.T, name, event string, build func() *world) (*world, model.Event, string) {
	t.Helper()
	w := begin(t, name, func() *world {
		w := build()
		require.NoError(t, os.CopyFS(filepath.Join(w.state, "handoff"), os.DirFS(w.prepared(w.delivery(event)))))
		require.NoError(t, os.Remove(w.log)) // what is called from here on counts
		return w
	})
	return w, w.delivery(event), filepath.Join(w.state, "handoff")
}

// answerOver is a turn that is handed over.
func answerOver(t *testing.T) (*world, model.Event, string) {
	t.Helper()
	return handedOver(t, "a turn that is handed over", "pull_request_review_comment", func() *world {
		w := newWorld(t)
		w.review("alice", "Answer me.")
		return w
	})
}

func TestAnAgentsPartIsHandedOverAndApplied(t *testing.T) {
	type row struct {
		result  model.Result
		blocked string
		commits int
		kept    int
	}
	each(t, map[string]row{
		"answer":        {model.ResultDone, "", 1, 0},
		"commits+stuck": {model.ResultBlocked, "agent_blocked", 0, 1},
		"amend":         {model.ResultBlocked, "history_rewrite", 0, 0},
		"workflow":      {model.ResultBlocked, "path_forbidden", 0, 0},
		"dirty+fail":    {model.ResultFailed, "", 0, 1},
	}, func(t *testing.T, how string, c row) {
		w := newWorld(t, `required_tests = ["test", "-e", "greeting.txt"]`).whoseAgent(how)
		ev := w.remark("alice", "Answer me.")
		dir := w.prepared(ev)
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Equal(t, c.result, rep.Result, rep.Reason)
		assert.Equal(t, c.blocked, rep.BlockedReason)
		assert.Equal(t, 1, w.calls(), "the apply phase runs no agent")
		assert.Len(t, w.checkpoints(), c.kept)
		if c.result == model.ResultDone {
			w.settled(1, 1, c.commits)
			assert.Equal(t, model.ResultNothing, w.phase(thread.ApplyPhase, ev, dir).Result, "the same handoff again")
			w.settled(1, 1, c.commits)
		} else {
			assert.Len(t, w.commits(), 1)
			assert.Empty(t, w.replies())
		}
	})
}

// TestTheLastJobAloneIsNoAttempt: somebody has the failed job run again, which has the same handoff.
func TestTheLastJobAloneIsNoAttempt(t *testing.T) {
	whole := func(*testing.T, *world, string) {}
	type row struct {
		build func(t *testing.T) (*world, model.Event)
		spoil func(t *testing.T, w *world, dir string)
		then  string // what the agent does in the end
	}
	each(t, map[string]row{
		"a turn that is refused": {func(t *testing.T) (*world, model.Event) { return commented(t, "costs+fail") }, changed("version", 99), "answer"},
		"an issue that failed":   {func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob, "costs+fail") }, whole, "job"},
	}, func(t *testing.T, _ string, c row) {
		w, ev := c.build(t)
		dir := w.prepared(ev)
		c.spoil(t, w, dir)
		require.Equal(t, model.ResultFailed, w.phase(thread.ApplyPhase, ev, dir).Result)
		said := w.said()
		for range 3 {
			w.ended(model.ResultFailed, "rerun all jobs, so that the agent runs again", w.phase(thread.ApplyPhase, ev, dir))
		}
		assert.Equal(t, said, w.said(), "nothing is counted and nothing is said")

		second := w.prepared(ev)
		require.Equal(t, model.ResultFailed, w.phase(thread.ApplyPhase, ev, second).Result)
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Contains(t, rep.Reason, "attempt 1 on ", "of an earlier run")
		assert.Contains(t, rep.Reason, "rerun all jobs")

		w.agent = c.then
		w.done(w.inTwo(ev))
		assert.Equal(t, 3, w.calls())
	})
}

// Where a turn's apply phase dies at every second write, an issue's does at the others; see
// TestADeathWhileAnIssuesHandoffIsAppliedIsMadeGood. Every write has its turn in one job.
func TestADeathInTheApplyPhaseIsMadeGood(t *testing.T) {
	t.Parallel()
	step := 4 // marker, push, the end
	if everyRow {
		step = 1
	}
	for n := 1; ; n += step {
		w, ev, dir := answerOver(t)
		w.diesAfterWrite(n)
		e := w.engine()
		e.Phase, e.Bundle = thread.ApplyPhase, dir
		_, _ = e.Handle(context.Background(), ev)
		w.over(w.runs)
		if !w.gate.died() {
			require.Greater(t, n, 5)
			return
		}
		w.gate.revive()
		rep := w.recoverInPhase(thread.ApplyPhase, ev, dir)
		require.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, "died at write %d: %s", n, rep.Reason)
		w.settled(1, 1, 1)
		assert.Zero(t, w.calls())
	}
}

// tampering is what somebody who has the agent's job can do to a handoff, and how it is refused.
var tampering = map[string]struct {
	with   func(t *testing.T, w *world, dir string)
	result model.Result
	says   string
}{
	"another repository":   {changed("repository", "octo/other"), model.ResultRetry, "handoff refused: repository: it is about octo/other"},
	"another pull request": {changed("number", 2), model.ResultFailed, "handoff refused: events[0]"},
	"another turn":         {changed("turn_key", strings.Repeat("0", 64)), model.ResultRetry, "handoff refused: turn_key"},
	"another start":        {changed("start", strings.Repeat("1", 40)), model.ResultRetry, "handoff refused: start"},
	"another head":         {changed("head", strings.Repeat("2", 40)), model.ResultFailed, "bundle refused (head)"},
	"a workflow in its commits": {forged(func(w *world) {
		w.write("octo", "forged", ".github/workflows/x.yml", "on: push\n")
		w.delete("forged", ".github/workflows/x.yml")
	}), model.ResultBlocked, ".github/workflows/x.yml: forbid_paths"},
	"a secret in its commits": {forged(func(w *world) {
		w.write("octo", "forged", "key.txt", "token = \"ghp"+"_016C7EnXuFTSSx6Z2fW5s5mR8GfY2B3kQ9aL\"\n")
		w.delete("forged", "key.txt")
	}), model.ResultBlocked, "key.txt:1: github-pat"},
	"a history of its own": {func(t *testing.T, w *world, dir string) {
		main := w.at("main")
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/forged", "sha": main})
		w.write("octo", "forged", "new.txt", "new\n")
		rebundle(t, w, dir, "^"+main)
	}, model.ResultFailed, "bundle refused (rewrite)"},
}

// edited changes what the outcome file says.
func edited(do func(h map[string]any)) func(*testing.T, *world, string) {
	return func(t *testing.T, _ *world, dir string) {
		file := filepath.Join(dir, handoff.OutcomeFile)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		h := map[string]any{}
		require.NoError(t, json.Unmarshal(text, &h))
		do(h)
		text, err = json.Marshal(h)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
}

func changed(field string, value any) func(*testing.T, *world, string) {
	return edited(func(h map[string]any) { h[field] = value })
}

func inOutcome(field string, value any) func(*testing.T, *world, string) {
	return edited(func(h map[string]any) { h["outcome"].(map[string]any)[field] = value })
}

// forged puts commits of somebody's in place of the agent's, made on a branch that is then deleted.
func forged(do func(w *world)) func(*testing.T, *world, string) { return forgedAt("agent/greet", do) }

// forgedAt begins them at another branch.
func forgedAt(branch string, do func(w *world)) func(*testing.T, *world, string) {
	return func(t *testing.T, w *world, dir string) {
		start := w.at(branch)
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/forged", "sha": start})
		do(w)
		rebundle(t, w, dir, "^"+start)
	}
}

// rebundle bundles the branch "forged" in place of the handoff's commits, with all that is said of them, and deletes it.
func rebundle(t *testing.T, w *world, dir, without string) {
	t.Helper()
	clone, file := t.TempDir(), handoff.BundlePath(dir)
	require.NoError(t, os.Remove(file))
	for _, args := range [][]string{
		{"clone", "-q", "--bare", "--branch", "forged", w.origin + "/" + repo.String(), clone},
		{"-C", clone, "update-ref", "refs/mergexo/handoff", "forged"},
		{"-C", clone, "-c", "pack.window=0", "bundle", "create", "-q", "--version=2", file, "refs/mergexo/handoff", without},
	} {
		run("git", args...)
	}
	head := w.api("octo", "GET", w.path("/git/ref/heads/forged"), nil).at("object", "sha").(string)
	w.api("octo", "DELETE", w.path("/git/refs/heads/forged"), nil)
	text := contents(t, file)
	edited(func(h map[string]any) {
		h["head"], h["bundle"] = head, map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(text)), "size": len(text)}
	})(t, w, dir)
}

// delete removes a file of a branch.
func (w *world) delete(branch, path string) {
	w.t.Helper()
	sha := w.api("octo", "GET", w.path("/contents/"+path+"?ref="+branch), nil)["sha"]
	w.api("octo", "DELETE", w.path("/contents/"+path), object{"message": "Remove " + path, "branch": branch, "sha": sha})
}
