// Package golden compares what people read with golden files, and rewrites these where a test runs with -update. Only tests
// import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files, and what the README and the manual show")

// Update says whether the test rewrites what it would compare.
func Update() bool { return *update }

// File compares got with testdata/NAME byte by byte, or writes it there.
func File(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test with -update to write the golden files")
	assert.Equal(t, string(want), got, "%s", path)
}

// Text is File for a text without a line break at its end, like a comment's body. The file ends with one.
func Text(t testing.TB, name, got string) {
	t.Helper()
	File(t, name, got+"\n")
}
