package checkout

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// noteSubmodules records how the submodules below a working tree are. Their git directories are only read, as files, since their
// configurations can name programs.
func noteSubmodules(ctx context.Context, c, above *git.Checkout, prefix string) error {
	if _, err := os.Lstat(filepath.Join(above.Top, ".gitmodules")); err != nil {
		return nil // there are none
	}
	out, err := above.Tree(ctx, "ls-files", "-z", "--stage")
	if err == nil && c.Indexes == "" {
		c.Indexes, err = c.Temporary("submodules")
	}
	for _, entry := range syntax.Fields(out) {
		meta, name, _ := strings.Cut(entry, "\t")
		if err != nil || !strings.HasPrefix(meta, git.ModeSubmodule) || !isInside(name) {
			continue
		}
		s := git.Submodule{Path: path.Join(prefix, name), Index: filepath.Join(c.Indexes, strconv.Itoa(len(c.Submodules)))}
		in := within(c, s)
		s.Head = in.ReadHead()
		takeIndex(in)
		c.Submodules = append(c.Submodules, s)
		var left []string
		if left, err = differing(ctx, in); err == nil && len(left) > 0 { // it is nobody's work
			_, err = in.TreeWith(ctx, s.Index, []byte(strings.Join(left, "\x00")+"\x00"), "update-index", "-z", "--add", "--remove", "--info-only", "--stdin")
		}
		if err == nil {
			err = noteSubmodules(ctx, c, in, s.Path)
		}
	}
	return err
}

// within is a view of a submodule with the index that was copied of it.
func within(c *git.Checkout, s git.Submodule) *git.Checkout {
	in := *c
	in.Top, in.Index = filepath.Join(c.Top, s.Path), s.Index
	in.GitDir = filepath.Join(in.Top, ".git")
	if info, err := os.Lstat(in.GitDir); err == nil && info.Mode().IsRegular() {
		text, _ := os.ReadFile(in.GitDir) // gitrepository-layout(5)
		if in.GitDir = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:")); !filepath.IsAbs(in.GitDir) {
			in.GitDir = filepath.Join(in.Top, in.GitDir)
		}
	}
	in.Config = filepath.Join(in.GitDir, "config")
	return &in
}

// takeIndex copies the index of a submodule. One that is not checked out has none.
func takeIndex(in *git.Checkout) { _ = copyIndex(filepath.Join(in.GitDir, "index"), in.Index) }

// differing are the files of a submodule that differ from its index and are not ignored.
func differing(ctx context.Context, in *git.Checkout) ([]string, error) {
	out, err := in.Tree(ctx, "-c", "core.trustctime=false", "-c", "core.checkStat=minimal", "ls-files", "-z", "--modified", "--others", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("look for changed files in %s: %w", in.Top, err)
	}
	return slices.DeleteFunc(syntax.Fields(out), func(name string) bool { return strings.HasSuffix(name, "/") }), nil // a repository of its own
}

// ChangedInSubmodules names what changed in the submodules of the checkout since the last Restore or Begin and is no commit that pushed points
// to: files, and submodules with commits of their own.
func ChangedInSubmodules(ctx context.Context, c *git.Checkout, pushed string) (names []string, err error) {
	root, err := os.OpenRoot(c.Top) // a link in there may lead anywhere
	if err != nil {
		return nil, fmt.Errorf("look into submodules: %w", err)
	}
	defer root.Close()
	for _, s := range c.Submodules {
		if info, err := root.Stat(s.Path); err != nil || !info.IsDir() {
			continue
		}
		in := within(c, s)
		if now := in.ReadHead(); now != s.Head && now != "" {
			takeIndex(in)
			if at, err := c.Ask(ctx, "rev-parse", "--verify", "--quiet", pushed+":"+s.Path); err == nil && syntax.Line(at) != now {
				names = append(names, fmt.Sprintf("%s at %.12s", s.Path, now))
			}
		}
		now, err := differing(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, name := range now {
			names = append(names, path.Join(s.Path, name))
		}
	}
	return names, nil
}
