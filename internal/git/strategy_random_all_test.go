//go:build all

package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMoreRandomHistoriesLandAsGitMergesThem(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		all := landHistories(t, path, 1000, 150)
		assert.Positive(t, all["like git rebase"], "%v", all)
	})
}
