package merging

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// Unsigned is a commit without a signature among those, the newest MaxListed, that to has and from has not; "": there is none. It
// does not say whether a signature is good.
func Unsigned(ctx context.Context, c *git.Checkout, from, to string) (string, error) {
	list, err := history.List(ctx, c, from, to)
	if err != nil {
		return "", err
	}
	var shas []string
	for _, one := range list {
		shas = append(shas, one.SHA)
	}
	raws, err := c.Texts(ctx, shas, 0)
	for _, sha := range slices.Backward(shas) {
		if err == nil && !isSigned(raws[sha]) {
			return sha, nil
		}
	}
	return "", err
}
