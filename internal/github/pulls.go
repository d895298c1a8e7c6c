package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// OpenPull is what the sweep needs to know of an open pull request before it looks closer.
type OpenPull struct {
	Number    int
	HeadRef   string
	HeadSHA   string
	CrossRepo bool // the head is in a fork
	Labels    []string
	UpdatedAt time.Time
}

// pullsPage is how many pull requests one request lists.
const pullsPage = 50

// OpenPulls lists the open pull requests, the oldest first, 50 a request. It reads the connection, not the search
// index, which can hide pull requests for a while.
func (c *Client) OpenPulls(ctx context.Context, repo model.Repo) ([]OpenPull, error) {
	op := fmt.Sprintf("list the open pull requests of %s", repo)
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	var out []OpenPull
	var after cursor
	for {
		var data struct {
			Repository *struct {
				PullRequests connection[struct {
					Number                  int
					HeadRefName, HeadRefOID string
					IsCrossRepository       bool
					UpdatedAt               time.Time
					Labels                  labelNodes
				}]
			}
		}
		variables := map[string]any{"owner": repo.Owner, "name": repo.Name, "page": pullsPage, "after": orNull(after.at)}
		if _, err := c.query(ctx, op, pullsDocument, variables, &data); err != nil {
			return nil, named(err, Query{Repo: repo})
		}
		if data.Repository == nil {
			return nil, named(&Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}, Query{Repo: repo})
		}
		page := data.Repository.PullRequests
		for _, p := range page.Nodes {
			out = append(out, OpenPull{p.Number, p.HeadRefName, p.HeadRefOID, p.IsCrossRepository, names(p.Labels), p.UpdatedAt.UTC()})
		}
		if after.step(page.PageInfo.HasNextPage, page.PageInfo.EndCursor); !after.more {
			return out, nil
		}
	}
}
