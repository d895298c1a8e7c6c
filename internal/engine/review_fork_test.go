package engine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// writeItOut is what the reviewer of a fork answers.
const writeItOut = `echo '{"findings": [{"path": "f.txt", "line": 1, "severity": "should", "text": "Write it out."}]}'`

// newReader is a fork's pull request that an isolated script reviews.
func newReader(t *testing.T, script string) *world {
	t.Helper()
	w := newExternal(t)
	w.isolated(script)
	return w
}

// read handles an event in a run that ends what it has made for foreign code.
func (w *world) read(ev model.Event) model.Report {
	w.t.Helper()
	e := w.engine()
	rep, err := e.Handle(context.Background(), ev)
	require.NoError(w.t, errors.Join(err, e.Close()))
	w.over(w.runs)
	return rep
}

func TestAReviewNeedsNoTrackingAndNoLineOfAForkIsTrusted(t *testing.T) {
	if !rooted() {
		return
	}
	w := newReader(t, `echo x > f.txt; git add -A; git -c user.name=x -c user.email=x@example.com commit -qm Meddle; echo y > left.txt; `+writeItOut)
	head := w.theirs()
	rep := w.done(w.read(w.say("carol", "/mergexo review")))
	assert.Contains(t, w.reviewed(), "-- f.txt line 1\n**should:** Write it out.")
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 7)
	assert.Equal(t, head, w.theirs(), "what the reviewer commits is thrown away")
	for _, e := range rep.Effects {
		assert.NotEqual(t, "push", e.Kind)
	}
	status, _ := w.send("octo", "GET", w.path("/branches/gh-pr-2%2Ffeature"), nil)
	assert.Equal(t, http.StatusNotFound, status, "it is not let in by that")
}

// A stranger's words could have the agent tell what it knows.
func TestAReviewerOfAForkSeesNoVariableOfOurs(t *testing.T) {
	if !rooted() {
		return
	}
	tells := `echo '{"findings": [{"path": "'$1'", "line": 1, "severity": "should", "text": "The key is '"${MODEL_KEY:-unknown}"'."}]}'`
	w := newReader(t, "set f.txt; "+tells)
	w.given("MODEL_KEY", "opensesame")
	w.done(w.read(w.say("carol", "/mergexo review")))
	assert.Contains(t, w.reviewed(), "The key is unknown.")

	own := newWorld(t)
	own.isolated("set greeting.txt; " + tells)
	own.given("MODEL_KEY", "opensesame")
	require.Equal(t, model.ResultDone, own.read(own.say("carol", "/mergexo review")).Result)
	assert.NotContains(t, own.reviewed(), "The key is unknown.", "who may push may read it anyhow")
}

func TestAForkIsNotReviewedWithoutIsolation(t *testing.T) {
	w := newExternal(t)
	w.finds(threeFindings())
	w.orders("carol", "/mergexo review")
	w.answered("rejected", "MergeXO does not review a pull request from a fork with `isolation = \"none\"`")
	assert.Zero(t, w.calls())
}

func TestADeathAtAnyWriteOfAForksReviewIsMadeGood(t *testing.T) {
	if !rooted() {
		return
	}
	w := newReader(t, writeItOut)
	ev := w.say("carol", "/mergexo review")
	dead := w.wrecks(func() { w.done(w.read(ev)) })
	dead.each(t, writes(1, 4, 2, 3), func(t *testing.T, w *world, _ int) {
		plan := w.plan(handling(t, ev))
		w.begins([]model.Report{w.read(ev)}, plan)
		assert.Equal(t, 1, w.reviews(), w.reviewed())
		assert.Equal(t, 1, strings.Count(w.reviewed(), "Write it out."))
		assert.Contains(t, w.said(), "see [the review](")
	})
}
