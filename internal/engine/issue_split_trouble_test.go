package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
)

func TestWhatAnAgentLeavesBesideIsNotPushedByItsJob(t *testing.T) {
	w := newIssue(t).whoseAgent("job+sloppy")
	require.Equal(t, model.ResultDone, w.inTwo(w.label("alice", design)).Result)
	assert.Contains(t, w.pulls()[0]["body"], "changed files other than its design document")
	assert.Len(t, w.list("octo", w.path("/pulls/3/files")), 1)

	w = newWorld(t).whoseAgent("dirty+talk")
	require.Equal(t, model.ResultDone, w.inTwo(w.remark("alice", "Answer me.")).Result)
	w.settled(1, 1, 0)
}

const document = "---\nissue: 2\ntitle: \"Greet in French\"\ntouch_paths:\n  - \"greeting.txt\"\n---\n\n# Greeting\n\nSay bonjour.\n"

// smuggled puts files in place of a design's commit.
func smuggled(files ...string) func(*testing.T, *world, string) {
	return forgedAt("main", func(w *world) {
		for i := 0; i < len(files); i += 2 {
			if files[i+1] == "" {
				w.delete("forged", files[i])
				continue
			}
			w.write("octo", "forged", files[i], files[i+1])
		}
	})
}

// linked puts a symbolic link in place of a design's document.
func linked(path string) func(*testing.T, *world, string) {
	return forgedAt("main", func(w *world) {
		before := w.api("octo", "GET", w.path("/git/commits/"+w.at("forged")), nil).at("tree", "sha")
		tree := w.api("octo", "POST", w.path("/git/trees"), object{"base_tree": before, "tree": []any{
			object{"path": path, "mode": "120000", "type": "blob", "content": "../../greeting.txt"},
		}})["sha"]
		made := w.api("octo", "POST", w.path("/git/commits"), object{"message": "Link", "tree": tree, "parents": []any{w.at("forged")}})["sha"]
		w.api("octo", "PATCH", w.path("/git/refs/heads/forged"), object{"sha": made})
	})
}

// forging is what somebody who has the agent's job can do to the handoff of an issue, and how it is refused.
var forging = map[string]struct {
	with   func(*testing.T, *world, string)
	result model.Result
	says   string
}{
	"another flow":      {changed("flow", "bugfix"), model.ResultRetry, "handoff refused: flow: it is for bugfix, but this run is for small_job"},
	"no flow":           {edited(func(h map[string]any) { delete(h, "flow") }), model.ResultFailed, "handoff refused: outcome: unknown field"},
	"an unknown flow":   {changed("flow", "deploy"), model.ResultFailed, "handoff refused: "},
	"another number":    {changed("number", 3), model.ResultRetry, "handoff refused: number: it is about issue 3, but this run is about 2"},
	"another turn":      {changed("turn_key", strings.Repeat("0", 64)), model.ResultRetry, "handoff refused: turn_key"},
	"a start not there": {changed("start", strings.Repeat("1", 40)), model.ResultRetry, "handoff refused: start"},
	"a start elsewhere": {func(t *testing.T, w *world, dir string) { changed("start", w.tip())(t, w, dir) }, model.ResultRetry, "handoff refused: start"},
	"an older start": {func(t *testing.T, w *world, dir string) {
		first := w.list("octo", w.path("/commits?sha=main"))
		changed("start", first[len(first)-1]["sha"])(t, w, dir)
	}, model.ResultDone, ""}, // a branch may begin anywhere on the base branch
	"another head":       {changed("head", strings.Repeat("2", 40)), model.ResultFailed, "bundle refused (head)"},
	"another branch":     {changed("branch", "main"), model.ResultFailed, `handoff refused: outcome.json: unknown field "branch"`},
	"a merge":            {inOutcome("merge", true), model.ResultFailed, `handoff refused: outcome: unknown field "merge"`},
	"a reply":            {inOutcome("general_comment", "x"), model.ResultFailed, `handoff refused: outcome: unknown field "general_comment"`},
	"a design's field":   {inOutcome("design_doc_markdown", "x"), model.ResultFailed, `handoff refused: outcome: unknown field "design_doc_markdown"`},
	"an unknown comment": {changed("events", []string{"2:issue:99:2026-01-02T12:00:00Z"}), model.ResultRetry, "is not pending"},
	"a review's comment": {changed("events", []string{"2:review:99:2026-01-02T12:00:00Z"}), model.ResultFailed, "handoff refused: events[0]"},
	"no commits": {func(t *testing.T, w *world, dir string) {
		require.NoError(t, os.Remove(handoff.BundlePath(dir)))
		edited(func(h map[string]any) { delete(h, "bundle"); h["head"] = h["start"] })(t, w, dir)
	}, model.ResultBlocked, "commit_message: given, but nothing changed in the checkout"},
	"no test": {func(t *testing.T, w *world, dir string) {
		w.setting(`test_file_regex = ["_test"]`)
		w.unlabel("alice", smallJob)
		w.label("alice", bugfix)
		w.agent = "job+tested"
		again := w.prepared(w.delivery("issues"))
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.Rename(again, dir))
		forgedAt("main", func(w *world) { w.write("octo", "forged", "greeting.txt", "hello\nuntested\n") })(t, w, dir)
	}, model.ResultBlocked, "no changed file is a test"},
	"a workflow in its commits": {forgedAt("main", func(w *world) {
		w.write("octo", "forged", ".github/workflows/x.yml", "on: push\n")
		w.delete("forged", ".github/workflows/x.yml")
	}), model.ResultBlocked, ".github/workflows/x.yml: forbid_paths"},
	"a secret in its commits": {forgedAt("main", func(w *world) {
		w.write("octo", "forged", "key.txt", "token = \"ghp"+"_016C7EnXuFTSSx6Z2fW5s5mR8GfY2B3kQ9aL\"\n")
		w.delete("forged", "key.txt")
	}), model.ResultBlocked, "key.txt:1: github-pat"},
	"a history of its own": {func(t *testing.T, w *world, dir string) {
		tree := w.api("octo", "GET", w.path("/git/commits/"+w.at("main")), nil).at("tree", "sha")
		root := w.api("octo", "POST", w.path("/git/commits"), object{"message": "Anew", "tree": tree, "parents": []any{}})["sha"]
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/forged", "sha": root})
		rebundle(t, w, dir, "^"+w.at("main"))
	}, model.ResultFailed, "bundle refused (rewrite)"},
}

func TestAHandoffIsOfATurnOrOfAnIssue(t *testing.T) {
	w := newWorld(t)
	turn := w.remark("alice", "Answer me.")
	ofTurn, pull := w.prepared(turn), w.number
	w.agent = "job"
	w.open("alice", "Greet in French", "")
	ev := w.label("alice", smallJob)
	ofIssue := w.prepared(ev)
	w.ended(model.ResultRetry, "handoff refused: number", w.phase(thread.ApplyPhase, ev, ofTurn))
	w.ended(model.ResultRetry, "handoff refused: number", w.phase(thread.ApplyPhase, turn, ofIssue))
	changed("number", w.number)(t, w, ofTurn)
	changed("number", pull)(t, w, ofIssue)
	w.ended(model.ResultRetry, "handoff refused: flow", w.phase(thread.ApplyPhase, turn, ofIssue))
	assert.Empty(t, w.comments())
	assert.Empty(t, w.branches())
}
