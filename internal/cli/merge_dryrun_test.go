package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// TestADryRunTellsWhatIsInTheWay: with the exit code of the merge, in words that do not take it for one.
func TestADryRunTellsWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	write := func(y *yard, name, text string) {
		require.NoError(y.t, os.WriteFile(filepath.Join(y.dir, name), []byte(text), 0o600))
	}
	type row struct {
		base    map[string]string
		prepare func(y *yard)
		exit    int
		reason  string
		says    []string
	}
	must.Each(t, map[string]row{
		"a conflict": {
			prepare: func(y *yard) { y.commit("main", "main", "Rename", map[string]string{"greeting.txt": "hello\nearth\n"}) },
			exit:    3, reason: "REBASE_CONFLICT: ",
			says: []string{"It could not be merged: the branch conflicts with `main` (`REBASE_CONFLICT`)", "- `greeting.txt` (content)", "and resolve the conflicts. Then run this again."},
		},
		"no tests": {
			base: map[string]string{".github/mergexo.toml": "[merge]\nattempts = 1\n"},
			exit: 3, reason: "NO_TESTS: ", says: []string{"It could not be merged: no test command is configured (`NO_TESTS`)", "set `[merge] tests` to the command"},
		},
		"files that are changed": {
			prepare: func(y *yard) { write(y, "notes.txt", "mine\n") }, exit: 75, reason: "DIRTY_BASE: ",
			says: []string{"It could not be merged: `main` is checked out with changes (`DIRTY_BASE`)", "Commit or stash them."},
		},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		y := newYard(t, tt.base)
		if tt.prepare != nil && tt.exit == 3 {
			tt.prepare(y)
		}
		y.git(y.dir, "pull", "-q")
		y.git(y.dir, "branch", "fix", "origin/fix")
		if tt.exit == 75 {
			tt.prepare(y)
		}
		modes := []string{"", "--local"}
		if tt.exit == 75 {
			modes = modes[1:] // with an origin, what is changed here is not in the way
		}
		for _, mode := range modes {
			was, refs := y.checkout(), y.refs()
			got := y.merge(strings.Fields("--branch fix --base main --dry-run " + mode)...)
			assert.Equal(t, tt.exit, got.exit, got.errout)
			assert.Contains(t, got.errout, "mergexo: "+tt.reason)
			for _, s := range append(tt.says, "\n  | This was a dry run: nothing was changed, and no tests were run.\n") {
				assert.Contains(t, got.out, s)
			}
			assert.NotContains(t, got.out, "Not merged")
			assert.Equal(t, []string{was, refs}, []string{y.checkout(), y.refs()})
		}
		real := y.merge("--branch", "fix", "--base", "main", "--local")
		assert.Equal(t, tt.exit, real.exit)
		assert.Contains(t, real.errout, "mergexo: "+tt.reason)
	})
}

// TestADryRunOfABaseWhoseFilesWereOnlyTouched: files that are as in their commit are not in the way.
func TestADryRunOfABaseWhoseFilesWereOnlyTouched(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.git(y.dir, "branch", "fix", "origin/fix")
	require.NoError(t, os.Chtimes(filepath.Join(y.dir, "greeting.txt"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	was := y.checkout()
	y.merge("--branch", "fix", "--base", "main", "--local", "--dry-run").ok(t)
	assert.Equal(t, was, y.checkout())
}

// TestASquashSaysWhatItsCommitsSay: it is no merge, so it is not called one.
func TestASquashSaysWhatItsCommitsSay(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	message := "Greet\n\nWith more\nthan a word.\n\nCo-authored-by: Bo <bo@example.com>"
	y.commit("one", "main~1", message, map[string]string{"one.txt": "one\n"})
	require.Equal(t, 0, y.merge("--branch", "one", "--strategy", "squash").exit)
	assert.Equal(t, message, y.git(y.bare, "log", "-1", "--format=%B", "main"))
	head := y.origin("fix")
	require.Equal(t, 0, y.merge("--branch", "fix", "--strategy", "squash").exit)
	assert.Equal(t, y.squashed(head), y.git(y.bare, "log", "-1", "--format=%B", "main"))
}

// squashed is the message of the branch's two commits in one.
func (y *yard) squashed(head string) string {
	y.t.Helper()
	return "fix\n\nSquashed commit of the following:\n\n" + y.git(y.bare, "log", "-2", "--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n    %s%n", head)
}
