package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// InSeparateDir runs do in a temporary git directory without objects. If joined, it knows the server's refs and sees the
// checkout's objects.
func InSeparateDir(c *Checkout, joined bool, do func(*Checkout) error) error {
	a := &Checkout{Opt: c.Opt, program: c.program, site: c.site, calls: c.calls, MostRefs: c.MostRefs, person: c.person, Refs: map[string]string{}, Trees: map[string]string{}}
	if joined {
		a.Refs, a.Boundary, a.Partial, a.Treeless = c.Refs, c.Boundary, c.Partial, c.Treeless
	}
	if err := NewOwnDir(a); err != nil {
		return err
	}
	a.Objects, a.Shallow = filepath.Join(a.OwnDir, "objects"), filepath.Join(a.OwnDir, "shallow")
	var err error
	if joined {
		err = ShareObjects(c, a.Objects)
	}
	if err == nil {
		err = do(a)
	}
	c.MostRefs = a.MostRefs
	if gone := os.RemoveAll(a.OwnDir); gone != nil && err == nil {
		err = fmt.Errorf("remove git directory: %w", gone)
	}
	return err
}

// ShareObjects makes the checkout's objects visible in another directory of objects (gitrepository-layout(5),
// objects/info/alternates), to which git never writes from there.
func ShareObjects(c *Checkout, dir string) error {
	if strings.Contains(c.Objects, "\n") {
		return fmt.Errorf("%q cannot be named as an alternate", c.Objects)
	}
	err := os.MkdirAll(filepath.Join(dir, "info"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(c.Objects+"\n"), 0o600)
	}
	return Wrap(err, "make git directory")
}

// Quarantine is a view of a checkout in which somebody else is at work. New objects go to dir, which may have those of an
// earlier view, and the checkout's are only read: so the view needs no right to write in the checkout, and what it has written
// is out of reach there, if whoever works there is isolated. leave ends the view; the caller removes dir.
func Quarantine(c *Checkout, dir string) (view *Checkout, leave func() error, err error) {
	if c.person != nil { // whose git is not told of it
		return nil, nil, errors.New("quarantine: this is a person's checkout")
	}
	if err := ShareObjects(c, dir); err != nil {
		return nil, nil, err
	}
	own := *c
	view, own.OwnDir, own.quarantine = &own, "", dir
	if err := NewOwnDir(view); err != nil {
		return nil, nil, err
	}
	return view, func() error {
		return Wrap(os.RemoveAll(view.OwnDir), "remove git directory")
	}, nil
}
