package merging_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

// What is looked at in a repository of our own is what the checkout has, whatever was merged into what.
func TestVerifiedSeesTheSameInAnyHistory(t *testing.T) {
	t.Parallel()
	shown := func(c *git.Checkout, listed *history.Published) (all []string) {
		steps := gittest.Must(listed.EveryChange(gittest.Ctx, c))(t)
		for _, s := range steps {
			all = append(all, fmt.Sprintf("%+v of %s, %d bytes to %q", s.Change, s.Commit, s.Size, s.Target))
		}
		unseen := gittest.Must(listed.Patches(gittest.Ctx, c, history.Scope{}, func(a history.Addition) error {
			all = append(all, fmt.Sprintf("%s %q:%d %q %v", a.Commit, a.Path, a.Line, a.Text, a.Fresh))
			return nil
		}))(t)
		return append(all, fmt.Sprint(unseen))
	}
	for seed := range uint64(8) {
		h := newHistory(t, gittest.GitPath(), seed)
		for _, from := range []string{h.base, h.earlier(h.head)} {
			for _, known := range [][]string{nil, {h.base}, h.sides} {
				listed := gittest.Must(history.Publishes(gittest.Ctx, h.C, from, h.head, known))(t)
				want := shown(h.C, listed)
				require.NoError(t, history.Verified(gittest.Ctx, h.C, from, h.head, known, func(own *git.Checkout, listed *history.Published) error {
					assert.Equal(t, want, shown(own, listed), "seed %d, from %s to %s with %v", seed, from, h.head, known)
					return nil
				}), "seed %d, from %s to %s with %v", seed, from, h.head, known)
			}
		}
	}
}
