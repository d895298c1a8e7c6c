package github

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// numberIn is the number of the pull request or issue that an address in the API ends in; 0: it ends in none.
func numberIn(address string) int {
	n, _ := strconv.Atoi(path.Base(address))
	return n
}

// mostEditedPages bounds how many pages of changed comments are read of one pull request, 100 comments a page.
const mostEditedPages = 10

// lately are the review comments of a whole repository that changed last: a page of them, read once for all pull requests of a
// survey. What is not among them waits for the next reading of its pull request alone.
type lately struct {
	read  bool
	lines []gogithub.PullRequestComment
}

// readEdited reads the review comments that changed after the mark and are of reviews beyond those that were read: reviews come in
// the order in which they were begun, so that an edit of an old comment, or a draft that was submitted late, moves nothing up.
// A draft's comments count as updated when they are submitted.
func readEdited(ctx context.Context, c Threads, op string, r *reading) error {
	if !r.q.Edited || !r.reviews.more && len(r.long) == 0 || r.mark.At.IsZero() || r.mark.At.After(r.of.ReadAt) {
		return nil
	}
	since := r.mark.Reach()
	if r.q.lately != nil { // else the comments of the last turn would be read again by every survey until the next one
		since = r.mark.At
	}
	listed, err := r.changed(ctx, c, op, since)
	if err != nil {
		return named(err, r.q.Repo, r.q.Number)
	}
	var ids []string
	for _, l := range listed {
		old, read := r.said[said{model.KindReview, l.GetID()}]
		at := l.GetUpdatedAt().Time
		fresh := !at.Before(since) && (!read || old.UpdatedAt.Before(at))
		if l.GetNodeID() != "" && numberIn(l.GetPullRequestURL()) == r.q.Number && fresh {
			ids = append(ids, l.GetNodeID())
		}
	}
	return c.byID(ctx, op, "edited", ids, []string{"?nodes"}, func(n *saidNode) {
		if n.PullRequestReview != nil && n.PullRequestReview.updated().Before(since) {
			n.PullRequestReview.Body = ""
		}
		r.takeNode(n)
	})
}

// changed lists review comments, those that changed last first: of the pull request, or of the whole repository in a survey.
// https://docs.github.com/rest/pulls/comments#list-review-comments-on-a-pull-request
func (r *reading) changed(ctx context.Context, c Threads, op string, since time.Time) ([]gogithub.PullRequestComment, error) {
	query := url.Values{"sort": {"updated"}, "direction": {"desc"}}
	list, most := fmt.Sprintf("pulls/%d/comments", r.q.Number), mostEditedPages
	if r.q.lately != nil {
		if r.q.lately.read {
			return r.q.lately.lines, nil
		}
		list, most = "pulls/comments", 1
	} else {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	all, err := listOf[gogithub.PullRequestComment](ctx, c.conn, op, r.q.Repo, list, query, most)
	if err == nil && r.q.lately != nil {
		*r.q.lately = lately{true, all}
	}
	return all, err
}
