package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/report"
)

// seen is the train as a terminal shows it.
func (w *world) seen() string {
	w.t.Helper()
	all, err := w.engine().Trains(context.Background(), repo, "")
	require.NoError(w.t, err)
	var out strings.Builder
	require.NoError(w.t, report.Trains(&out, all))
	return changing.ReplaceAllString(out.String(), "#")
}

// why is what somebody at a terminal is told about a pull request.
func (w *world) why(number int) string {
	w.t.Helper()
	why := w.explain(number)
	var out strings.Builder
	require.NoError(w.t, report.Why(&out, why.Pull, command.Because(why.Pull, why.Turns, why.Merges), why.Turns, why.Merges, false))
	return changing.ReplaceAllString(out.String(), "#")
}

// What people see of a train on its way: the terminal, the comment of each request, why, and the job summary of a run that took
// the train further.
func TestATrainAsPeopleSeeIt(t *testing.T) {
	w := newTrain(t, "speculate = 2", "batch = 2", "ci_retries = 0")
	first, numbers := w.ready("first", "zero\n"), w.ready("car", "one\n", "two\n", "three\n", "four\n")
	w.aboard(first, "")
	w.wholeTrain()
	w.aboard(numbers, "")
	w.number = w.second("agent/try", "try.txt")
	w.command("carol", "/mergexo try")
	w.later(4 * time.Minute)
	one := w.trains()["mergexo/train/main/2"]
	w.put(fmt.Sprintf("/_sandbox/runs/%d", 5000+w.testRuns+1), object{
		"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "in_progress", "head_sha": one, "head_branch": "mergexo/train/main/2",
		"jobs": []object{{"name": "ci", "status": "in_progress"}},
	})
	golden.Text(t, "train/seen.txt", w.seen())

	var said strings.Builder
	for _, n := range append(numbers, w.number) {
		w.number = n
		fmt.Fprintf(&said, "== comment on #%d\n%s\n\n== why\n%s\n", n, shown(w.request()), w.why(n))
	}
	w.on(numbers[1]).command("carol", "/mergexo why")
	answer, _, _ := strings.Cut(shown(w.lastSaid()), "<details>")
	fmt.Fprintf(&said, "== /mergexo why on #%d\n%s\n", w.number, answer)
	golden.Text(t, "train/comments.md", said.String())

	rep := w.handle(w.tests("mergexo/train/main/2", one))
	require.Len(t, rep.Trains, 1)
	var summary strings.Builder
	require.NoError(t, report.Summary(&summary, rep, "https://github.com/octo/widgets"))
	_, drawn, _ := strings.Cut(summary.String(), "**Merge train")
	drawn, _, _ = strings.Cut(drawn, "| effect |")
	golden.Text(t, "train/summary.md", changing.ReplaceAllString("**Merge train"+drawn, "#"))
	w.arrives("merged merged merged merged", numbers...)
	said.Reset()
	for _, n := range []int{numbers[0], numbers[2]} { // one alone, and one that was not the last of its car
		w.number = n
		fmt.Fprintf(&said, "== comment on #%d\n%s\n", n, shown(w.request()))
	}
	golden.Text(t, "train/landed.md", said.String())
}

// A request that the record does not have yet, or has lost, is in the train all the same: the next run takes it up.
func TestWhyKnowsARequestThatJoinsTheTrain(t *testing.T) {
	w := newTrain(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.command("carol", "/mergexo merge")
	assert.Contains(t, w.why(1), "In the merge train of `main`. Car 1 is being tested on `mergexo/train/main/1`.")
	w.moveRef(trainRecord, w.at("main"))
	said := w.why(1)
	assert.Contains(t, said, "In the merge train of `main`. It waits for a place in a car.")
	assert.NotContains(t, said, "It can be merged", "it is asked for already")
}

// Who fails reads which check failed, with a link, and what to do.
func TestAFailureInTheTrainAsPeopleReadIt(t *testing.T) {
	w, numbers := boarded(t, []string{"ci_retries = 0"}, "broken\n")
	w.wholeTrain()
	w.number = numbers[0]
	golden.Text(t, "train/failed.md", shown(w.request())+"\n")
	assert.NotContains(t, w.why(numbers[0]), "In the merge train")
}
