package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// landed are the pull requests whose files the base got, in that order, by the first word of the name of the file.
func (w *world) landed(numbers []int, name string) (order []int) {
	w.t.Helper()
	for i, n := range numbers {
		at := w.bare("rev-list", "--count", w.bare("log", "-1", "--format=%H", "main", "--", fmt.Sprintf("%s%d.txt", name, i)))
		var count int
		_, err := fmt.Sscan(at, &count)
		require.NoError(w.t, err)
		for len(order) <= count {
			order = append(order, 0)
		}
		order[count] = n
	}
	out := order[:0]
	for _, n := range order {
		if n != 0 {
			out = append(out, n)
		}
	}
	return out
}

// What a pull request depends on lands before it, or with it: in one car, however late it was asked for.
func TestADependencyOrdersAndGroups(t *testing.T) {
	w := newTrain(t, "speculate = 1")
	numbers := w.ready("car", "one\n", "two\n", "three\n")
	for i, body := range []string{fmt.Sprintf("It greets.\n\nDepends-on: #%d", numbers[1]), "", fmt.Sprintf("Depends-on: octo/widgets#%d", numbers[0])} {
		w.on(numbers[i]).api("octo", "PATCH", w.pull(""), object{"body": body})
	}
	w.aboard(numbers[2:], "")
	w.aboard(numbers[:1], "")
	assert.Empty(t, w.trains(), "both wait")
	assert.Contains(t, w.request(), fmt.Sprintf("it depends on #%d, which is not in the merge train: nobody has asked to merge it, or that request waits", numbers[1]))
	w.aboard(numbers[1:2], "")
	require.Len(t, w.trains(), 1, w.logged.String())
	assert.Equal(t, 1, w.wholeTrain(), "all three in one car")
	assert.Equal(t, "merged merged merged", w.badges(numbers...))
	assert.Equal(t, []int{numbers[1], numbers[0], numbers[2]}, w.landed(numbers, "car"))
}
