package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Who asks for the train where nothing would test it hears so at once, and not after two hours.
func TestATrainThatNothingWouldTestSaysSoAtOnce(t *testing.T) {
	t.Parallel()
	for says, set := range map[string]func(w *world){
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
		"give MergeXO the token of a GitHub App": func(w *world) { w.token = "" },
		"no check is required": func(w *world) {
			w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), `required_checks = ["ci"]`, "", 1))
		},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
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
		})
	}
}
