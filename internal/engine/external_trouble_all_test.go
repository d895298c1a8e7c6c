//go:build all

package engine_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mirrored is a guest who is let in, whose mirror is there, and whose run died then.
func mirrored(t *testing.T, more ...string) *world {
	t.Helper()
	w := newExternal(t, more...)
	w.letIn("carol")
	w.diesSweeping(diesAfter, isPush)
	require.Equal(t, w.theirs(), w.at(w.mirrorName()))
	w.later(time.Minute)
	return w
}

// diesSweeping lets a sweep of the pull request die at a write that matches.
func (w *world) diesSweeping(f fate, match func(*http.Request) bool) {
	w.t.Helper()
	w.gate.when(f, match)
	w.sweepOnly()
	require.True(w.t, w.gate.died())
	w.gate.revive()
}

// anyPath are settings by which a stranger's settings file gets onto a mirror.
const anyPath = "\n[feedback]\nforbid_paths = []\n"

// onMirror brings a settings file to the mirror, and opens a further pull request of the guest's whose base the mirror is.
func onMirror(t *testing.T, w *world, settings string) {
	t.Helper()
	w.contribute("feature", ".github/mergexo.toml", settings)
	w.admits("carol")
	base := w.mirrorName()
	require.NotEmpty(t, w.at(base))
	w.contribute("feature", "more.txt", "more\n")
	w.number = int(w.api("mallory", "POST", w.path("/pulls"), object{"title": "More", "head": "mallory:feature", "base": base})["number"].(float64))
}

func TestAMirrorIsNoBaseForASettingsFileOfAStranger(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Please write a test.")+anyPath)
	mark, base := filepath.Join(t.TempDir(), "run"), w.mirrorName()
	onMirror(t, w, fmt.Sprintf("[repo]\noperators = [\"mallory\"]\nallowed_users = [\"mallory\"]\n[agent]\nadapter = \"suggestion\"\n[merge]\napprovals = 0\n"+
		"tests = [\"sh\", \"-c\", \"id >%s\"]\n[[merge.rule]]\nbranch = \"*\"\nstrategy = \"no-ff\"\n", mark))
	before := w.at(base)
	w.command("mallory", "/mergexo merge")
	assert.Equal(t, before, w.at(base), "no push for a stranger")
	assert.NoFileExists(t, mark, "no command of a stranger's")
	assert.Empty(t, w.marked("merge", ""))
}

func TestTheOperationsIssueIsTheDefaultBranchs(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Please write a test.")+anyPath)
	guest := w.number
	victim := w.second("agent/victim", "victim.txt")
	w.handle(w.delivery("pull_request"))
	w.number, w.head = guest, "feature"
	onMirror(t, w, fmt.Sprintf("[repo]\noperators = [\"mallory\"]\noperations_issue = %d\n[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\n", victim+1))
	require.Equal(t, victim+1, w.number)
	w.command("mallory", fmt.Sprintf("/mergexo pause pr=%d", victim))
	w.number = victim
	assert.NotContains(t, w.said(), "mallory")
}

func TestAForksWorkflowIsOnNoBranchBeforeItIsJudged(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "No workflows, please."))
	w.contribute("feature", ".github/workflows/x.yml", "on: push\njobs: {}\n")
	w.admits("carol")
	w.lacks(w.mirrorName(), ".github/workflows/x.yml")
	assert.Contains(t, strings.ToLower(w.said()), "workflow", "why it came to nothing")
	w.quiet()
}

func TestWhatSomebodyElsePushesOnTheMirrorIsNotLanded(t *testing.T) {
	w := mirrored(t)
	w.write("alice", w.mirrorName(), "backdoor.txt", "nobody has looked at this\n")
	w.sweep()
	w.lacks("main", "backdoor.txt")
}

// link commits a symbolic link to main.
func (w *world) link(path, to string) {
	w.t.Helper()
	tip := w.at("main")
	base := w.api("octo", "GET", w.path("/git/commits/"+tip), nil)
	tree := w.api("octo", "POST", w.path("/git/trees"), object{"base_tree": base.at("tree", "sha"), "tree": []object{{"path": path, "mode": "120000", "type": "blob", "content": to}}})
	commit := w.api("octo", "POST", w.path("/git/commits"), object{"message": "Link", "tree": tree["sha"], "parents": []string{tip}})
	w.api("octo", "PATCH", w.path("/git/refs/heads/main"), object{"sha": commit["sha"]})
}

func TestAForkIsNotJudgedByAFileOfItsOwn(t *testing.T) {
	const no, yes = "echo '{\"verdict\":\"reject\",\"reason\":\"no\"}'\n", "cat >/dev/null; echo '{\"verdict\":\"approve\",\"reason\":\"mine\"}'\n"
	type row struct {
		command, path string
		base          func(w *world)
	}
	each(t, map[string]row{
		"a symbolic link on the base": {`["sh", "scripts/judge"]`, "scripts/judge", func(w *world) {
			w.write("octo", "main", "tools/judge", no)
			w.link("scripts/judge", "../tools/judge")
		}},
		"not on the base": {`["sh", "scripts/judge"]`, "scripts/judge", func(*world) {}},
		"a directory of the base": {`["sh", "-c", ". $0/judge.sh", "./tools/judge"]`, "tools/judge/judge.sh", func(w *world) {
			w.write("octo", "main", "tools/judge/judge.sh", no)
		}},
	}, func(t *testing.T, _ string, c row) {
		w := newExternal(t, "evaluate = "+c.command)
		c.base(w)
		w.contribute("feature", c.path, yes)
		w.admits("carol")
		assert.NotEqual(t, "merged", w.badge())
		assert.NotContains(t, w.said(), "the evaluation approved")
	})
}

func TestALabelTakenOffStopsTheMergeItAskedFor(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("approve", "fine"), "[[merge.rule]]\nbranch = \"none-of-these\"\nstrategy = \"no-ff\"")
	w.resets("[merge]\n", "[merge]\napprovals = 0\nrequired_checks = [\"test\"]\n")
	w.admits("carol")
	require.Equal(t, "open", w.badge())
	require.NotEmpty(t, w.marked("merge", ""))
	w.later(time.Minute)
	w.takesOff("carol", "external:accept")
	w.api("octo", "POST", w.path("/statuses/"+w.theirs()), object{"state": "success", "context": "test"})
	w.later(time.Minute)
	w.sweep()
	assert.Equal(t, "open", w.badge())
}

func TestAForkWithAnUnrelatedHistoryIsToldOnce(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("approve", "fine"))
	fork := "/api/v3/repos/mallory/widgets"
	tip := w.api("mallory", "GET", fork+"/git/commits/"+w.theirs(), nil)
	root := w.api("mallory", "POST", fork+"/git/commits", object{"message": "Root", "tree": tip.at("tree", "sha"), "parents": []any{}})
	w.later(time.Minute)
	w.api("mallory", "PATCH", fork+"/git/refs/heads/"+w.head, object{"sha": root["sha"], "force": true})
	w.letIn("carol")
	for range 4 {
		w.sweep()
		w.later(time.Hour)
	}
	assert.Len(t, w.comments(), 1)
	assert.NotContains(t, w.said(), "was interrupted")
	w.quiet()
}

func TestARejectionThatDiedIsMadeGoodAndClosesOnce(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("reject", "Out of scope."))
	w.letIn("carol")
	w.diesSweeping(diesAfter, requests(http.MethodPatch, "widgets/pulls/"))
	w.recoverBySweep()
	assert.Equal(t, "closed", w.badge())
	assert.Empty(t, w.at(w.mirrorName()))
	assert.Empty(t, w.api("octo", "GET", w.pull(""), nil)["labels"])
	w.later(time.Minute)
	w.api("octo", "PATCH", w.pull(""), object{"state": "open"})
	w.sweep()
	assert.Equal(t, "open", w.badge(), "who opened it again means it")
}

func TestAnEditedCommentOnAForkBlocksUntilAnOperatorUnblocks(t *testing.T) {
	w := mirrored(t, "evaluate = "+evaluates("approve", "fine"))
	require.Len(t, w.comments(), 1)
	w.edits("octo", w.comments()[0])
	w.sweep()
	assert.Equal(t, "open", w.badge())
	assert.Len(t, w.marked("block", ""), 1)
	w.quiet()
	w.talk("octo", "/mergexo unblock head_sha="+w.theirs())
	w.sweep()
	w.sweep()
	assert.Equal(t, "merged", w.badge())
	w.quiet()
}

func TestAMirrorGoesWhenAPersonHasMerged(t *testing.T) {
	w := mirrored(t, "evaluate = "+evaluates("approve", "fine"))
	w.api("octo", "PUT", w.pull("/merge"), object{})
	w.sweep()
	assert.Empty(t, w.at(w.mirrorName()))
	assert.NotContains(t, w.said(), "evaluates it now")
	w.quiet()
}

// GitHub takes no branch with such workflows from the workflow's token. People are told what to do, and it is not tried for ever.
func TestAForkWhoseWorkflowsNoBranchHasIsTold(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Please write a test.")+anyPath)
	w.contribute("feature", ".github/workflows/ci.yml", "on: push\n")
	w.letIn("carol")
	for range 4 {
		w.sweep()
		w.later(time.Hour)
	}
	assert.Empty(t, w.at(w.mirrorName()))
	assert.Contains(t, w.conversation(), "Merge main into the pull request's branch")
	said := w.conversation()
	w.sweep()
	assert.Equal(t, said, w.conversation())
}

func TestTheLabelComesOffThoughTheRunDied(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Please write a test."))
	w.letIn("carol")
	w.diesSweeping(diesFirst, requests(http.MethodDelete, "/labels/"))
	w.recoverBySweep()
	assert.Empty(t, w.api("octo", "GET", w.pull(""), nil)["labels"])
}
