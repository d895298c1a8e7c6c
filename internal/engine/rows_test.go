package engine_test

import (
	"fmt"
	"slices"
	"testing"
)

// everyRow is true in the circle "all", where CI goes through every row of a table.
var everyRow bool

// writes are the writes at which a story dies, from the first to the last one of a run. At a change only those are gone through
// after which the next run has something else to make good; what the others leave is like it.
func writes(first, last int, kept ...int) []int {
	var all []int
	for n := first; n <= last; n++ {
		if everyRow || slices.Contains(kept, n) {
			all = append(all, n)
		}
	}
	return all
}

// each tells a story for every row of a table, in a test of its own.
func each[R any](t *testing.T, rows map[string]R, story func(t *testing.T, name string, row R)) {
	t.Helper()
	parallel(t)
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { story(t, name, row) })
	}
}

// every tells a story for each of some values, in a test of its own.
func every[R any](t *testing.T, rows []R, story func(t *testing.T, row R)) {
	t.Helper()
	parallel(t)
	for _, row := range rows {
		t.Run(fmt.Sprint(row), func(t *testing.T) { story(t, row) })
	}
}

// unsure tells a story for each of these writes whose answer gets lost: it was applied, or it was not.
func unsure(t *testing.T, at []int, story func(t *testing.T, n int, f fate)) {
	t.Helper()
	each(t, map[string]fate{"applied": unclear, "not applied": lost}, func(t *testing.T, _ string, f fate) {
		every(t, at, func(t *testing.T, n int) { story(t, n, f) })
	})
}
