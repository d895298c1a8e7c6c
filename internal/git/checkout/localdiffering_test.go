package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

// differingDesk is a person's checkout of main in which two files are as git writes them, and differ from their blobs all the same.
func differingDesk(t *testing.T, attributes, raw string, change map[string]string) (d *gittest.Desk, c *git.Checkout, met history.Divergence) {
	t.Helper()
	d = gittest.NewDesk(t)
	d.Raw("main", "raw", map[string]string{".gitattributes": attributes, "one.x": raw, "two.x": raw})
	d.Git(d.Dev, "checkout", "-q", "--force", "main")
	d.Git(d.Dev, "branch", "-q", "-f", "agent/x", "main")
	d.Raw("agent/x", "work", change)
	d.Git(d.Dir, "pull", "-q")
	d.Git(d.Dir, "branch", "-q", "agent/x", "origin/agent/x")
	c = d.Open(func(o *git.LocalOptions) { o.Local = true })
	met = gittest.Must(checkout.LocalMergeBase(gittest.Ctx, c, "main", "agent/x"))(t)
	require.Equal(t, "M one.x\n M two.x", d.Git(d.Dir, "status", "--porcelain"), "or there is nothing to test")
	return d, c, met
}

func TestFilesAsGitWritesThemAreNoChanges(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ attributes, raw string }{
		"CRLF under text":     {"*.x text\n", "x\r\ny\r\n"},
		"CRLF under eol=crlf": {"*.x text eol=crlf\n", "x\r\ny\r\n"},
		"an ident":            {"*.x ident\n", "$Id: 1 $\n"},
	} {
		for how, change := range map[string]map[string]string{
			"another file": {"new.txt": "new\n"},
			"one of them":  {"new.txt": "new\n", "one.x": "z\n"},
		} {
			if how == "another file" && name != "CRLF under text" {
				continue // where one of them changes, the other one is such a file as well
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				d, c, met := differingDesk(t, row.attributes, row.raw, change)
				two := gittest.Must(os.Stat(filepath.Join(d.Dir, "two.x")))(t)
				require.NoError(t, checkout.CanLandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
				require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
				assert.Equal(t, met.HeadSHA, d.Local("main"))
				assert.Equal(t, "new\n", gittest.Read(t, d.Dir, "new.txt"))
				assert.Equal(t, two.ModTime(), gittest.Must(os.Stat(filepath.Join(d.Dir, "two.x")))(t).ModTime(), "it was not written")
				if how == "one of them" {
					assert.Contains(t, []string{"z\n", "z\r\n"}, gittest.Read(t, d.Dir, "one.x"))
					assert.Equal(t, "M two.x", d.Git(d.Dir, "status", "--porcelain"))
				}
			})
		}
	}
}

func TestAChangeToAFileThatDiffersAnywayStays(t *testing.T) {
	t.Parallel()
	d, c, met := differingDesk(t, "*.x text\n", "x\r\n", map[string]string{"one.x": "z\n"})
	gittest.Write(t, d.Dir, map[string]string{"one.x": "mine\r\n"})
	dirty := gittest.As[*checkout.ErrDirty](t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, []string{"one.x"}, dirty.Paths)
	require.ErrorAs(t, checkout.CanLandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA), &dirty)
	assert.Equal(t, "mine\r\n", gittest.Read(t, d.Dir, "one.x"))

	d, c, met = differingDesk(t, "*.x text\n", "x\r\n", map[string]string{"one.x": "z\n", "a.txt": "z\n"})
	d.Git(d.Dir, "update-index", "--assume-unchanged", "a.txt")
	gittest.Write(t, d.Dir, map[string]string{"a.txt": "mine\n"})
	require.ErrorAs(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA), &dirty)
	assert.Equal(t, []string{"a.txt"}, dirty.Paths)
	assert.Equal(t, "x\r\n", gittest.Read(t, d.Dir, "one.x"), "it is there again")
	assert.Equal(t, met.BaseSHA, d.Local("main"))
}
