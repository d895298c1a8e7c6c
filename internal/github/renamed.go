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
	var data struct {
		Repository *struct{ NameWithOwner string }
	}
	_, err := c.query(ctx, op, renamedDocument, map[string]any{"owner": repo.Owner, "name": repo.Name}, &data)
	if k := KindOf(err); k == NotFound || k == Forbidden || err == nil && data.Repository == nil {
		return "", nil
	}
	if err != nil {
		return "", named(err, Query{Repo: repo})
	}
	return data.Repository.NameWithOwner, nil
}
