package history

import (
	"bytes"
	"context"
	"fmt"

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
	need := &Needed{Ids: map[string]bool{}}
	for _, change := range changes {
		need.Add(change.Old, change.New)
	}
	if err := FetchMissing(ctx, c, need.Sorted()); err != nil {
		return "", err
	}
	out := &beginning{}
	args := []string{"diff-tree", "-r", "-p", "-M", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", from, to}
	if _, err := c.Run(ctx, git.Spec{Dir: c.OwnDir, Env: c.OwnEnv(), Args: git.Safely(args), Output: out}); err != nil {
		return "", fmt.Errorf("show what changes from %s to %s: %w", from, to, err)
	}
	return out.String(), nil
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:max(0, min(len(p), maxDiff-b.Len()))]) // a bytes.Buffer takes everything
	return len(p), nil
}
