// Package must says in one line what every test says around a call: take its value, and end where there is an error.
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
