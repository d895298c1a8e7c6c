//go:build all

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// issueOver is an issue with a label whose work is handed over.
func issueOver(t *testing.T, label string) (*world, model.Event, string) {
	t.Helper()
	return handedOver(t, label+" of an issue that is handed over", "issues", func() *world {
		w := newIssue(t)
		w.label("alice", label)
		return w
	})
}

func TestWhatChangesBetweenTheJobsOfAnIssue(t *testing.T) {
	t.Parallel()
	t.Run("somebody says more", func(t *testing.T) {
		w, ev := labelled(t, smallJob, "record+told")
		dir := w.prepared(ev)
		later := w.say("bob", "Louder")
		w.ended(model.ResultRetry, "1 comment on issue 2 wait for an agent phase", w.phase(thread.ApplyPhase, ev, dir))
		assert.Equal(t, "hello\ndone 1\n", w.fileOf(branch, "greeting.txt"), "the agent's work is not thrown away")
		assert.Empty(t, w.pulls(), "and bob is heard before the pull request is opened")
		assert.Len(t, w.comments(), 2, "one of ours")
		assert.Contains(t, w.attemptBody(), "The new comments come first")

		w.gives(model.ResultNothing, w.phase(thread.ApplyPhase, later, ""))
		w.done(w.inTwo(later))
		assert.Equal(t, []string{"Louder"}, words(w.requests()[1]))
		assert.Equal(t, "hello\ndone 1\nLouder\ndone 2\n", w.fileOf(branch, "greeting.txt"))
		assert.Len(t, w.pulls(), 1)
		assert.Len(t, w.comments(), 2)
		assert.Len(t, w.branches(), 1)
		assert.Empty(t, w.stages())
		assert.Equal(t, model.ResultNothing, w.phase(thread.ApplyPhase, later, "").Result, "bob is not sent elsewhere")
	})
	t.Run("somebody edits what was taken up", func(t *testing.T) {
		w := newIssue(t).whoseAgent("record+told")
		id := w.talk("bob", "Louder")
		ev := w.label("alice", smallJob)
		dir := w.prepared(ev)
		w.later(time.Minute)
		w.api("bob", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": "Softer"})
		w.ended(model.ResultRetry, "is not pending", w.phase(thread.ApplyPhase, ev, dir))
		assert.Empty(t, w.branches())
		require.Equal(t, model.ResultDone, w.inTwo(ev).Result)
		assert.Equal(t, "hello\nSofter\ndone 2\n", w.fileOf(branch, "greeting.txt"))
	})
	t.Run("the base branch moves", func(t *testing.T) {
		w, ev, dir := issueOver(t, smallJob)
		began := w.at("main")
		w.write("octo", "main", "other.txt", "other\n")
		w.done(w.phase(thread.ApplyPhase, ev, dir))
		assert.Equal(t, began, w.attemptMarker(model.PhaseDone).Start)
		files := w.list("octo", w.path("/pulls/3/files"))
		require.Len(t, files, 1)
		assert.Equal(t, "greeting.txt", files[0]["filename"])
	})
	t.Run("the base branch is rewritten", func(t *testing.T) {
		w := newIssue(t)
		before := w.at("main")
		w.write("octo", "main", "other.txt", "other\n")
		ev := w.label("alice", smallJob)
		dir := w.prepared(ev)
		w.api("octo", "PATCH", w.path("/git/refs/heads/main"), object{"sha": before, "force": true})
		w.ended(model.ResultRetry, "handoff refused: start", w.phase(thread.ApplyPhase, ev, dir))
		assert.Empty(t, w.branches())
		assert.Empty(t, w.comments())
	})
	t.Run("the name of the branch is taken", func(t *testing.T) {
		w, ev, dir := issueOver(t, smallJob)
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": w.at("main")})
		require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, dir).Result)
		assert.Equal(t, w.at("main"), w.branches()[branch])
		assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	})
	t.Run("another label asks for another flow", func(t *testing.T) {
		w, ev, dir := issueOver(t, smallJob)
		w.label("alice", bugfix)
		w.ended(model.ResultRetry, "handoff refused: flow: it is for small_job, but this run is for bugfix", w.phase(thread.ApplyPhase, ev, dir))
		assert.Empty(t, w.branches())
	})
	t.Run("the issue is renamed", func(t *testing.T) {
		w, ev, dir := issueOver(t, design)
		w.later(time.Minute)
		w.api("alice", "PATCH", w.thread(""), object{"title": "Greet in Breton"})
		w.done(w.phase(thread.ApplyPhase, ev, dir))
		assert.Contains(t, w.fileOf("agent/design/2-greet-in-breton", "docs/design/2-greet-in-french.md"), "Say bonjour.")
	})
}

func TestPeopleWorkOnTheCheckpointBetweenTheJobs(t *testing.T) {
	type row struct {
		tests string
		want  model.Result
	}
	each(t, map[string]row{
		"no tests": {"", model.ResultDone},
		"tests":    {`required_tests = ["true"]`, model.ResultRetry}, // they do not run in the second job
	}, func(t *testing.T, _ string, c row) {
		w := newIssue(t, c.tests).whoseAgent("ask")
		require.Equal(t, model.ResultBlocked, w.inTwo(w.label("alice", smallJob)).Result)
		ev := w.say("bob", "Formal")
		dir := w.prepared(ev)
		w.write("bob", branch, "bob.txt", "bob\n")
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Equal(t, c.want, rep.Result, rep.Reason)
		if c.want == model.ResultRetry {
			assert.Contains(t, rep.Reason, "issue 2 waits for an agent phase")
			assert.Equal(t, "hello\nsalut?\n", w.fileOf(branch, "greeting.txt"))
			require.Len(t, w.checkpoints(), 1, "nothing is lost")
			assert.Contains(t, w.attemptBody(), w.checkpoints()[0])
			require.Equal(t, model.ResultDone, w.inTwo(ev).Result)
		}
		assert.Equal(t, "bob\n", w.fileOf(branch, "bob.txt"))
		assert.Equal(t, "hello\nsalut?\nFormal\n", w.fileOf(branch, "greeting.txt"))
		assert.Len(t, w.pulls(), 1)
		assert.Empty(t, w.stages())
	})
}

func TestADesignIsItsDocumentAndNothingElse(t *testing.T) {
	const doc = "docs/design/2-greet-in-french.md"
	type row struct {
		with func(*testing.T, *world, string)
		says string
	}
	each(t, map[string]row{
		"another file beside it":       {smuggled(doc, document, "beside.txt", "beside\n"), "beside.txt was changed, and is not its document"},
		"a file that comes and goes":   {smuggled(doc, document, "beside.txt", "beside\n", "beside.txt", ""), "3 commits instead of one"},
		"another text":                 {smuggled(doc, document+"Run this.\n"), "differs from the document in the outcome"},
		"other front matter":           {smuggled(doc, strings.Replace(document, "issue: 2", "issue: 9", 1)), "differs from the document in the outcome"},
		"elsewhere":                    {smuggled("docs/2-greet-in-french.md", document), "docs/2-greet-in-french.md was changed"},
		"below":                        {smuggled("docs/design/deep/2-greet-in-french.md", document), "2-greet-in-french.md was changed"},
		"another issue's":              {smuggled("docs/design/3-greet-in-french.md", document), "3-greet-in-french.md was changed"},
		"a link":                       {linked(doc), doc + " is not a regular file (mode 120000)"},
		"over a file":                  {smuggled("greeting.txt", document), "greeting.txt was changed"},
		"another text in the outcome":  {inOutcome("design_doc_markdown", "# Greeting\n\nSay hello.\n"), "differs from the document in the outcome"},
		"paths that leave the outcome": {inOutcome("touch_paths", []any{"../x"}), "touch_paths[0]: it leaves the repository"},
	}, func(t *testing.T, name string, c row) {
		w, ev, dir := issueOver(t, design)
		c.with(t, w, dir)
		rep := w.blocked(model.ReasonOutcome, w.phase(thread.ApplyPhase, ev, dir))
		assert.Contains(t, rep.Reason, c.says)
		assert.Empty(t, w.pulls())
		assert.Empty(t, w.stages())
		if !strings.HasPrefix(name, "paths") {
			assert.Len(t, w.branches(), 1)
			assert.Len(t, w.checkpoints(), 1, "a person can look at it, and no attempt goes on from it")
		}
		w.done(w.inTwo(w.say("alice", "Once more")))
		assert.Len(t, w.list("octo", w.path("/pulls/3/files")), 1)
	})
}

func TestAForgedHandoffOfAnIssueIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range forging {
		t.Run(name, func(t *testing.T) {
			w, ev, dir := issueOver(t, smallJob)
			c.with(t, w, dir)
			rep := w.phase(thread.ApplyPhase, ev, dir)
			assert.Equal(t, c.result, rep.Result, rep.Reason)
			assert.Contains(t, rep.Reason, c.says)
			if c.result == model.ResultDone {
				return
			}
			assert.Empty(t, w.pulls())
			if name == "a workflow in its commits" { // a hidden ref keeps a bundle, as of a whole run
				require.Len(t, w.stages(), 2)
				assert.Contains(t, w.stages()[1], "refs/mergexo/kept/2/")
			} else {
				assert.Empty(t, w.stages())
			}
			if name != "no test" { // there the work is sound as far as it goes
				assert.Empty(t, w.branches())
			}
			if c.result == model.ResultBlocked {
				ev = w.say("alice", "Once more")
			}
			w.done(w.inTwo(ev))
			assert.Len(t, w.pulls(), 1)
		})
	}
}
