package github

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// NameNow is what a repository is called now that had this name; "" where GitHub shows none. A name that another repository has
// taken since is that one's: https://docs.github.com/repositories/creating-and-managing-repositories/renaming-a-repository
func (c Repositories) NameNow(ctx context.Context, repo model.Repo) (string, error) {
	op := fmt.Sprintf("look for %s under its present name", repo)
	if err := checkRepo(repo); err != nil {
		return "", nil //nolint:nilerr // no repository has such a name
	}
	q := question{op: op, document: documents["renamed"], repo: repo}
	data, err := c.ask(ctx, q, func(int) map[string]any { return nil })
	if err != nil {
		return "", unless(err, NotFound, Forbidden)
	}
	return data.Repository.NameWithOwner, nil
}
