package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/scratch"
)

// TestTree makes a working tree of exactly this commit below Options.Temp for tests; remove deletes it with everything in it.
// It looks like a fresh clone, with files, modes, line ends and symbolic links as its attributes say and no user
// configuration; submodules are empty directories and LFS files are pointers.
//
// It has its own git directory with HEAD at the commit, the history that is here, and the checkout's tags. The checkout's
// objects are an alternate, to which git never writes
// (https://git-scm.com/docs/gitrepository-layout#Documentation/gitrepository-layout.txt-objectsinfoalternates). It has no
// credential and no hooks. It can be given to another user, who can then read these objects as well.
// Tests that run as our own user can access the checkout itself. TestTree removes the workflow's credentials from it, as
// Restore does, unless it is a person's; call Recreate when the tests have ended. At most one network operation, in a
// partial clone.
func TestTree(ctx context.Context, c *git.Checkout, sha string) (dir string, remove func() error, err error) {
	if !syntax.IsSHA(sha) {
		return "", nil, fmt.Errorf("make a tree for tests of %q: not a commit id", sha)
	}
	if err := history.FetchTree(ctx, c, sha); err != nil {
		return "", nil, fmt.Errorf("make a tree for tests: %w", err)
	}
	if c.Noted == nil && !git.Personal(c) {
		if err := errors.Join(stripCredentials(ctx, c), c.Note()); err != nil {
			return "", nil, fmt.Errorf("make a tree for tests: %w", err)
		}
	}
	if dir, err = c.Temporary("tests"); err != nil {
		return "", nil, fmt.Errorf("make a tree for tests: %w", err)
	}
	remove = func() error { return scratch.RemoveAll(dir) }
	if err := fill(ctx, c, dir, sha); err != nil {
		return "", nil, fmt.Errorf("make a tree for tests of %s: %w", sha, errors.Join(err, remove()))
	}
	return dir, remove, nil
}

func fill(ctx context.Context, c *git.Checkout, dir, sha string) error {
	if strings.Contains(c.Objects, "\n") {
		return fmt.Errorf("%q cannot be named as an alternate", c.Objects)
	}
	tags, err := tags(ctx, c)
	if err != nil {
		return err
	}
	_, err = git.Initialize(filepath.Join(dir, ".git"), testSettings(ctx, c, sha), map[string][]byte{
		"objects/info/alternates": []byte(c.Objects + "\n"), "packed-refs": tags, "shallow": c.Boundary, "HEAD": []byte(sha + "\n"),
	})
	if err != nil {
		return err
	}
	if c.OwnClone {
		// Other users could not traverse it to the objects; everything else there holds no secret and cannot be listed.
		if err := os.Chmod(c.Top, 0o711); err != nil {
			return fmt.Errorf("let its user see the objects: %w", err)
		}
	}
	env := c.Env("GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	_, err = c.Run(ctx, git.Spec{Dir: dir, Env: env, Args: git.Safely([]string{"read-tree", "-m", "-u", sha})})
	return err
}

// TestEnv is git's part of the environment of tests in dir: git as on a fresh machine. Our settings are in a new file in temp: those of
// a repository come first. They hold the checkout's identity and no credential.
func TestEnv(c *git.Checkout, dir, temp string) ([]string, error) {
	file, err := os.CreateTemp(temp, "gitconfig-")
	if err == nil {
		_, err = file.Write(git.SettingsText([]git.Setting{
			{Key: "user.name", Value: c.Opt.Identity.Name}, {Key: "user.email", Value: c.Opt.Identity.Email},
			{Key: "safe.directory", Value: dir}, {Key: "protocol.file.allow", Value: "always"},
		}))
		err = errors.Join(err, file.Chmod(0o644), file.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("write git's settings for the tests: %w", err)
	}
	return []string{"GIT_CONFIG_GLOBAL=" + file.Name(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}, nil
}

// testSettings are the settings of a test tree, apart from those that git init makes. Submodules are where the
// repository itself would look for them.
func testSettings(ctx context.Context, c *git.Checkout, sha string) []git.Setting {
	list := []git.Setting{{Key: "core.commitGraph", Value: "false"}, {Key: "gc.auto", Value: "0"}, {Key: "maintenance.auto", Value: "false"}}
	if u, err := url.Parse(c.Opt.URL); err == nil && u.User == nil && u.Host != "" {
		list = append(list, git.Setting{Key: "remote.origin.url", Value: c.Opt.URL})
	}
	for _, s := range history.SubmoduleSettings(ctx, c, sha) {
		if strings.HasSuffix(s.Key, ".url") && strings.HasPrefix(s.Value, ".") {
			list = append(list, git.Setting{Key: s.Key, Value: git.Beside(c, s.Value)})
		}
	}
	return list
}

// tags are the checkout's tags of commits that are here, as a packed-refs file.
func tags(ctx context.Context, c *git.Checkout) ([]byte, error) {
	out, err := c.Inside(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return nil, fmt.Errorf("list tags: %w", err)
	}
	var ids []string
	for row := range strings.Lines(string(out)) {
		ids = append(ids, strings.Fields(row)[0])
	}
	commits, err := c.Peel(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var found bytes.Buffer
	for row := range bytes.Lines(out) {
		if commits[0] != "" {
			found.Write(row)
		}
		commits = commits[1:]
	}
	return found.Bytes(), nil
}
