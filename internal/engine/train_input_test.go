package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A base that is deleted ends the requests for it, with that reason.
func TestTheBaseOfATrainIsDeleted(t *testing.T) {
	w, numbers := newTrain(t), []int{2, 3}
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/release", "sha": w.at("main")})
	for i := range numbers {
		w.number = w.second(fmt.Sprintf("agent/old%d", i), fmt.Sprintf("old%d.txt", i))
		w.api("octo", "PATCH", w.pull(""), object{"base": "release"})
		w.approve("alice")
		w.passed("ci")
	}
	w.write("octo", "release", "meanwhile.txt", "meanwhile\n")
	w.aboard(numbers, "")
	require.Len(t, w.trains(), 2, "%s", w.logged.String())
	w.api("octo", "DELETE", w.path("/git/refs/heads/release"), nil)
	w.sweep()
	for _, n := range numbers {
		w.on(n).requested("merge_failed BASE_MISSING", "**Not merged: branch `release` does not exist**")
		assert.Len(t, w.comments(), 2, "the command and its answer")
	}
	assert.Empty(t, w.trains())
}

// An App without the permission for workflow files cannot push a car that changes one: that request fails and names the permission,
// and the others land.
func TestAnAppThatMayNotPushWorkflows(t *testing.T) {
	w := newMerge(t, `verify = "ci"`, `required_checks = ["ci"]`, "speculate = 1")
	w.write("octo", "main", "ci.sh", "true\n")
	w.write("octo", "main", ".github/workflows/ci.yml", onTrains)
	r := newRobot(w, repo.String())
	ask := func(number int) {
		w.number = number
		r.handle(w.say("carol", "/mergexo merge"))
	}
	first := w.ready("first", "zero\n")[0]
	numbers := w.ready("car", "one\n", "two\n", "three\n")
	w.number = numbers[1]
	w.head = "agent/car1"
	w.write("octo", "agent/car1", ".github/workflows/new.yml", "on: push\njobs: {x: {runs-on: x}}\n")
	w.approve("alice")
	w.passed("ci")
	ask(first)
	require.Len(t, w.trains(), 1, "%s", w.logged.String())
	for _, n := range numbers { // they board together
		ask(n)
	}
	for range 4 {
		for branch, sha := range w.trains() {
			if !w.tested[sha] {
				r.handle(w.tests(branch, sha))
			}
		}
	}
	assert.Equal(t, "merged open merged", w.badges(numbers...), "%s", w.logged.String())
	w.on(numbers[1]).requested("merge_failed FORBIDDEN", "**Not merged: MergeXO's token lacks a permission**")
	assert.Contains(t, w.request(), "workflows` permission")
	assert.Empty(t, w.trains())
}
