package github

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// Refs gives the refs whose full names begin with the prefix, such as "refs/mergexo/", in GitHub's order.
// https://docs.github.com/rest/git/refs#list-matching-references
func (c *Client) Refs(ctx context.Context, repo model.Repo, prefix string) ([]model.Ref, error) {
	return nil, errNotBuilt
}

// CreateRef makes a ref, by its full name. RefExists means that there is one of that name already, wherever it points.
// https://docs.github.com/rest/git/refs#create-a-reference
func (c *Client) CreateRef(ctx context.Context, repo model.Repo, name, sha string) error {
	return errNotBuilt
}

// DeleteRef deletes a ref, by its full name, wherever it points. One that is not there is deleted.
// https://docs.github.com/rest/git/refs#delete-a-reference
func (c *Client) DeleteRef(ctx context.Context, repo model.Repo, name string) error {
	return errNotBuilt
}
