package merging

import (
	"context"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// Unsigned is a commit without a signature among those, the newest MaxListed, that to has and from has not; "": there is none. It
// does not say whether a signature is good.
func Unsigned(ctx context.Context, c *git.Checkout, from, to string) (string, error) {
	list, err := history.List(ctx, c, from, to)
	if err != nil || len(list) == 0 {
		return "", err
	}
	var nodes []commitNode
	for _, one := range list {
		nodes = append(nodes, commitNode{sha: one.SHA})
	}
	raws, err := rawCommits(ctx, c, nodes)
	for _, n := range nodes {
		if err == nil && !isSigned(raws[n.sha]) {
			return n.sha, nil
		}
	}
	return "", err
}
