// Package must shortens tests: it takes the value of a call that has to succeed, and runs each row of a table as a test of its
// own.
package must

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Get takes what a call returns, and gives its value to a test that its error ends: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(t testing.TB, said ...any) T {
	return func(t testing.TB, said ...any) T {
		t.Helper()
		require.NoError(t, err, said...)
		return value
	}
}

// Err takes what a call returns, and gives its error alone.
func Err[T any](_ T, err error) error { return err }

// Each runs a story once for each row of a table, as a test of the row's name.
func Each[K ~string, Row any](t *testing.T, rows map[K]Row, story func(t *testing.T, row Row)) {
	t.Helper()
	for name, row := range rows {
		t.Run(string(name), func(t *testing.T) { story(t, row) })
	}
}
