package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halfLanded is a car of two whose landing died when it had moved the heads of both. The first is closed then: the head of the
// second still holds the change of the first.
func halfLanded(t *testing.T) (w *world, numbers []int) {
	t.Helper()
	w, numbers = boardedBehind(t, "one\n", "two\n")
	require.Equal(t, 1, w.ciRuns())
	ev, head := w.next(), w.at("agent/car1")
	w.gate.revive()
	w.gate.when(diesFirst, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/git-receive-pack") && w.at("agent/car1") != head
	})
	w.handle(ev)
	require.True(t, w.gate.died())
	w.gate.revive()
	require.NotEqual(t, head, w.at("agent/car1"))
	w.on(numbers[0]).api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.number = numbers[1]
	return w, numbers
}

// trainRests lets time pass until the train has come to rest.
func (w *world) trainRests() {
	w.t.Helper()
	for range 4 {
		w.later(time.Hour)
		w.sweep()
		w.wholeTrain()
	}
}

// An approval is for a change, and not for what an earlier landing has put the branch on.
func TestAnApprovalIsNotForWhatTheTrainHasPutTheBranchOn(t *testing.T) {
	w, numbers := halfLanded(t)
	w.command("carol", "/mergexo merge cancel")
	w.command("carol", "/mergexo merge")
	w.trainRests()
	assert.Equal(t, "closed open", w.badges(numbers...), w.logged.String())
	assert.NotContains(t, w.bare("ls-tree", "--name-only", "main"), "car0.txt")
	w.number = numbers[1]
	assert.Contains(t, w.merges(), "in_approval APPROVAL_STALE")
}

// The request that the car was for lands what was approved, also where it leaves the train, and where the record of the train is lost
// meanwhile: whoever rebuilds it knows by the comment where the head was moved to.
func TestARequestLandsWhatWasApprovedWhateverBecomesOfItsCar(t *testing.T) {
	each(t, map[string]func(w *world){
		"it leaves the train": func(w *world) {
			w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), `verify = "ci"`, `verify = "local"`, 1))
			w.passed("ci")
		},
		"the record is lost": func(w *world) { w.bare("update-ref", "-d", trainRecord) },
	}, func(t *testing.T, name string, since func(w *world)) {
		w, numbers := halfLanded(t)
		since(w)
		w.trainRests()
		assert.Equal(t, "closed merged", w.badges(numbers...), w.logged.String())
		files := w.bare("ls-tree", "--name-only", "main")
		assert.NotContains(t, files, "car0.txt")
		assert.Contains(t, files, "car1.txt")
	})
}
