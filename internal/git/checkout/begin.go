package checkout

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Begin is Restore for a branch that the server does not have yet: it makes a clean checkout on a local branch at the tip
// of base, and returns that tip. An existing local branch of that name is moved. ErrNoRef says that base does not exist, as
// in an empty repository. One network operation.
func Begin(ctx context.Context, c *git.Checkout, branch, base string) (sha string, err error) {
	if !syntax.ValidRef("refs/heads/"+branch) || !syntax.ValidRef("refs/heads/"+base) || branch == base {
		return "", fmt.Errorf("begin branch %q on %q: not two branches", branch, base)
	}
	err = git.OrInClone(ctx, c, func() error {
		sha, err = begin(ctx, c, branch, base)
		return err
	})
	return sha, err
}

func begin(ctx context.Context, c *git.Checkout, branch, base string) (string, error) {
	again := c.Noted != nil
	if err := errors.Join(c.PutBack(), git.NewOwnDir(c)); err != nil {
		return "", err
	}
	tip, err := history.FetchBranches(ctx, c, base, "")
	if err != nil {
		return "", err
	}
	c.Refs[git.FetchedBase] = tip
	// The workspace may know a branch of this name that was deleted on the server.
	known := "update refs/remotes/origin/" + base + " " + tip + "\ndelete refs/remotes/origin/" + branch + "\n"
	return tip, start(ctx, c, branch, tip, known, again)
}
