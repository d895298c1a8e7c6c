package git

import (
	"fmt"
	"os"
	"path/filepath"
)

// InSeparateDir runs do in a temporary git directory without objects. If joined, it knows the server's refs and sees the
// checkout's objects.
func InSeparateDir(c *Checkout, joined bool, do func(*Checkout) error) error {
	a := &Checkout{Opt: c.Opt, program: c.program, site: c.site, calls: c.calls, MostRefs: c.MostRefs, person: c.person, Refs: map[string]string{}}
	if joined {
		a.Refs, a.Boundary, a.Partial = c.Refs, c.Boundary, c.Partial
	}
	if err := a.NewOwnDir(); err != nil {
		return err
	}
	a.Objects, a.Shallow = filepath.Join(a.OwnDir, "objects"), filepath.Join(a.OwnDir, "shallow")
	err := joinObjects(a.Objects, c.Objects, joined)
	if err == nil {
		err = do(a)
	}
	c.calls, c.MostRefs = a.calls, a.MostRefs
	if gone := os.RemoveAll(a.OwnDir); gone != nil && err == nil {
		err = fmt.Errorf("remove git directory: %w", gone)
	}
	return err
}

// joinObjects makes another directory's objects visible (gitrepository-layout(5), objects/info/alternates).
func joinObjects(dir, other string, joined bool) error {
	if !joined {
		return nil
	}
	err := os.Mkdir(filepath.Join(dir, "info"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(other+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("make git directory: %w", err)
	}
	return nil
}
