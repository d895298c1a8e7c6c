package engine

import (
	"context"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

func resolveCommit(ctx context.Context, c *github.Client, repo model.Repo, prefix string) (string, error) {
	return "", nil
}

func lost(ctx context.Context, c *github.Client, repo model.Repo, accepted, head string) (model.Relation, []model.Commit, bool, error) {
	r, err := c.Compare(ctx, repo, accepted, head)
	return r, nil, false, err
}
