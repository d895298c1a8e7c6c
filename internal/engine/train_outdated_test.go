package engine_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outdatedTrain is a train of two cars. What the first one lands replaces a text in the settings, by which the second one is built.
func outdatedTrain(t *testing.T, rule []string, was, now string, second func(w *world, branch string)) (w *world, numbers []int) {
	t.Helper()
	w = newTrain(t, append([]string{"[[merge.rule]]", `branch = "agent/car*"`}, rule...)...)
	w.write("octo", "main", "notes.md", "---\ntags: [one]\nowners: [ann]\n---\nNotes.\n")
	w.write("octo", "main", "shared.txt", "shared\n")
	numbers = w.ready("car", "one\n", "two\n")
	second(w, "agent/car1")
	w.write("octo", "agent/car0", ".github/mergexo.toml", strings.Replace(w.settings("main"), was, now, 1))
	for i, head := range []string{"agent/car0", "agent/car1"} {
		w.head, w.number = head, numbers[i]
		w.approve("alice")
		w.passed("ci")
	}
	w.aboard(numbers, "")
	require.Len(t, w.trains(), 2, w.logged.String())
	return w, numbers
}

// landBoth has CI test the first car before the other one, with which it would land, and then all others. The second one is built
// again.
func (w *world) landBoth(badges string, numbers []int) {
	w.t.Helper()
	w.handle(w.tests("mergexo/train/main/1", w.trains()["mergexo/train/main/1"]))
	w.wholeTrain()
	w.sweep()
	w.arrives(badges, numbers...)
	assert.Contains(w.t, w.logged.String(), "train_outdated")
	w.unforged(numbers)
}

// unforged says that nobody was told of a forged record.
func (w *world) unforged(numbers []int) {
	w.t.Helper()
	assert.NotContains(w.t, w.logged.String(), "train_record_forged")
	for _, n := range numbers {
		assert.Empty(w.t, w.losses(n))
	}
}

// A car that lands may change more of how what stands on it is merged than the strategy. That is built again, and nobody is told of
// a forgery.
func TestACarBehindOneThatChangesHowItIsMergedIsBuiltAgain(t *testing.T) {
	type row struct {
		rule     []string
		was, now string
		second   func(w *world, branch string)
		check    func(w *world)
	}
	each(t, map[string]row{
		"union_fields": {
			[]string{`strategy = "frontmatter-union"`, `union_fields = ["tags"]`}, `["tags"]`, `["tags", "owners"]`,
			func(w *world, branch string) {
				w.write("octo", branch, "notes.md", "---\ntags: [one, two]\nowners: [ann, ben]\n---\nNotes.\n")
			},
			func(w *world) { assert.Contains(w.t, w.fileOf("main", "notes.md"), "ben") },
		},
		"the strategy": {
			[]string{`strategy = "rebase"`}, `strategy = "rebase"`, `strategy = "squash"`,
			func(*world, string) {},
			func(w *world) { assert.Contains(w.t, w.bare("log", "-1", "--format=%s", "main"), "Another (#3)") },
		},
		"base_wins": {
			[]string{`strategy = "rebase"`}, `strategy = "rebase"`, "strategy = \"rebase\"\nbase_wins = [\"shared.txt\"]",
			func(w *world, branch string) { // one of the commits conflicts, and the branch as a whole does not
				w.write("octo", branch, "shared.txt", "of the branch\n")
				w.write("octo", branch, "shared.txt", "shared\n")
				w.write("octo", "main", "shared.txt", "of main\n")
			},
			func(w *world) { assert.Equal(w.t, "of main\n", w.fileOf("main", "shared.txt")) },
		},
	}, func(t *testing.T, _ string, c row) {
		w, numbers := outdatedTrain(t, c.rule, c.was, c.now, c.second)
		w.landBoth("merged merged", numbers)
		c.check(w)
	})
}

// What no longer merges by the settings that the car before it lands fails by its conflict, as it would have without the train.
func TestACarBehindOneThatTakesBaseWinsAwayConflicts(t *testing.T) {
	w, numbers := outdatedTrain(t, []string{`strategy = "no-ff"`, `base_wins = ["shared.txt"]`}, `base_wins = ["shared.txt"]`, "", func(w *world, branch string) {
		w.write("octo", branch, "shared.txt", "of the branch\n")
		w.write("octo", "main", "shared.txt", "of main\n")
	})
	w.landBoth("merged open", numbers)
	assert.Contains(t, w.request(), "shared.txt")
}

// Who makes the commits is part of what a car is. Another account of ours builds it again.
func TestACarOfAnotherAccountOfOursIsBuiltAgain(t *testing.T) {
	every(t, []string{"no-ff", "rebase"}, func(t *testing.T, strategy string) {
		w := newTrain(t, "strategy = \""+strategy+"\"")
		w.setting(`bots = ["octo", "sandbox-mergexo-app[bot]", "mergexo-app[bot]"]`)
		numbers := w.ready("car", "one\n")
		w.aboard(numbers, "")
		_, tip := w.only()
		w.token = "sandbox-octo"
		w.wholeTrain()
		w.sweep()
		w.arrives("merged", numbers...)
		w.unforged(numbers)
		assert.Equal(t, strategy == "no-ff", strings.Contains(w.logged.String(), "train_outdated"))
		assert.Contains(t, w.bare("log", "-1", "--format=%an", "main"), "octo")
		assert.Equal(t, strategy == "no-ff", tip != w.at("main"), "the commits of others keep their authors: what was tested lands")
	})
}

// What the record says of how a car was built makes no other commit land. What no longer fits is built again and tested again.
func TestAForgedWayOfMergingLandsNothing(t *testing.T) {
	type row struct {
		was, now string // in the record; without the way it is one of an earlier version, by which the car is built once more, as it was then
		outdated bool
		losses   int
	}
	each(t, map[string]row{
		"another way":           {`"way":"`, `"way":"other`, true, 0},
		"of an earlier version": {`,"way":"[^"]*"`, "", false, 1},
	}, func(t *testing.T, _ string, c row) {
		w, numbers := boarded(t, nil, "one\n")
		_, tip := w.only()
		w.rewriteRecord(regexp.MustCompile(c.was).FindString(w.recordText()), c.now)
		evil := w.forges(w.commitOf(tip+"^{tree}", "main"))
		assert.Equal(t, 1, w.ciRuns(), "it passes the checks")
		assert.NotContains(t, w.bare("log", "--format=%H", "main"), evil)
		assert.Equal(t, c.outdated, strings.Contains(w.logged.String(), "train_outdated"))
		assert.Len(t, w.losses(numbers[0]), c.losses)
		assert.Equal(t, 1, w.wholeTrain(), "what was approved is built again, and tested")
		assert.Equal(t, "merged", w.badges(numbers...), w.logged.String())
		assert.NotContains(t, w.bare("log", "--format=%H", "main"), evil)
	})
}

// What a record of an earlier version says honestly lands.
func TestARecordThatDoesNotSayHowACarWasBuiltLands(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n")
	_, tip := w.only()
	w.rewriteRecord(regexp.MustCompile(`,"way":"[^"]*"`).FindString(w.recordText()), "")
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, "merged", w.badges(numbers...), w.logged.String())
	assert.Equal(t, tip, w.at("main"))
	assert.Empty(t, w.losses(numbers[0]))
}
