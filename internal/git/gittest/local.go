package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// Desk is a person's clone of the hub's repository by path, with a home of its own.
type Desk struct {
	*Hub
	Dir, Home string
}

func NewDesk(t *testing.T, more ...string) *Desk {
	t.Helper()
	h := NewHub(t)
	h.Commit("main", "base", map[string]string{"a.txt": Lines("a", 10, nil), "dir/b.txt": "b\n"})
	h.Commit("agent/x", "work", map[string]string{"a.txt": Lines("a", 10, map[int]string{0: "top"}), "new.txt": "new\n"})
	d := &Desk{Hub: h, Dir: filepath.Join(t.TempDir(), "clone"), Home: t.TempDir()}
	h.Git(filepath.Dir(d.Dir), append(append([]string{"clone", "-q"}, more...), "file://"+h.Bare, d.Dir)...)
	d.Config("user.name", "Ada")
	d.Config("user.email", "ada@example.com")
	return d
}

func (d *Desk) Config(key, value string) {
	d.T.Helper()
	d.Git(d.Dir, "config", "--file", filepath.Join(d.Home, ".gitconfig"), key, value)
}

func (d *Desk) Try(adjust ...func(*git.LocalOptions)) (*git.Checkout, error) {
	opt := git.LocalOptions{
		Dir: d.Dir, Temp: d.T.TempDir(), Path: os.Getenv("PATH"), Env: []string{"HOME=" + d.Home, "LANG=de_DE.UTF-8", "GIT_DIR=/nowhere"},
		Now: func() time.Time { return time.Unix(1800000000, 0) },
	}
	for _, change := range adjust {
		change(&opt)
	}
	c, err := git.OpenLocal(Ctx, opt)
	if err == nil {
		d.T.Cleanup(func() { require.NoError(d.T, c.Close()) })
	}
	return c, err
}

func (d *Desk) Open(adjust ...func(*git.LocalOptions)) *git.Checkout {
	d.T.Helper()
	c, err := d.Try(adjust...)
	require.NoError(d.T, err)
	return c
}

// State is all of a checkout that a merge with the origin leaves alone.
func (d *Desk) State() string {
	d.T.Helper()
	said := d.Git(d.Dir, "for-each-ref") + Read(d.T, d.Dir, ".git", "HEAD") + Read(d.T, d.Dir, ".git", "config")
	out := d.Git(d.Dir, "--no-optional-locks", "status", "--porcelain")
	return said + out + fmt.Sprint(os.Stat(filepath.Join(d.Dir, ".git", "FETCH_HEAD")))
}

func (d *Desk) Local(ref string) string { return d.Git(d.Dir, "rev-parse", ref) }
