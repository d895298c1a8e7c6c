//go:build all

package merging_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
)

// That other versions of git merge alike, the histories of every change show.
func TestMoreRandomHistoriesLandAsGitMergesThem(t *testing.T) {
	t.Parallel()
	all := landHistories(t, gittest.GitPath(), 1115, 36) // four of which are like that
	assert.Positive(t, all["like git rebase"], "%v", all)
}
