package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Who asks for the train where nothing would test it hears so at once, and not after two hours.
func TestATrainThatNothingWouldTestSaysSoAtOnce(t *testing.T) {
	each(t, map[string]func(w *world){
		"add \"mergexo/train/**\" to on.push.branches": func(w *world) {
			w.write("octo", "main", ".github/workflows/ci.yml", "on:\n  push:\n    branches: [main]\njobs: {}\n")
		},
		"required check ci comes from .github/workflows/ci.yml, which does not run": func(w *world) {
			w.write("octo", "main", ".github/workflows/lint.yml", "on: push\njobs: {lint: {}}\n")
			w.write("octo", "main", ".github/workflows/ci.yml", "on: pull_request\njobs:\n  test: {name: ci}\n")
		},
		"no workflow has a job for required check renamed": func(w *world) {
			w.write("octo", "main", ".github/workflows/ci.yml", "on: push\njobs:\n  test: {name: ci}\n")
			w.protect(object{"checks": []string{"ci", "cla", "renamed"}, "ruleset": 42})
			w.api("octo", "POST", w.path("/statuses/"+w.tip()), object{"state": "success", "context": "cla"}) // another service is at work here
		},
		"waiting for the check `nope` (no workflow has a job of this name: unless another service reports it, rename the check or add the job)": func(w *world) {
			w.protect(object{"checks": []string{"ci", "nope"}, "ruleset": 42})
		},
		"give MergeXO the token of a GitHub App": func(w *world) { w.token = "" },
		"no check is required": func(w *world) {
			w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), `required_checks = ["ci"]`, "", 1))
		},
	}, func(t *testing.T, says string, set func(w *world)) {
		w := newTrain(t)
		set(w)
		w.number = 1
		ask := "/mergexo merge"
		if strings.Contains(says, "renamed") { // a merge waits until the head has it
			ask = "/mergexo try"
		}
		w.command("carol", ask)
		assert.Contains(t, strings.ReplaceAll(w.request(), "\\", ""), says)
		assert.Empty(t, w.trains())
		told := map[string]string{"why": w.why(1)}
		w.token = "sandbox-octo" // a person at a terminal, whose token can do other things than MergeXO's
		told["train"] = w.seen()
		for where, text := range told {
			if where == "train" && strings.HasPrefix(says, "waiting") { // it has not boarded
				continue
			}
			assert.Contains(t, strings.ReplaceAll(text, "\\", ""), says, where)
			assert.NotRegexp(t, "probably|being (built|tested)", text, where)
		}
	})
}

// A pull request that takes the branches of the train out of CI fails for it, and stops nobody else.
func TestAChangeThatDeafensTheTrain(t *testing.T) {
	w := newTrain(t, "speculate = 1")
	first, numbers := w.ready("first", "zero\n"), w.ready("car", "one\n", "two\n", "three\n")
	w.number, w.head = numbers[1], "agent/car1"
	w.write("octo", w.head, ".github/workflows/ci.yml", strings.Replace(onTrains, "mergexo/train/**", "main", 1))
	w.approve("alice")
	w.passed("ci")
	w.aboard(first, "")
	w.aboard(numbers, "")
	assert.Equal(t, 2, w.wholeTrain(), "the first, and the two others together: %s", w.logged.String())
	assert.Equal(t, "merged open merged", w.badges(numbers...))
	w.on(numbers[1]).requested("merge_failed CHECKS_FAILED", "with this change no workflow runs on the branches of the train")
	assert.Empty(t, w.trains())
}

// GitHub starts no workflow for a commit that says so, and the train says that in place of waiting for one. What a commit in the
// middle said counts for nothing: it is not pushed as the head of a branch, and a squash does not repeat it.
func TestAChangeForWhichGitHubStartsNoWorkflow(t *testing.T) {
	each(t, map[string]string{"rebase": "open", "squash": "merged"}, func(t *testing.T, strategy string, badge string) {
		w := newTrain(t)
		w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), "[merge]\n", "[merge]\nstrategy = \""+strategy+"\"\n", 1))
		numbers := w.ready("car", "one\n")
		w.head, w.number = "agent/car0", numbers[0]
		w.api("octo", "PUT", w.path("/contents/more.txt"), object{"message": "wip [skip ci]", "branch": w.head, "content": "bW9yZQo="})
		w.approve("alice")
		w.passed("ci")
		w.aboard(numbers, "")
		w.wholeTrain()
		assert.Equal(t, badge, w.badges(numbers...), w.logged.String())
		if badge == "open" {
			w.requested("merge_failed CHECKS_FAILED", `says "[skip ci]", for which GitHub starts no workflow`)
		}
	})
}
