package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whileTested is a merge in the first tests of which somebody does something on GitHub. The path is below the repository's; REVIEW in
// it is the first review.
func whileTested(t *testing.T, d deed, settings ...string) *world {
	t.Helper()
	return whileTestedBy(t, func(w *world) deed {
		d.Path = strings.Replace(d.Path, "REVIEW", fmt.Sprint(w.list("octo", w.pull("/reviews"))[0].id()), 1)
		return d
	}, settings...)
}

// whileTestedBy is the same, with a deed that depends on the world.
func whileTestedBy(t *testing.T, does func(w *world) deed, settings ...string) *world {
	t.Helper()
	run := filepath.Join(t.TempDir(), "tests")
	w := newMerge(t, append(settings, fmt.Sprintf("tests = [%q]", run))...)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	d := does(w)
	text := fmt.Sprintf("#!/bin/sh\n[ -e '%s.done' ] && exit 0\n: >'%s.done'\n%s\n", run, run, w.asks(d.Login, d.Method, w.path(d.Path), d.Body))
	require.NoError(t, os.WriteFile(run, []byte(text), 0o755))
	return w
}
