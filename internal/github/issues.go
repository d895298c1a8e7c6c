package github

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// OurIssue is an issue that the token opened.
type OurIssue struct {
	Number    int
	URL, Body string
	Ours      bool // always: the others are left out
}

// OpenIssue opens an issue. Unclear means that it may be there; OurIssues tells. Gone is a repository without issues.
// https://docs.github.com/rest/issues/issues#create-an-issue
func (c *Client) OpenIssue(ctx context.Context, repo model.Repo, title, body string) (number int, url string, err error) {
	return 0, "", errNotBuilt
}

// OurIssues gives the newest issues that the token opened, in whatever state, newest first: at most 30, among the newest
// 500 of the repository.
func (c *Client) OurIssues(ctx context.Context, repo model.Repo) ([]OurIssue, error) {
	return nil, errNotBuilt
}

// RemoveLabel takes a label off an issue or a pull request. One that is not on it is off.
// https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue
func (c *Client) RemoveLabel(ctx context.Context, repo model.Repo, number int, label string) error {
	return errNotBuilt
}
