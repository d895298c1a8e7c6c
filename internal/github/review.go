package github

import (
	"context"
	"fmt"
	"net/http"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// ReviewInput is a review to be posted: a text, and comments on lines that the diff of Head shows.
type ReviewInput struct {
	Head     string // "": whichever it is now
	Body     string
	Comments []LineComment
}

// LineComment is a comment on a line of the new version of a file.
type LineComment struct {
	Path string
	Line int
	Body string
}

// ResolveThread resolves a thread of review comments, by its GraphQL id. One that is resolved stays as it is. The token needs to
// write contents, too: https://github.com/orgs/community/discussions/44650
// https://docs.github.com/graphql/reference/mutations#resolvereviewthread
func (c Pulls) ResolveThread(ctx context.Context, repo model.Repo, node string) error {
	return c.mutate(ctx, "resolve a review thread of "+repo.String(), repo, documents["resolve"], map[string]any{"id": node})
}

// Review posts a review that comments, neither approving nor requesting changes, and gives its address. Invalid means that
// nothing was posted: GitHub refuses the whole review for one comment that is not on a line of the diff. Unclear means that it
// may be there. https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request
func (c Pulls) Review(ctx context.Context, repo model.Repo, number int, in ReviewInput) (id int64, url string, err error) {
	op := fmt.Sprintf("review %s#%d", repo, number)
	event, side := "COMMENT", "RIGHT"
	review := &gogithub.PullRequestReviewRequest{Body: &in.Body, Event: &event}
	if in.Head != "" {
		review.CommitID = &in.Head
	}
	for _, one := range in.Comments {
		review.Comments = append(review.Comments, &gogithub.DraftReviewComment{Path: &one.Path, Line: &one.Line, Side: &side, Body: &one.Body})
	}
	var made gogithub.PullRequestReview
	err = c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("pulls/%d/reviews", number), review, &made)
	if err == nil && made.GetID() == 0 {
		err = unreadableWrite(op, "review")
	}
	return made.GetID(), made.GetHTMLURL(), err
}
