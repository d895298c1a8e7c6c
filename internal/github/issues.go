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
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return made, err
	}
	if err := c.send(ctx, http.MethodPost, fmt.Sprintf("repos/%s/issues", repo), map[string]string{"title": title, "body": body}, &made); err != nil {
		e := c.failWrite(op, err)
		if e.Kind == Gone {
			e.Fix = "turn on Issues in Settings > General > Features of the repository"
		}
		return made, e
	}
	if made.Number == 0 {
		return made, unreadableWrite(op, "issue")
	}
	return made, nil
}

// Ours gives the newest issues that the token or the accounts with these logins opened, in whatever state, newest first:
// at most 30, among the newest 300 of the repository. What GitHub's own filter calls an App is nowhere said, and
// viewerDidAuthor is never wrong.
func (c Issues) Ours(ctx context.Context, repo model.Repo, logins ...string) ([]OurIssue, error) {
	op := fmt.Sprintf("read our issues of %s", repo)
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	var out []OurIssue
	after := cursor{more: true}
	for seen := 0; seen < mostIssues && after.more; {
		var data ourIssuesData
		err := c.inPages(ctx, pagesOfOurs, func(ctx context.Context, step int) error {
			data = ourIssuesData{}
			_, err := c.query(ctx, op, ourIssuesDocument, map[string]any{"owner": repo.Owner, "name": repo.Name, "page": pageLimits[step], "after": orNull(after.at)}, &data)
			return err
		})
		if err == nil && data.Repository == nil {
			err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
		}
		if err != nil {
			return nil, named(err, Query{Repo: repo})
		}
		for _, n := range data.Repository.Issues.Nodes {
			if n.ViewerDidAuthor || slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, n.Author.actor().Login) }) {
				out = append(out, OurIssue{Number: n.Number, URL: n.URL, Body: n.Body, Ours: true, Title: n.Title, Open: !n.Closed})
			}
			if len(out) == mostOurIssues {
				return out, nil
			}
		}
		seen += len(data.Repository.Issues.Nodes)
		after.step(data.Repository.Issues.PageInfo.HasNextPage, data.Repository.Issues.PageInfo.EndCursor)
	}
	return out, nil
}

type ourIssuesData struct {
	Repository *struct {
		Issues connection[struct {
			Number           int
			Title, URL, Body string
			Closed           bool
			ViewerDidAuthor  bool
			Author           *actorNode
		}]
	}
}

// RemoveLabel takes a label off an issue or a pull request. One that is not on it is off.
// https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue
func (c Issues) RemoveLabel(ctx context.Context, repo model.Repo, number int, label string) error {
	op := fmt.Sprintf("remove the label %q from %s#%d", oneLine(label), repo, number)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	if label == "" || label == "." || label == ".." { // the address would be that of all labels, or of something else
		return &Error{Kind: Invalid, Op: op, Message: "that name cannot be part of an address", Fix: "rename the label"}
	}
	if err := c.send(ctx, http.MethodDelete, fmt.Sprintf("repos/%s/issues/%d/labels/%s", repo, number, url.PathEscape(label)), nil, nil); err != nil {
		if e := c.failWrite(op, err); e.Kind != NotFound && e.Kind != Gone {
			return e
		}
	}
	return nil
}
