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
	const text = "#!/bin/sh\ngit rev-parse 'HEAD^{tree}' >>'%[1]s'\n[ $(wc -l <'%[1]s') = 1 ] || exit 0\n%[2]s\n"
	require.NoError(t, os.WriteFile(run, fmt.Appendf(nil, text, w.log+".tested", w.asks(d.Login, d.Method, w.path(d.Path), d.Body)), 0o755))
	return w
}

// testedTrees are the trees that the tests of a merge have run in.
func (w *world) testedTrees() []string {
	w.t.Helper()
	return strings.Fields(string(contents(w.t, w.log+".tested")))
}
