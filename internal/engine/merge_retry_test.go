package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A retry asks for the merge that failed once more, in the same way, whether MergeXO works on the branch or not.
func TestARetryOfAMergeThatFailed(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"agent/second", "feat/second"} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			w := newMerge(t, `tests = ["test", "-e", "fixed.txt"]`)
			w.number = w.second(branch, "second.txt")
			w.write("octo", branch, "second.txt", "more\n")
			w.approve("alice")
			rep := w.command("carol", "/mergexo merge strategy=squash")
			require.Equal(t, "PRE_MERGE_FAILED", rep.BlockedReason, rep.Reason)
			w.write("octo", "main", "fixed.txt", "yes\n")
			rep = w.command("carol", "/mergexo retry")
			require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			assert.Equal(t, "merged", w.badge(), w.logged.String())
			assert.Equal(t, w.bare("rev-parse", "main~1"), w.bare("log", "-1", "--format=%H", "main", "--", "fixed.txt"), "squashed, as was asked")
			w.command("carol", "/mergexo retry")
			assert.Contains(t, w.comments()[len(w.comments())-1]["body"], "nothing can be done here")
		})
	}
}
