package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// whileTested is a merge in the first tests of which somebody does something on GitHub: a request with a method, a path and a body.
func whileTested(t *testing.T, login string, call func(w *world) (method, path, body string), settings ...string) *world {
	t.Helper()
	run := filepath.Join(t.TempDir(), "tests")
	w := newMerge(t, append(settings, fmt.Sprintf("tests = [%q]", run))...)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	method, path, body := call(w)
	text := fmt.Sprintf("#!/bin/sh\n[ -e '%s.done' ] && exit 0\n: >'%s.done'\n%s\n", run, run, w.asks(login, method, path, body))
	require.NoError(t, os.WriteFile(run, []byte(text), 0o755))
	return w
}
