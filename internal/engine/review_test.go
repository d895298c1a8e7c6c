package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// finds has the reviewer find this, one list after the other at each call, the last one again and again.
func (w *world) finds(rounds ...[]model.Finding) {
	w.t.Helper()
	for i := range rounds {
		rounds[i] = append([]model.Finding{}, rounds[i]...)
	}
	raw := must.Get(json.Marshal(rounds))(w.t)
	require.NoError(w.t, os.WriteFile(w.log+".findings", raw, 0o600))
	if !strings.Contains(w.agent, "reviews") {
		w.agent = "reviews"
	}
}

// asked is the prompt that the reviewer got last.
func (w *world) asked() string {
	w.t.Helper()
	return string(contents(w.t, w.log+".prompt"))
}

// reviewed are our reviews of the pull request with their comments on lines, as people see them.
func (w *world) reviewed() string {
	w.t.Helper()
	var b strings.Builder
	for _, r := range w.list("octo", w.pull("/reviews")) {
		if r.at("user", "login") != "github-actions[bot]" || r["body"] == "" {
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s\n", r["state"], shown(r["body"]))
		for _, c := range w.list("octo", w.pull(fmt.Sprintf("/reviews/%d/comments", r.id()))) {
			fmt.Fprintf(&b, "-- %s line %v\n%s\n", c["path"], c["line"], shown(c["body"]))
		}
	}
	return b.String()
}

// lineComments are our comments that begin a thread.
func (w *world) lineComments() []object {
	w.t.Helper()
	var out []object
	for _, c := range w.list("octo", w.pull("/comments")) {
		if c.at("user", "login") == "github-actions[bot]" && c["in_reply_to_id"] == nil {
			out = append(out, c)
		}
	}
	return out
}

func found(path string, line int64, severity model.Severity, text string) model.Finding {
	return model.Finding{Path: path, Line: line, Severity: severity, Text: text}
}

// threeFindings are one on a line of the diff, one elsewhere and a nit.
func threeFindings() []model.Finding {
	world := found("greeting.txt", 2, model.Must, "Greet @eve and @alice, not the world.")
	world.Suggestion = "people"
	return []model.Finding{found("greeting.txt", 1, model.Nit, "No capital."), found("other.txt", 9, model.Should, "This still says hello."), world}
}

// newReview is a world whose reviewer finds three things.
func newReview(t *testing.T, more ...string) *world {
	t.Helper()
	w := newWorld(t, more...)
	w.finds(threeFindings())
	return w
}

func TestAReviewIsPostedOnceForAHeadAndAgainOnlyForWhatIsNew(t *testing.T) {
	w := newReview(t)
	rep := w.done(w.orders("carol", "/mergexo review"))
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 7)
	assert.LessOrEqual(t, rep.Calls.Git, 3)
	golden.File(t, "review/on_demand.md", w.said()+w.reviewed())
	assert.Contains(t, w.asked(), "+world", "the diff")
	assert.Contains(t, w.asked(), "pull request #1 of octo/widgets")

	again := w.orders("carol", "/mergexo review")
	assert.Equal(t, model.ResultDone, again.Result, again.Reason)
	w.answered("rejected", "After a new commit, you can request another review.")
	assert.Equal(t, 1, w.calls(), "the reviewer is not asked twice about one head")

	w.write("alice", w.head, "more.txt", "more\n")
	w.finds(append(threeFindings(), found("more.txt", 1, model.Must, "Say less.")))
	w.done(w.orders("carol", "/mergexo review"))
	assert.Len(t, w.lineComments(), 2)
	assert.Contains(t, w.reviewed(), "1 finding (1 × must); it does not repeat 3 earlier findings.")
	assert.Contains(t, w.asked(), "On line 2:", "what was raised before")
	assert.Equal(t, 2, w.calls())
}

// followed is the comment with which a sweep tracks a pull request.
var followed = regexp.MustCompile(`(?s)== github-actions\[bot\]\n\*\*MergeXO is on.*?\[pr\]\n`)

// A review whose run died, and that is asked for again, does not say for ever that it is under way.
func TestALaterReviewTakesThePlaceOfOneWhoseRunDied(t *testing.T) {
	w, _ := abandoned(t)
	w.done(w.orders("carol", "/mergexo review"))
	assert.NotContains(t, w.said(), "The findings follow")
	assert.Contains(t, w.said(), "**Replaced** by a [later request](")
	assert.Equal(t, 1, w.reviews())
	assert.Equal(t, 1, w.calls())
}

func TestADeathAtAnyWriteOfAReviewIsMadeGood(t *testing.T) {
	w := newReview(t)
	ev := w.say("carol", "/mergexo review")
	dead := w.wrecks(func() { require.Equal(t, model.ResultDone, w.handle(ev).Result) })
	want := w.said() + w.reviewed()
	require.Equal(t, 4, w.gate.writes, "the reply that claims it, a sign, the review, the end")
	every(t, []string{"event", "sweep"}, func(t *testing.T, next string) {
		dead.each(t, writes(1, 4, 2, 3), func(t *testing.T, w *world, _ int) {
			if next == "event" {
				w.recover(ev)
			} else {
				w.recoverBySweep()
			}
			assert.Equal(t, want, followed.ReplaceAllString(w.said(), "")+w.reviewed())
			calls := w.calls()
			assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
			assert.Equal(t, calls, w.calls())
		})
	})
}

func TestAnUnclearAnswerMakesNoSecondReview(t *testing.T) {
	w := newReview(t)
	w.gate.only(3, unclear) // the reply that claims it, a sign, the review
	w.done(w.orders("carol", "/mergexo review"))
	assert.Equal(t, 1, w.reviews())
}

func TestTwoRunsMakeOneReview(t *testing.T) {
	w := newReview(t)
	ev := w.say("carol", "/mergexo review")
	w.afterWrite(1, func() { w.gives(model.ResultRetry, w.beside(ev)) }) // the reply that claims it is there
	w.done(w.by(w.engine(), ev))
	assert.Equal(t, 1, w.reviews())
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.answers(), 1)
}
