package checkout_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

func TestWhatIsNoCommitOrBranchIsRefusedBeforeAnythingMoves(t *testing.T) {
	r, c, _, sha := ours(t)
	calls, was := c.NetworkCalls(), gittest.Files(t, c)
	for _, bad := range []string{"HEAD", sha[:10]} {
		for want, try := range map[string]func() error{
			"fetch origin: ": func() error {
				_, err := checkout.FetchOrigin(gittest.Ctx, c, "main", "x.."+bad)
				return err
			},
			"replay ": func() error {
				_, err := checkout.Replay(gittest.Ctx, c, sha, sha, bad)
				return err
			},
			"replant ": func() error {
				_, err := checkout.ReplayOrMerge(gittest.Ctx, c, sha, bad, sha, "Merge")
				return err
			},
			"merge ": func() error {
				_, err := checkout.MergeInto(gittest.Ctx, c, bad, "Merge")
				return err
			},
		} {
			assert.Regexp(t, "^"+want+".*not (a branch|a commit id|commit ids)$", try(), bad)
		}
	}
	assert.Equal(t, calls, c.NetworkCalls())
	assert.Equal(t, was, gittest.Files(t, c))
	assert.Equal(t, sha, r.Git("rev-parse", "HEAD"))
}

// An agent can write the file that says what a merge in progress merges.
func TestAMergeOfWhatIsNotHereIsNotConcluded(t *testing.T) {
	r, c, _, sha := ours(t)
	for text, want := range map[string]string{
		"HEAD":                     `read MERGE_HEAD: "HEAD" is not a commit id`,
		strings.Repeat("ab", 20):   "it names a commit that is not here",
		sha + "\n" + "--no-verify": `"--no-verify" is not a commit id`,
	} {
		gittest.Write(t, c.Dir(), map[string]string{".git/MERGE_HEAD": text + "\n", "b.txt": "b\n"})
		require.ErrorContains(t, gittest.Err(gittest.Dirty(c)), want)
		_, _, err := gittest.Commit(c, "Merge")
		require.ErrorContains(t, err, want)
		assert.Equal(t, sha, r.Git("rev-parse", "HEAD"))
	}
}
