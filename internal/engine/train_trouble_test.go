package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const trainRecord = "refs/mergexo/train/main"

// rewriteRecord has somebody who may push replace a text in the record of the train.
func (w *world) rewriteRecord(old, now string) {
	w.t.Helper()
	_, file, _ := strings.Cut(w.bare("ls-tree", trainRecord), "\t")
	was := w.recordText()
	require.Contains(w.t, was, old)
	blob := w.bareTold(strings.ReplaceAll(was, old, now), "hash-object", "-w", "--stdin")
	tree := w.bareTold("100644 blob "+blob+"\t"+file+"\n", "mktree")
	w.moveRef(trainRecord, w.bareTold("forged", "commit-tree", tree, "-F", "-"))
}

// recordText is the record of the train.
func (w *world) recordText() string {
	w.t.Helper()
	_, file, _ := strings.Cut(w.bare("ls-tree", trainRecord), "\t")
	return w.bare("show", trainRecord+":"+file)
}

// moveRef has somebody who may push move a ref.
func (w *world) moveRef(ref, sha string) {
	w.t.Helper()
	w.api("bob", "PATCH", w.path("/git/"+ref), object{"sha": sha, "force": true})
}

// Whoever may push can write the record of the train and move its branches, and so name a commit that nobody approved. The checks
// pass on it, and it still does not land, not even with the tree that was approved.
func TestAForgedRecordLandsNothing(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n")
	heard := 0
	for name, forge := range map[string]func(w *world, tip, evil string) string{ // evil is a tree
		"another tree":    func(w *world, _, evil string) string { return w.commitOf(evil, "main") },
		"another message": func(w *world, tip, _ string) string { return w.commitOf(tip+"^{tree}", "main") },
		"another author": func(w *world, tip, _ string) string {
			return w.bareTold(w.bare("log", "-1", "--format=%B", tip), "-c", "user.name=mallory", "-c", "user.email=m@example.com", "commit-tree", tip+"^{tree}", "-p", w.at("main"), "-F", "-")
		},
		"another parent": func(w *world, tip, evil string) string {
			return w.commitOf(tip+"^{tree}", "main", w.commitOf(evil, "main"))
		},
		"a commit that the next one takes back": func(w *world, tip, evil string) string {
			return w.commitOf(tip+"^{tree}", w.commitOf(evil, "main"))
		},
	} {
		_, tip := w.only()
		evil := w.forges(forge(w, tip, w.evilTree(tip)))
		assert.Equal(t, 1, w.ciRuns(), "%s: it passes the checks", name)
		heard++
		assert.Equal(t, heard, strings.Count(w.logged.String(), "train_record_forged"), name)
		said := w.losses(numbers[0])
		require.Len(t, said, heard, "%s: %s", name, w.logged.String())
		assert.Contains(t, said[heard-1], "it names commit "+evil[:12])
		assert.NotContains(t, w.bare("log", "--format=%H", "main"), evil)
	}
	assert.Equal(t, 1, w.wholeTrain(), "what was approved is built anew, and tested")
	assert.Equal(t, "merged", w.badges(numbers...))
	assert.Equal(t, "car0.txt", w.bare("diff", "--name-only", "main~3", "main", "--", "car0.txt", "evil.txt"), "%s", w.logged.String())
	assert.Len(t, w.losses(numbers[0]), heard, "nobody hears of one twice")
}

// evilTree is the tree of a commit with a file more.
func (w *world) evilTree(commit string) string {
	w.t.Helper()
	blob := w.bareTold("evil\n", "hash-object", "-w", "--stdin")
	return w.bareTold(w.bare("ls-tree", commit)+"\n100644 blob "+blob+"\tevil.txt\n", "mktree")
}

// forges has somebody who may push move the one branch of the train to a commit, and the record name that.
func (w *world) forges(evil string) string {
	w.t.Helper()
	branch, tip := w.only()
	w.moveRef("refs/heads/"+branch, evil)
	w.rewriteRecord(tip, evil)
	return evil
}

// commitOf is a commit with a tree that somebody makes.
func (w *world) commitOf(tree string, parents ...string) string {
	w.t.Helper()
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return w.bareTold("Nothing to see", args...)
}

// A record that says that a car is landing does not make it tested.
func TestAForgedLandingIsTestedFirst(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n")
	before := w.at("main")
	w.rewriteRecord(`"state":"testing"`, `"state":"landing"`)
	w.sweep()
	assert.Equal(t, before, w.at("main"), "%s", w.logged.String())
	assert.Contains(t, w.logged.String(), "train_untested")
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, "merged", w.badges(numbers...))
}

// Two changes that fit the base and not each other: the first lands, and the second hears which files are in the way.
func TestABatchThatConflictsOnlyTogether(t *testing.T) {
	w := newTrain(t, "speculate = 1")
	first := w.ready("first", "zero\n")
	numbers := w.ready("car", "one\n", "two\n", "three\n")
	for i, n := range numbers[:2] {
		w.number, w.head = n, fmt.Sprintf("agent/car%d", i)
		w.write("octo", w.head, "shared.txt", fmt.Sprintf("as %d has it\n", i))
		w.approve("alice")
		w.passed("ci")
	}
	w.aboard(first, "")
	w.aboard(numbers, "")
	w.arrives("merged open merged", numbers...)
	assert.Equal(t, "as 0 has it\n", w.fileOf("main", "shared.txt"))
	w.on(numbers[1]).requested("merge_failed REBASE_CONFLICT", "<<<<<<< base\nas 0 has it\n=======\nas 1 has it\n>>>>>>> branch", // as a merge without the train says it
		"Commits of `main` since the branch began that changed these files:\n\n- ", fmt.Sprintf(", #%d", numbers[0]))
}

// A required check gets another name while a car is tested: nothing lands by the old one, and the train waits with the new one's name
// until the rules are right again.
func TestARequiredCheckIsRenamedInMidFlight(t *testing.T) {
	w := trainOf(newMerge(t), "true\n")
	w.protect(object{"checks": []string{"ci"}, "ruleset": 42})
	w.passed("build")
	w.command("carol", "/mergexo merge")
	require.Len(t, w.trains(), 1, w.logged.String())
	before := w.at("main")
	w.protect(object{"checks": []string{"build"}, "ruleset": 42})
	assert.Equal(t, 1, w.ciRuns())
	w.later(2 * time.Hour)
	w.sweep()
	assert.Equal(t, before, w.at("main"), "nothing lands by the old check")
	w.requested("in_approval IN_TRAIN", "he train is paused, since required check build did not report within 2h on car 1.")
	w.protect(object{"checks": []string{"ci"}, "ruleset": 42})
	w.later(time.Minute)
	w.sweep()
	assert.Equal(t, "merged", w.badge(), w.request())
}

// Who names the check in the rules of the branch, as the message says, need do nothing else.
func TestACheckThatIsRequiredLaterEndsTheTrouble(t *testing.T) {
	w := newTrain(t)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), `required_checks = ["ci"]`, "", 1))
	w.command("carol", "/mergexo merge")
	assert.Contains(t, w.request(), "no check is required")
	assert.Empty(t, w.trains())
	w.protect(object{"checks": []string{"ci"}, "ruleset": 42})
	w.sweep()
	assert.Equal(t, 1, w.wholeTrain(), w.logged.String())
	assert.Equal(t, "merged", w.badge())
}

// With both, the tests of the settings may be all that is required.
func TestTheTestsOfTheSettingsMayBeAllThatIsRequired(t *testing.T) {
	w := newMerge(t, `verify = "both"`, `tests = ["true"]`)
	w.newApp()
	w.token = "sandbox-mergexo-app[bot]"
	w.on(1).command("carol", "/mergexo merge")
	assert.Equal(t, "merged", w.badge(), w.request())
	assert.Empty(t, w.trains())
}

// An App that may not push the branches of the train is told so in the comment, once, and what is asked for waits for the
// permission.
func TestAnAppThatMayNotPushTheTrain(t *testing.T) {
	w := newTrain(t)
	allow := func(logins ...string) {
		for n := range 4 {
			w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": fmt.Sprintf("mergexo/train/main/%d", n+1), "push": logins})
		}
	}
	allow("octo")
	w.command("carol", "/mergexo merge")
	assert.Empty(t, w.trains())
	w.requested("in_approval IN_TRAIN", "You're not authorized to push to this branch")
	allow("octo", "mergexo-app[bot]")
	w.later(time.Hour)
	w.sweep()
	require.Len(t, w.trains(), 1, "%s", w.logged.String())
	w.wholeTrain()
	assert.Equal(t, "merged", w.badge())
}

// A member of a car that is merged by hand is done, and the others land without it.
func TestAMemberIsMergedByHand(t *testing.T) {
	w, numbers := boardedBehind(t, "one\n", "two\n")
	assert.Equal(t, 1, w.ciRuns())
	w.on(numbers[0]).api("octo", "PUT", w.pull("/merge"), object{})
	w.handle(w.delivery("pull_request"))
	w.sweep()
	w.arrives("merged merged", numbers...)
	w.number = numbers[0]
	assert.Contains(t, w.request(), "This request did not merge it.")
	assert.NotContains(t, w.request(), "by rebase")
	assert.NotContains(t, w.request(), "tests")
}
