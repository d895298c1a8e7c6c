package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

func TestACarOfOneLandsOnceItsChecksPass(t *testing.T) {
	w := newTrain(t)
	w.moveOn()
	before := w.at("main")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, before, w.at("main"))
	w.requested("in_approval IN_TRAIN", "Car 1 is being tested")
	branch, tip := w.only()
	assert.Equal(t, "mergexo/train/main/1", branch)

	assert.Equal(t, 1, w.ciRuns())
	assert.Equal(t, tip, w.at("main"), "what landed is the very commit that was tested: %s", w.logged.String())
	w.requested("done")
	w.arrives("merged", 1)
}

// ready opens pull requests with one file each, in two commits. They are approved and have passed, and the base went on since. It gives
// their numbers.
func (w *world) ready(name string, texts ...string) []int {
	w.t.Helper()
	var numbers []int
	for i, text := range texts {
		branch, file := fmt.Sprintf("agent/%s%d", name, i), fmt.Sprintf("%s%d.txt", name, i)
		w.second(branch, file)
		w.write("octo", branch, file, text)
		w.approve("alice")
		w.passed("ci")
		numbers = append(numbers, w.number)
	}
	w.write("octo", "main", name+"-meanwhile.txt", "meanwhile\n")
	return numbers
}

// aboard has pull requests merged by one command each.
func (w *world) aboard(numbers []int, words string) {
	w.t.Helper()
	for _, number := range numbers {
		w.on(number).command("carol", strings.TrimSpace("/mergexo merge "+words))
	}
}

// badges are how GitHub shows pull requests.
func (w *world) badges(numbers ...int) string {
	w.t.Helper()
	var all []string
	for _, n := range numbers {
		w.number = n
		all = append(all, w.badge())
	}
	return strings.Join(all, " ")
}

// arrives lets CI and the train go on until nothing moves and no car is left, with these badges in the end.
func (w *world) arrives(badges string, numbers ...int) {
	w.t.Helper()
	w.wholeTrain()
	assert.Equal(w.t, badges, w.badges(numbers...), w.logged.String())
	assert.Empty(w.t, w.trains())
}

func TestCarsStandOnOneAnotherAndLandInTheirOrder(t *testing.T) {
	w := newTrain(t)
	numbers := w.ready("car", "one\n", "two\n", "three\n", "four\n")
	before := w.at("main")
	w.aboard(numbers, "")
	assert.Len(t, w.trains(), 3, "as many as are tested at once: %v", w.trains())
	assert.Equal(t, before, w.at("main"))
	w.gate.revive()
	shown, err := w.engine().Trains(context.Background(), repo, "")
	require.NoError(t, err)
	assert.Zero(t, w.gate.writes, "a look changes nothing")
	require.Len(t, shown, 1)
	var text strings.Builder
	require.NoError(t, report.Trains(&text, shown))
	golden.Text(t, "train/cars.txt", text.String())
	w.wholeTrain()
	shown, err = w.engine().Trains(context.Background(), repo, "main")
	require.NoError(t, err)
	require.Len(t, shown, 1)
	_, err = w.engine().Trains(context.Background(), repo, "nope")
	require.EqualError(t, err, "wrong usage: --base: there is no merge train of nope; use main")
	assert.Empty(t, shown[0].Queue)
	require.Len(t, shown[0].Landed, 4)
	assert.Equal(t, numbers[3], shown[0].Landed[0].Number, "the newest first")
	w.arrives("merged merged merged merged", numbers...)
	assert.Equal(t, "four\n", w.fileOf("main", "car3.txt"))
}

func TestARedCulpritIsFoundAndTheOthersLand(t *testing.T) {
	w := newTrain(t, "ci_retries = 0", "speculate = 1")
	first, numbers := w.ready("first", "zero\n"), w.ready("car", "one\n", "broken\n", "three\n", "four\n")
	w.aboard(first, "")
	w.aboard(numbers, "") // which wait, and board the next car together
	assert.LessOrEqual(t, w.wholeTrain(), 6, "the first car, that of four, and four to find the culprit and test the rest")
	assert.Equal(t, "merged", w.badges(first...))
	w.arrives("merged open merged merged", numbers...)
	w.on(numbers[1]).requested("merge_failed CHECKS_FAILED", "- [`ci`](")
}

func TestTheTrainGoesOnWhereSomethingMoves(t *testing.T) {
	w, numbers := boarded(t, []string{"speculate = 6"}, "zero\n", "one\n", "two\n", "three\n", "four\n", "five\n")
	require.Len(t, w.trains(), 6)
	ends := []struct {
		says string
		move func()
	}{
		{"HEAD_MOVED", func() { // a new head
			w.write("bob", w.head, "car1.txt", "changed\n")
			w.handle(w.delivery("pull_request"))
		}},
		{"CANCELLED", func() { w.command("carol", "/mergexo merge cancel") }},
		{"CLOSED", func() {
			w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
			w.handle(w.delivery("pull_request"))
		}},
		{"FROZEN", func() {
			w.labels("carol", "mergexo:freeze")
			w.handle(w.delivery("pull_request"))
		}},
	}
	for i := len(ends); i > 0; i-- { // from behind, since what stands behind is built again
		w.number, w.head = numbers[i], fmt.Sprintf("agent/car%d", i)
		ends[i-1].move()
	}
	w.sweep()
	w.wholeTrain()
	w.sweep()
	w.arrives("merged open open closed open merged", numbers...)
	for i, c := range ends {
		w.number = numbers[i+1]
		assert.Contains(t, strings.Join(w.merges(), " "), c.says)
	}
}

// retargets gives a pull request a base that has no settings, such as that of a site.
func (w *world) retargets(number int) {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/site", "sha": w.at("main")})
	w.api("octo", "DELETE", w.path("/contents/.github/mergexo.toml"), object{"message": "No settings", "branch": "site", "sha": w.bare("rev-parse", "site:.github/mergexo.toml")})
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%d", number)), object{"base": "site"})
}

// Whatever somebody gives their pull request for a base holds up nobody else.
func TestTheTrainGoesOnWhereARequestHasABaseWithoutSettings(t *testing.T) {
	t.Parallel()
	t.Run("in a car", func(t *testing.T) {
		w, numbers := boarded(t, nil, "zero\n", "one\n", "two\n")
		w.retargets(numbers[0])
		w.trainRests()
		assert.Equal(t, "open merged merged", w.badges(numbers...), "%s", w.logged.String())
		w.number = numbers[0]
		assert.Contains(t, strings.Join(w.merges(), " "), "RETARGETED")
	})
	t.Run("in the middle of its landing", func(t *testing.T) {
		w, numbers := halfLanded(t)
		w.retargets(numbers[1])
		third := w.ready("late", "late\n")
		w.aboard(third, "")
		w.trainRests()
		assert.Equal(t, "closed open merged", w.badges(append(numbers, third...)...), w.logged.String())
	})
}

// Whoever takes the settings away switches MergeXO off: nothing lands by others in their place.
func TestTheTrainStopsWhereItsOwnSettingsAreGone(t *testing.T) {
	w, numbers := boarded(t, nil, "zero\n", "one\n")
	w.api("octo", "DELETE", w.path("/contents/.github/mergexo.toml"), object{"message": "Off", "branch": "main", "sha": w.bare("rev-parse", "main:.github/mergexo.toml")})
	before := w.at("main")
	for branch, sha := range w.trains() {
		for _, ev := range w.pushed(branch, sha) {
			_, err := w.engine().Handle(context.Background(), ev)
			require.ErrorContains(t, err, "main:.github/mergexo.toml")
		}
	}
	assert.Equal(t, before, w.at("main"))
	assert.Equal(t, "open open", w.badges(numbers...))
}

// A base that takes only commits that have passed its checks takes what the train has tested, without a word in the settings.
func TestTheTrainLandsWhereChecksProtectTheBase(t *testing.T) {
	w := trainOf(newMerge(t), "true\n")
	w.protect(object{"checks": []string{"ci"}, "ruleset": 42})
	w.aboard([]int{1}, "")
	_, tip := w.only()
	before := w.at("main")
	w.later(time.Hour)
	w.sweep()
	assert.Equal(t, before, w.at("main"), "nothing lands untested")
	w.wholeTrain()
	assert.Equal(t, tip, w.at("main"), w.logged.String())
	assert.Equal(t, "merged", w.badges(1))
}

func TestATryIsTestedAndNeverLands(t *testing.T) {
	w := newTrain(t)
	w.second("agent/try", "try.txt", "fine\n") // which nobody has approved
	w.write("octo", "main", "meanwhile.txt", "meanwhile\n")
	before := w.at("main")
	w.command("carol", "/mergexo try")
	require.Len(t, w.trains(), 1, w.logged.String())
	assert.Contains(t, w.request(), "Car 1 is being tested on [`mergexo/train/main/1`]")
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, before, w.at("main"))
	assert.Equal(t, "open", w.badge())
	assert.Contains(t, w.request(), "**The try passed.**")
	assert.Empty(t, w.trains())
}

// A try changes no request to merge, and a request takes the place of a try once it is in the train.
func TestATryBesideARequest(t *testing.T) {
	type row struct {
		approved bool
		commands []string
		says     []string // the comments on it, once its checks have passed and it is approved
	}
	each(t, map[string]row{
		"a try of what is aboard":     {true, []string{"/mergexo merge", "/mergexo try"}, []string{"**Merged**", "is in the merge train, which tests the same commit"}},
		"a merge of what is tried":    {true, []string{"/mergexo try", "/mergexo merge"}, []string{"**Replaced**", "**Merged**"}},
		"a second try beside a merge": {false, []string{"/mergexo merge", "/mergexo try", "/mergexo try"}, []string{"**Merged**", "**Replaced**", "**The try passed.**"}},
		"a cancel of both":            {false, []string{"/mergexo merge", "/mergexo try", "/mergexo merge cancel"}, []string{"**Cancelled**", "**Cancelled**", "**Cancelled**"}},
	}, func(t *testing.T, _ string, c row) {
		w := newTrain(t)
		w.second("agent/try", "try.txt", "fine\n")
		w.passed("ci")
		if c.approved {
			w.approve("alice")
		}
		for _, command := range c.commands {
			w.command("carol", command)
		}
		w.wholeTrain()
		if !c.approved {
			w.approve("alice")
			w.sweep()
			w.tested = nil // CI runs again on what is on another branch
			w.wholeTrain()
		}
		for _, says := range c.says {
			assert.True(t, slices.ContainsFunc(w.comments(), func(o object) bool { return strings.Contains(o["body"].(string), says) }), says)
		}
		assert.Empty(t, w.losses(w.number))
		assert.Empty(t, w.trains())
		w.later(time.Hour)
		w.sweep()
		assert.Empty(t, w.due())
	})
}

// budgeted counts the calls of GitHub's API that an event takes, and prints the budget for scripts/bench.
func (w *world) budgeted(what string, limit int, ev model.Event) model.Report {
	w.t.Helper()
	w.gate.revive()
	rep := w.handle(ev)
	api, _ := w.gate.counted()
	w.t.Logf("budget: GitHub calls, %s %d of %d", what, api, limit)
	assert.LessOrEqual(w.t, api, limit, "%v", w.gate.seen)
	return rep
}

// What a train costs: an event that changes nothing, and a car that lands.
func TestBudgetsOfTheTrain(t *testing.T) {
	w, numbers := boarded(t, []string{"speculate = 1"}, "zero\n")
	_, tip := w.only()
	w.put("/_sandbox/runs/4000", object{"name": "lint", "path": ".github/workflows/lint.yml", "event": "push", "status": "completed", "conclusion": "success", "head_sha": tip, "head_branch": "mergexo/train/main/1"})
	w.budgeted("an event of the train that changes nothing", 3, w.delivery("workflow_run"))
	w.budgeted("a car of one that lands", 15, w.next())
	assert.Equal(t, "merged", w.badges(numbers[0]))

	w, numbers = boarded(t, []string{"speculate = 1"}, "zero\n", "one\n", "two\n", "three\n")
	w.ciRuns()
	require.Len(t, w.trains(), 1)
	w.budgeted("a car of three that lands", 27, w.next())
	assert.Equal(t, "merged merged merged merged", w.badges(numbers...))
}

// A label or an approval asks for the merge where the settings say so, and nobody gives a command.
func TestALabelOrAnApprovalAsksForTheMerge(t *testing.T) {
	t.Parallel()
	t.Run("a label that was put on again, which nothing told of", func(t *testing.T) {
		w := newMerge(t, `auto = "label"`, `tests = ["false"]`)
		w.labels("carol", "merge")
		w.sweep()
		require.Len(t, w.merges(), 1, w.logged.String())
		require.Equal(t, "open", w.badge())
		w.resets(`tests = ["false"]`, `tests = "none"`).withdraw("carol")
		w.labels("carol", "merge")
		w.sweep()
		assert.Len(t, w.merges(), 2, w.logged.String())
		assert.Equal(t, "merged", w.badge())
	})
	t.Run("approval", func(t *testing.T) {
		w := newTrain(t, `auto = "approval"`)
		w.number = w.second("agent/auto", "auto.txt")
		w.write("octo", "main", "meanwhile.txt", "meanwhile\n")
		w.passed("ci")
		w.sweep()
		assert.Empty(t, w.merges(), "nobody has approved it")
		w.endorsed("alice")
		assert.Equal(t, []string{"in_approval IN_TRAIN"}, w.merges(), w.logged.String())
		w.wholeTrain()
		assert.Equal(t, "merged", w.badge())
		assert.Contains(t, w.request(), "requested by the approval of alice")
	})
}

// With both, a car lands once the tests of the settings and the repository's checks have passed on it.
func TestACarMayBeTestedHereAsWell(t *testing.T) {
	w := trainOf(newMerge(t, `verify = "both"`, `required_checks = ["ci"]`, `tests = ["true"]`), "true\n")
	w.command("carol", "/mergexo merge")
	require.Len(t, w.trains(), 1, w.logged.String())
	assert.Equal(t, "open", w.badge(), "CI has not tested it")
	w.arrives("merged", 1)
}

// Who may push can set a status of any name on a commit. It is not what MergeXO found, whose run has died.
func TestTheTestsOfTheSettingsAreNotForged(t *testing.T) {
	w := trainOf(newMerge(t, `verify = "both"`, `required_checks = ["ci"]`, `tests = ["false"]`, `ci_retries = 0`), "true\n")
	w.gate.revive()
	w.gate.when(diesFirst, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/statuses/") })
	w.command("carol", "/mergexo merge")
	require.True(t, w.gate.died())
	w.gate.revive()
	_, tip := w.only()
	w.api("bob", "POST", w.path("/statuses/"+tip), object{"state": "success", "context": "mergexo/tests"})
	w.wholeTrain()
	assert.Equal(t, "open", w.badge(), w.logged.String())
	assert.Contains(t, w.request(), "- `mergexo/tests` failed")
}
