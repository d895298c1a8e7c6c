package history

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// maxDiff is how many bytes of a diff are kept.
const maxDiff = 8 << 20

// Diff is what changes from one commit to another as git shows it, with a/ and b/ before the names and renames found, whatever
// the configuration says. Only its beginning is given if it is very long. In a partial clone at most one network operation.
func Diff(ctx context.Context, c *git.Checkout, from, to string) (string, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return "", fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	changes, err := Between(ctx, c, from, to)
	if err != nil {
		return "", err
	}
	need := Needed{}
	need.Both(changes)
	if err := need.Fetch(ctx, c); err != nil {
		return "", err
	}
	var shown []byte
	args := []string{"diff-tree", "-r", "-p", "-M", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", from, to}
	err = c.Pour(ctx, nil, func(in *bufio.Reader) (err error) {
		if shown, err = io.ReadAll(io.LimitReader(in, maxDiff)); err == nil {
			_, err = io.Copy(io.Discard, in)
		}
		return err
	}, args...)
	return string(shown), git.Wrap(err, "show what changes from %s to %s", from, to)
}
