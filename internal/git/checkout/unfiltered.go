package checkout

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// FilteredByLFS are those of the paths whose contents belong in Git LFS, as .gitattributes in the checkout says.
func FilteredByLFS(ctx context.Context, c *git.Checkout, paths []string) ([]string, error) {
	if !slices.ContainsFunc(paths, func(name string) bool { return hasAttributes(c, name) }) {
		return nil, nil
	}
	out, err := c.TreeWith(ctx, filepath.Join(c.OwnDir, "no-index"), []byte(strings.Join(paths, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, fmt.Errorf("look for files in Git LFS: %w", err)
	}
	var list []string
	for part := syntax.Fields(out); len(part) >= 3; part = part[3:] { // a path, the attribute, its value
		if part[2] == "lfs" {
			list = append(list, part[0])
		}
	}
	return list, nil
}

// hasAttributes reports whether a file that git reads attributes from can be about a path (https://git-scm.com/docs/gitattributes).
func hasAttributes(c *git.Checkout, name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if _, none := os.Lstat(filepath.Join(c.Top, dir, ".gitattributes")); none == nil {
			return true
		}
		if dir == "." || dir == "/" {
			return c.Noted[filepath.Join(c.Info, "attributes")] != nil
		}
	}
}

// Unfiltered commits files of the checkout on top of head as they are, without the filter of Git LFS; it returns head where they are in
// it so. It moves nothing in the checkout.
func Unfiltered(ctx context.Context, c *git.Checkout, head string, paths []string, message string) (sha string, err error) {
	tree, err := git.Graft(ctx, c, head, func(index string) error {
		off := []string{"-c", "filter.lfs.process=", "-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false"}
		_, err := c.TreeWith(ctx, index, []byte(strings.Join(paths, "\x00")+"\x00"), append(off, "update-index", "-z", "--stdin")...)
		return err
	})
	had := ""
	if err == nil {
		had, err = history.TreeOf(ctx, c, head)
	}
	if err != nil || tree == had {
		return head, git.Wrap(err, "commit files without their filter")
	}
	sha, err = git.WriteCommit(c, tree, message+"\n", head)
	return sha, git.Wrap(err, "commit files without their filter")
}
