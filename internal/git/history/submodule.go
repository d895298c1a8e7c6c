package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

// SubmoduleLacks says that the repository of a submodule lacks a commit, or cannot be asked; "" if it has it. It is the one that
// .gitmodules of rev names for the path. Asked are our own server, for which the credential is, and directories of this machine. One
// network operation.
func SubmoduleLacks(ctx context.Context, c *git.Checkout, rev, path, sha string) (why string, err error) {
	address := submoduleAddress(ctx, c, rev, path)
	sibling, ours := git.Sibling(c, address)
	dir := strings.TrimPrefix(address, "file://")
	failed := &git.Error{Failure: git.NotFound}
	if err = failed; ours || filepath.IsAbs(dir) {
		err = git.InSeparateDir(c, false, func(own *git.Checkout) error {
			if !ours {
				return holds(ctx, own, dir, sha)
			}
			own.Opt.URL, own.Partial = sibling, true // no files
			return FetchCommits(ctx, own, sha)
		})
	}
	switch {
	case git.IsNoRef(err):
		return path + ": the submodule's repository does not have commit " + sha + ", and MergeXO does not push there", nil
	case errors.As(err, &failed) && (failed.Failure == git.NotFound || failed.Failure == git.Denied):
		return path + ": MergeXO cannot ask the submodule's repository whether it has commit " + sha, nil
	}
	return "", err
}

// submoduleAddress is where .gitmodules of a commit says that a submodule is (gitmodules(5)); "" if it does not.
func submoduleAddress(ctx context.Context, c *git.Checkout, rev, path string) string {
	list := SubmoduleSettings(ctx, c, rev)
	for _, s := range list {
		if name, is := strings.CutSuffix(s.Key, ".path"); is && s.Value == path {
			if at := slices.IndexFunc(list, func(s git.Setting) bool { return s.Key == name+".url" }); at >= 0 {
				return list[at].Value
			}
		}
	}
	return ""
}

// SubmoduleSettings are those in .gitmodules of a commit; none if there is no such file.
func SubmoduleSettings(ctx context.Context, c *git.Checkout, rev string) []git.Setting {
	out, _ := c.Ask(ctx, "config", "--blob", rev+":.gitmodules", "--no-includes", "--null", "--list")
	return git.SettingsIn(out)
}

// holds looks for a commit in a repository of this machine. Only its objects are read: its configuration could name programs.
func holds(ctx context.Context, own *git.Checkout, dir, sha string) error {
	own.Objects = filepath.Join(dir, ".git", "objects")
	if _, err := os.Stat(own.Objects); err != nil {
		own.Objects = filepath.Join(dir, "objects")
	}
	here, err := own.Present(ctx, sha)
	if err != nil {
		return &git.Error{Failure: git.NotFound, Err: err}
	}
	if !here {
		return &git.ErrNoRef{Ref: sha}
	}
	return nil
}
