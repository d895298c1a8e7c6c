package merge_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// What holds of every case, however many things are the matter at once.
func TestWhateverIsTheMatterAtOnce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 5))
	names := slices.Sorted(maps.Keys(stories))
	goes := 0
	for range 4000 {
		cs := ready()
		var picked []string
		for range rng.IntN(4) {
			name := names[rng.IntN(len(names))]
			if len(cs.Facts.Reviews) == 0 || len(cs.Facts.Checks) == 0 {
				break // the further changes are about the first of each
			}
			stories[name].change(&cs)
			picked = append(picked, name)
		}
		v := merge.Evaluate(cs)
		require.Equal(t, len(v.Unmet()) == 0, v.Go, "%v: it goes exactly when every gate is met", picked)
		require.False(t, v.Go && v.Wait, "%v", picked)
		require.Equal(t, v.Go, v.Code == "", "%v: what does not go has a code", picked)
		require.Equal(t, v.Go, v.Reason == "", "%v", picked)
		if v.Go {
			goes++
		}

		moved := cs
		moved.Snapshot.Pull.HeadSHA = sha('9')
		if cs.Request.Head != "" {
			require.False(t, merge.Evaluate(moved).Go, "%v: a head that somebody moved never goes", picked)
			require.False(t, merge.Evaluate(moved).Wait, "%v: nor is it waited for", picked)
		}

		more := cs
		more.Facts.Reviews = append(slices.Clone(cs.Facts.Reviews), model.Review{Login: "zoe", State: "APPROVED", SHA: cs.Snapshot.Pull.HeadSHA, At: noon})
		w := merge.Evaluate(more)
		require.False(t, v.Go && !w.Go, "%v: another approval never stops what goes", picked)
		require.False(t, v.Wait && !w.Go && !w.Wait, "%v: nor refuses what waits", picked)

		if cs.Request.Train != nil && cs.Request.Train.Try && !cs.Snapshot.Pull.CrossRepo { // nothing lands of it
			continue
		}
		fewer := cs
		fewer.Facts.Reviews = nil
		if cs.Policy.Approvals > 0 && cs.LetIn == "" || cs.Facts.RequiredApprovals > 0 {
			require.False(t, merge.Evaluate(fewer).Go, "%v: nothing goes without an approval", picked)
		}

		if cs.Request.Train != nil && cs.Request.Train.Try {
			continue
		}
		part := cs
		part.Facts.Partial, part.Facts.Missing = true, nil
		require.False(t, merge.Evaluate(part).Go, "%v: nothing goes by a part of the facts", picked)
	}
	require.Greater(t, goes, 400, "the cases are of both kinds")
}
