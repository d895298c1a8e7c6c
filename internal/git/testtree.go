package git

import (
	"context"
	"errors"
)

// TestTree makes a working tree of a commit for tests to run in, with a git directory of its own. remove deletes it.
func (c *Checkout) TestTree(ctx context.Context, sha string) (dir string, remove func() error, err error) {
	return "", nil, errors.ErrUnsupported
}
