package checkout_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

// TestWhetherABaseCanLandIsToldWithoutAnyChange: what LandLocal says, with the index as it is.
func TestWhetherABaseCanLandIsToldWithoutAnyChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(d *gittest.Desk)
		paths []string // in the way; nil: it lands
	}{
		"clean": {func(*gittest.Desk) {}, nil},
		"not checked out": {func(d *gittest.Desk) {
			d.Git(d.Dir, "checkout", "-q", "--detach")
			gittest.Write(d.T, d.Dir, map[string]string{"a.txt": "changed\n"})
		}, nil},
		"a file that was only touched": {func(d *gittest.Desk) {
			require.NoError(d.T, os.Chtimes(filepath.Join(d.Dir, "a.txt"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, nil},
		"an index in two parts": {func(d *gittest.Desk) { d.Git(d.Dir, "update-index", "--split-index") }, nil},
		"a changed file":        {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"dir/b.txt": "changed\n"}) }, []string{"dir/b.txt"}},
		"a file that git was told not to look at": {func(d *gittest.Desk) {
			d.Git(d.Dir, "update-index", "--assume-unchanged", "a.txt")
			gittest.Write(d.T, d.Dir, map[string]string{"a.txt": "changed\n"})
		}, []string{"a.txt"}},
		"an untracked file in the way": {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"new.txt": "mine\n"}) }, []string{"new.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c, met := alone(t)
			test.spoil(d)
			state := func() []string {
				left := gittest.Must(filepath.Glob(filepath.Join(d.Dir, ".git", "sharedindex.*")))(t)
				return append(left, gittest.Read(t, d.Dir, ".git", "index"), d.Local("main"), d.Git(d.Dir, "--no-optional-locks", "status", "--porcelain", "--ignored"))
			}
			before := state()
			err := checkout.CanLandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA)
			assert.Equal(t, before, state())
			var dirty, real *checkout.ErrDirty
			if test.paths == nil {
				require.NoError(t, err)
				require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
				return
			}
			require.ErrorAs(t, err, &dirty)
			assert.Equal(t, test.paths, dirty.Paths)
			require.ErrorAs(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA), &real)
			assert.Equal(t, real, dirty)
		})
	}
}
