package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// TestWhetherABaseCanLandIsToldWithoutAnyChange: what LandLocal says, with the index as it is.
func TestWhetherABaseCanLandIsToldWithoutAnyChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(d *desk)
		paths []string // in the way; nil: it lands
	}{
		"clean": {func(*desk) {}, nil},
		"not checked out": {func(d *desk) {
			d.git(d.dir, "checkout", "-q", "--detach")
			write(d.t, d.dir, map[string]string{"a.txt": "changed\n"})
		}, nil},
		"a file that was only touched": {func(d *desk) {
			require.NoError(d.t, os.Chtimes(filepath.Join(d.dir, "a.txt"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, nil},
		"an index in two parts": {func(d *desk) { d.git(d.dir, "update-index", "--split-index") }, nil},
		"a changed file":        {func(d *desk) { write(d.t, d.dir, map[string]string{"dir/b.txt": "changed\n"}) }, []string{"dir/b.txt"}},
		"a file that git was told not to look at": {func(d *desk) {
			d.git(d.dir, "update-index", "--assume-unchanged", "a.txt")
			write(d.t, d.dir, map[string]string{"a.txt": "changed\n"})
		}, []string{"a.txt"}},
		"an untracked file in the way": {func(d *desk) { write(d.t, d.dir, map[string]string{"new.txt": "mine\n"}) }, []string{"new.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c, met := alone(t)
			test.spoil(d)
			state := func() []string {
				left, err := filepath.Glob(filepath.Join(d.dir, ".git", "sharedindex.*"))
				require.NoError(t, err)
				return append(left, read(t, d.dir, ".git", "index"), d.local("main"), d.git(d.dir, "--no-optional-locks", "status", "--porcelain", "--ignored"))
			}
			before := state()
			err := c.CanLandLocal(ctx, "main", met.BaseSHA, met.HeadSHA)
			assert.Equal(t, before, state())
			var dirty, real *git.ErrDirty
			if test.paths == nil {
				require.NoError(t, err)
				require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA))
				return
			}
			require.ErrorAs(t, err, &dirty)
			assert.Equal(t, test.paths, dirty.Paths)
			require.ErrorAs(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA), &real)
			assert.Equal(t, real, dirty)
		})
	}
}
