//go:build all

package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A trainScene is a step of a train, with the event that a run takes which dies.
type trainScene func(t *testing.T) (w *world, ev model.Event, numbers []int)

var trainScenes = map[string]trainScene{
	"boards": func(t *testing.T) (*world, model.Event, []int) {
		w := begin(t, "train boards", func() *world {
			w := readyTrain(t, []string{"speculate = 2"}, "one\n", "two\n")
			w.aboard([]int{2}, "")
			return w
		})
		w.number = 3
		return w, w.say("carol", "/mergexo merge"), []int{2, 3}
	},
	"lands two": func(t *testing.T) (*world, model.Event, []int) {
		w := carOfTwo(t, "train lands", "three\n")
		return w, w.next(), []int{2, 3, 4}
	},
	"is red": func(t *testing.T) (*world, model.Event, []int) {
		w := carOfTwo(t, "train red", "broken\n")
		return w, w.next(), []int{2, 3, 4}
	},
	"runs the checks again": func(t *testing.T) (*world, model.Event, []int) {
		w, numbers := boarded(t, []string{"speculate = 1"}, "one\n")
		branch, sha := w.only()
		w.tested = map[string]bool{sha: true}
		return w, w.ciEnds(4200, branch, sha, "failure"), numbers
	},
	"only tries": func(t *testing.T) (*world, model.Event, []int) {
		w, numbers := boarded(t, []string{"ci_retries = 0"}, "broken\n")
		w.command("carol", "/mergexo merge cancel")
		w.command("carol", "/mergexo try")
		return w, w.next(), numbers
	},
	"GitHub merges": func(t *testing.T) (*world, model.Event, []int) {
		w, numbers := boarded(t, []string{"speculate = 2", `strategy = "api"`}, "one\n", "two\n")
		return w, w.tests("mergexo/train/main/1", w.trains()["mergexo/train/main/1"]), numbers
	},
	"throws a car away": func(t *testing.T) (*world, model.Event, []int) {
		w, numbers := boarded(t, []string{"speculate = 2", "batch = 1"}, "one\n", "two\n")
		w.put("/_sandbox/runs/4300", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "in_progress",
			"head_sha": w.trains()["mergexo/train/main/1"], "head_branch": "mergexo/train/main/1"})
		w.number = 2
		return w, w.say("carol", "/mergexo merge cancel"), numbers
	},
	"is tested again after an outage": func(t *testing.T) (*world, model.Event, []int) {
		w, numbers := boarded(t, []string{"speculate = 2"}, "one\n", "two\n")
		w.later(2 * time.Hour)
		w.sweep()
		w.later(2 * time.Hour)
		const branch = "mergexo/train/main/1"
		return w, w.runEnds(4400, branch, w.trains()[branch], object{"name": "lint", "path": ".github/workflows/lint.yml", "conclusion": "success"}), numbers
	},
	"is tested here as well": func(t *testing.T) (*world, model.Event, []int) {
		w := begin(t, "train both", func() *world {
			w := trainOf(newMerge(t, `verify = "both"`, `required_checks = ["ci"]`, `tests = ["true"]`), "true\n")
			w.ready("car", "one\n")
			w.number = 2
			return w
		})
		return w, w.say("carol", "/mergexo merge"), []int{2}
	},
}

// carOfTwo is a train with a car of two whose checks have not run; the second has this in its file.
func carOfTwo(t *testing.T, name, text string) *world {
	t.Helper()
	return begin(t, name, func() *world {
		w := newTrain(t, "speculate = 1", "ci_retries = 0")
		w.ready("car", "one\n", "two\n", text)
		w.aboard([]int{2, 3, 4}, "")
		require.Equal(t, 1, w.ciRuns())
		return w
	})
}

// fleeting is what differs between two trains that stand the same: names of commits and comments, times, and runs.
var fleeting = regexp.MustCompile(`\b[0-9a-f]{10,64}\b|\d{4}-\d\d-\d\dT[0-9:.]+Z|"run":\d+|"told":"\w+"|,"took":\d+|runs/\d+|random\d+|issuecomment-\d+|http://127\.0\.0\.1:\d+`)

// stands is all that the next run can see of a train: branches with their files, what is recorded, workflow runs,
// pull requests and markers.
func (w *world) stands(numbers []int) string {
	w.t.Helper()
	var b strings.Builder
	for line := range strings.Lines(w.bare("for-each-ref", "--format=%(refname) %(tree) %(contents:subject)", "refs/heads", "refs/mergexo")) {
		ref, _, _ := strings.Cut(line, " ")
		b.WriteString(line)
		if strings.HasPrefix(ref, "refs/mergexo/") { // its files name commits
			b.WriteString(w.bare("grep", "-h", "", ref))
		}
	}
	for _, run := range w.api("octo", "GET", w.path("/actions/runs?per_page=100"), nil)["workflow_runs"].([]any) {
		if r := object(run.(map[string]any)); r["path"] != ".github/workflows/mergexo.yml" {
			fmt.Fprintln(&b, r["path"], r["event"], r["head_branch"], r["status"], r["conclusion"], r["run_attempt"])
		}
	}
	for _, n := range numbers {
		w.number = n
		issue := w.api("octo", "GET", w.path(fmt.Sprintf("/issues/%d", n)), nil)
		fmt.Fprintf(&b, "\n#%d %s %v %v %v\n", n, w.badge(), issue["title"], issue["body"], issue["labels"])
		for _, c := range w.comments() {
			fmt.Fprintln(&b, c.at("user", "login"), hidden.FindAllString(c["body"].(string), -1))
		}
	}
	return fleeting.ReplaceAllString(b.String(), "~")
}

// trainEnds is all that counts of a train that has come to rest.
func (w *world) trainEnds(numbers []int) string {
	w.t.Helper()
	w.sweep()
	w.wholeTrain()
	w.sweep()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nbranches: %v\n", w.bare("log", "--format=%s", "main"), w.bare("rev-parse", "main^{tree}"), w.trains())
	for _, n := range numbers {
		w.number = n
		fmt.Fprintf(&b, "#%d %s %v\n", n, w.badge(), w.merges())
	}
	return b.String()
}

// goesOn checks that a train comes to the end that one came to which nothing befell. If it stands as that one stood, the rest
// is the same: it is played only where something is left to make good.
func (w *world) goesOn(numbers []int, stands, want string) {
	w.t.Helper()
	if w.stands(numbers) != stands {
		assert.Equal(w.t, want, w.trainEnds(numbers), "%s", w.logged.String())
	}
}

func TestTheTrainGoesOnAfterADeathAtAnyWrite(t *testing.T) {
	each(t, trainScenes, func(t *testing.T, _ string, set trainScene) {
		w, ev, numbers := set(t)
		dead := w.wrecks(func() { w.handle(ev) })
		require.Positive(t, w.gate.writes)
		stands, want := w.stands(numbers), w.trainEnds(numbers)
		dead.each(t, nil, func(t *testing.T, w *world, _ int) {
			w.recover(ev)
			w.goesOn(numbers, stands, want)
		})
	})
}

// Two runs that take one event of a train are one: the record is changed by one of them.
func TestTwoRunsOfATrainAreOne(t *testing.T) {
	each(t, trainScenes, func(t *testing.T, _ string, set trainScene) {
		w, ev, numbers := set(t)
		w.gate.revive()
		w.handle(ev)
		writes, stands := w.gate.writes, w.stands(numbers)
		want := w.trainEnds(numbers)

		for n := 1; n <= writes; n++ { // the other one comes before each of the writes
			w, ev, numbers = set(t)
			w.gate.revive()
			w.beforeWrite(n, sync.OnceFunc(func() { w.beside(ev) }))
			w.handle(ev)
			w.gate.revive()
			t.Logf("the other one came before write %d of %d", n, writes)
			w.goesOn(numbers, stands, want)
		}
	})
}

// The record is damaged, and the sweep that makes it again from the requests dies at any of its writes.
func TestALostRecordIsMadeAgainAfterADeathAtAnyWrite(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n", "two\n")
	w.moveRef(trainRecord, w.at("main"))
	dead := w.wrecks(func() { w.sweep() })
	require.Positive(t, w.gate.writes)
	w.sweep() // the first one leaves the conflict matrix or the badges to the next: an undisturbed one others than a recovery
	stands, want := w.stands(numbers), w.trainEnds(numbers)
	require.Contains(t, want, "#2 merged")
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recoverBySweep()
		w.sweep()
		w.goesOn(numbers, stands, want)
	})
}
