package github

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// States says whether issues and pull requests are open, closed or merged, by number: 50 a request. A number that does not
// exist is not in the map.
func (c *Client) States(ctx context.Context, repo model.Repo, numbers []int) (map[int]model.PullState, error) {
	return nil, errNotBuilt
}
