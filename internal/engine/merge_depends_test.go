package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// says gives a pull request a text.
func (w *world) says(number int, format string, args ...any) {
	w.t.Helper()
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%d", number)), object{"body": fmt.Sprintf(format, args...)})
}

// dependent is a world with pull request 1 and a second one, approved, that depends on it.
func dependent(t *testing.T, more ...string) *world {
	t.Helper()
	w := newMerge(t, more...)
	w.second("agent/second", "second.txt")
	w.approve("alice")
	w.says(2, "It greets.\n\n- **Depends-on:** #1 (the greeting)\n")
	return w
}

// What depends on a pull request waits for it where the tests run here, too, and is taken up once that has landed.
func TestMergeWaitsForWhatItDependsOn(t *testing.T) {
	w := dependent(t, `verify = "local"`)
	w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
	w.requested("in_approval DEPENDENCY", "- Depends on #1, which nobody has asked to merge")
	assert.NotContains(t, strings.Join(w.due(), ","), "merge", "nothing has changed")
	why := w.explain(2)
	assert.Contains(t, fmt.Sprint(why.Merges), "depends on #1, which nobody has asked to merge")

	w.number, w.head = 1, "agent/greet"
	w.command("carol", "/mergexo merge")
	require.Equal(t, "merged", w.badge(), w.logged.String())
	assert.Contains(t, w.due(), "2 merge")
	w.sweep()
	w.number = 2
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// Where the other one was asked for, and cannot land yet, the comment does not say that nobody has asked.
func TestMergeWaitsForWhatWaitsItself(t *testing.T) {
	w := dependent(t)
	w.number, w.head = 1, "agent/greet"
	w.labels("carol", "mergexo:freeze")
	w.command("carol", "/mergexo merge")
	w.on(2).command("carol", "/mergexo merge")
	assert.Contains(t, w.request(), "depends on #1, which has not landed")
}

// What has landed by hand counts, and one call tells of all.
func TestMergeAfterWhatItDependsOnCostsOneCall(t *testing.T) {
	t.Parallel()
	calls := func(body string) int {
		w := newMerge(t)
		for i := range 2 {
			w.second(fmt.Sprintf("agent/other%d", i), fmt.Sprintf("other%d.txt", i))
			w.api("octo", "PUT", w.pull("/merge"), object{"merge_method": "merge"})
		}
		w.number, w.head = 1, "agent/greet"
		w.says(1, "%s", body)
		rep := w.command("carol", "/mergexo merge")
		require.Equal(t, "merged", w.badge(), w.logged.String())
		return rep.Calls.REST + rep.Calls.GraphQL
	}
	assert.Equal(t, calls("It greets.")+1, calls("Depends-on: #2, #3"))
}

// Three that depend on each other: each request names all of them.
func TestMergeOfACircle(t *testing.T) {
	w := dependent(t)
	w.second("agent/third", "third.txt")
	w.approve("alice")
	w.says(1, "Depends on: #3")
	w.says(3, "Depends-on: #2")
	rep := w.command("carol", "/mergexo merge")
	assert.Contains(t, rep.Reason, "#3 depends on #2, #2 depends on #1, #1 depends on #3: none of them can land first")
	assert.Empty(t, w.merges())
}

// A line that is added to the text of a pull request aboard a car takes it out of that.
func TestADependencyThatIsAddedAboard(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n", "two\n")
	other := w.second("agent/other", "other.txt")
	w.says(numbers[0], "Depends-on: #%d", other)
	w.number = numbers[0]
	w.handle(w.delivery("pull_request"))
	assert.Contains(t, w.request(), fmt.Sprintf("it depends on #%d, which is not in the merge train", other))
	w.arrives("open merged", numbers...)
	w.api("octo", "PUT", w.path(fmt.Sprintf("/pulls/%d/merge", other)), object{"merge_method": "merge"})
	w.sweep()
	w.arrives("merged merged", numbers...)
}
