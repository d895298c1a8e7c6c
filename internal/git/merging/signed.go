package merging

import (
	"context"
	"io"

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
	unsigned := ""
	err = c.Contents(ctx, shas, func(sha string, content io.Reader) error {
		raw, err := io.ReadAll(content)
		if !isSigned(raw) {
			unsigned = sha
		}
		return err
	})
	return unsigned, err
}
