package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	// mostOurIssues are given at most, and mostIssues are looked through for them.
	mostOurIssues = 30
	mostIssues    = 300
)

// OurIssue is an issue that the token opened.
type OurIssue struct {
	Number    int
	URL, Body string
	Ours      bool // always: the others are left out
	Title     string
	Open      bool
}

// OpenedIssue is an issue that was opened just now.
type OpenedIssue struct {
	ID     int64  `json:"id"`
	Number int    `json:"number"`
	URL    string `json:"html_url"`
}

// Open is Create without the id.
func (c Issues) Open(ctx context.Context, repo model.Repo, title, body string) (number int, url string, err error) {
	made, err := c.Create(ctx, repo, title, body)
	return made.Number, made.URL, err
}

// Create opens an issue. Unclear means that it may be there; Ours tells. Gone is a repository without issues.
// https://docs.github.com/rest/issues/issues#create-an-issue
func (c Issues) Create(ctx context.Context, repo model.Repo, title, body string) (made OpenedIssue, err error) {
	op := fmt.Sprintf("open an issue in %s", repo)
	err = c.write(ctx, op, repo, http.MethodPost, "issues", map[string]string{"title": title, "body": body}, &made)
	if err == nil && made.Number == 0 {
		err = unreadableWrite(op, "issue")
	}
	off := refusalRow{status: http.StatusGone, fix: "turn on Issues in Settings > General > Features of the repository"}
	return made, explained(err, off)
}

// Ours gives the newest issues that the token or the accounts with these logins opened, in whatever state, newest first:
// at most 30, among the newest 300 of the repository. What GitHub's own filter calls an App is nowhere said, and
// viewerDidAuthor is never wrong.
func (c Issues) Ours(ctx context.Context, repo model.Repo, logins ...string) ([]OurIssue, error) {
	q := question{op: fmt.Sprintf("read our issues of %s", repo), document: documents["ourissues"], repo: repo, pages: "our issues"}
	var out []OurIssue
	after := cursor{more: true}
	for seen := 0; seen < mostIssues && after.more; {
		got, err := c.ask(ctx, q, after.page)
		if err != nil {
			return nil, err
		}
		page := got.Repository.Issues
		for _, n := range page.Nodes {
			isOne := func(login string) bool { return strings.EqualFold(login, n.Author.actor().Login) }
			if n != nil && (n.ViewerDidAuthor || slices.ContainsFunc(logins, isOne)) {
				out = append(out, OurIssue{Number: n.Number, URL: n.URL, Body: n.Body, Ours: true, Title: n.Title, Open: !n.Closed})
			}
			if len(out) == mostOurIssues {
				return out, nil
			}
		}
		seen += len(page.Nodes)
		after.next(page.PageInfo)
	}
	return out, nil
}

// RemoveLabel takes a label off an issue or a pull request. One that is not on it is off.
// https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue
func (c Issues) RemoveLabel(ctx context.Context, repo model.Repo, number int, label string) error {
	op := fmt.Sprintf("remove the label %q from %s#%d", oneLine(label), repo, number)
	if label == "" || label == "." || label == ".." { // the address would be that of all labels, or of something else
		return &Error{Kind: Invalid, Op: op, Message: "that name cannot be part of an address", Fix: "rename the label"}
	}
	err := c.write(ctx, op, repo, http.MethodDelete, fmt.Sprintf("issues/%d/labels/%s", number, url.PathEscape(label)), nil, nil)
	return unless(err, NotFound, Gone)
}
