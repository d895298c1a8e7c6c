package github

import (
	"context"
	"fmt"
	"net/url"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// LogQuery says which comments Said reads.
type LogQuery struct {
	Repo model.Repo
	// Number is the one issue or pull request; 0: all of them, closed ones too.
	Number int
	// Since is the earliest change of a comment that counts; zero: all.
	Since time.Time
	// Want chooses comments by their text, before the rest about them is read.
	Want func(body string) bool
}

// mostSaidPages bounds how much is read, 100 comments a page.
const mostSaidPages = 100

// Said reads the conversations that q asks for: one call for each 100 comments, and one GraphQL request for each 100 that q wants,
// which tells who edited them. More than 10,000 comments are Invalid.
// https://docs.github.com/rest/issues/comments#list-issue-comments-for-a-repository
func (c Threads) Said(ctx context.Context, q LogQuery) (model.Said, error) {
	out := model.Said{Comments: map[int][]model.Comment{}}
	op := fmt.Sprintf("read the comments of %s", q.Repo)
	path, query := "issues/comments", url.Values{}
	if q.Number != 0 {
		path = fmt.Sprintf("issues/%d/comments", q.Number)
	}
	if !q.Since.IsZero() {
		query.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	all, err := listOf[gogithub.IssueComment](ctx, c.conn, op, q.Repo, path, query, mostSaidPages)
	if err == nil && len(all) == mostSaidPages*pageLimits[0] {
		err = &Error{Kind: Invalid, Op: op, Message: fmt.Sprintf("there are more than %d comments", len(all)),
			Fix: "ask for a shorter time, or for one number"}
	}
	if err != nil {
		return out, named(err, q.Repo, q.Number)
	}
	var ids []string
	numbers := map[string]int{}
	for _, one := range all {
		if number := numberIn(one.GetIssueURL()); number != 0 && one.GetNodeID() != "" && q.Want(one.GetBody()) {
			ids = append(ids, one.GetNodeID())
			numbers[one.GetNodeID()] = number
		}
	}
	err = askAll(ctx, c.conn, "comments", ids, pageLimits[0], func(ctx context.Context, some []string) error {
		return c.saidBy(ctx, op, q, some, numbers, &out)
	})
	return out, err
}

// saidBy adds the comments with these ids to out.
func (c Threads) saidBy(ctx context.Context, op string, q LogQuery, ids []string, numbers map[string]int, out *model.Said) error {
	ours := question{op: op, document: documents["said"], repo: q.Repo, may: []string{"?nodes"}}
	data, err := c.ask(ctx, ours, func(int) map[string]any {
		return map[string]any{"ids": ids, "posted": true}
	})
	if err != nil {
		return err
	}
	out.Viewer = data.Viewer.actor()
	main := data.Repository.DefaultBranchRef
	if out.Settings, out.SettingsFound, err = main.settings(op, main.Name); err != nil {
		return err
	}
	for _, n := range data.Nodes {
		if n != nil && numbers[n.ID] != 0 { // null: deleted since it was listed
			out.Comments[numbers[n.ID]] = append(out.Comments[numbers[n.ID]], n.comment(model.KindIssue))
		}
	}
	return nil
}
