package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/mergexo/internal/model"
)

// SurveyQuery says what a Survey is to be of.
type SurveyQuery struct {
	Repo model.Repo
	// Began is called before the first pull request is yielded, also where there is none, with what is known of the repository
	// itself: the viewer, the default branch, and the settings there. Nil: not asked for.
	Began func(s model.Snapshot)
	// After is a cursor that Passed was given, to go on behind it; "" for the start. One that GitHub no longer takes
	// begins from the start, too.
	After string
	// Passed is called when all pull requests of a page were yielded, with the cursor that a later survey can go on from: ""
	// after the last page. Nil: not asked for.
	Passed func(cursor string)
	// Settled is Query's, for one of the pull requests.
	Settled func(s model.Snapshot, read []model.Comment) (model.Mark, bool)
	// Posted is Query's, for one of the pull requests.
	Posted func(s model.Snapshot, c model.Comment) (text string, ask bool)
	// Reserve is how many of the hour's points of GraphQL are kept for the work: where fewer are left after a page and there
	// are more pages, the survey ends behind Passed with an Error of Kind RateLimited. 0: none.
	Reserve int
}

// surveySize is how many pull requests or issues one request asks for, and how many of what was said on each; lines are the
// comments of one review.
type surveySize struct{ threads, comments, reviews, lines int }

// surveySizes are those of pageLimits.
var surveySizes = [len(pageLimits)]surveySize{{50, 30, 10, 20}, {25, 25, 10, 10}, {5, 25, 5, 5}, {1, 5, 1, 5}}

var fullSurvey = surveySizes[0]

// Survey reads all open pull requests, the oldest first and 50 a request, and gives each to yield before it reads the next
// page, of which nothing is kept: memory does not grow with their number. It reads the connection, not the search index,
// which can hide pull requests for a while. An error of yield ends the survey and is returned as it is.
//
// The snapshots are Snapshot's, with the checks of the head, and otherwise with less in them: no files, no resolution of threads,
// no permissions, and no Posted for comments that were edited but where the query's Posted asks. Further pages of one pull request are read where Settled wants them. Where somebody edited
// a comment of ours or of a bot, which may have been ours, the whole snapshot is read, since only then WasMarked is known: people's
// comments have no markers of ours. Of review comments that changed long after their reviews, those are read that are among the
// hundred of the repository that changed last, which costs a call for all pull requests together.
func (c Threads) Survey(ctx context.Context, q SurveyQuery, yield func(model.Snapshot) error) error {
	ours := question{fmt.Sprintf("read the open pull requests of %s", q.Repo), documents["survey"], q.Repo, 0, "pull requests", tolerated}
	after := cursor{at: q.After}
	each := Query{Repo: q.Repo, Settled: q.Settled, Posted: q.Posted, Edited: true, lately: new(lately)}
	for {
		data, err := c.ask(ctx, ours, func(step int) map[string]any {
			size := surveySizes[step]
			return map[string]any{
				"pulls": size.threads, "after": orNull(after.at), "posted": false,
				"comments": size.comments, "reviews": size.reviews, "page": size.lines,
			}
		})
		switch {
		case KindOf(err) == Invalid && after.at != "" && after.at == q.After:
			c.log.WarnContext(ctx, "survey_from_the_start", "repository", q.Repo.String(), "error", err.Error())
			after.at = ""
			continue
		case err != nil:
			return err
		}
		if q.Began != nil {
			main := data.Repository.DefaultBranchRef
			snap, err := inGeneral(ours.op, q.Repo, data, main, main.Name)
			if err != nil {
				return err
			}
			q.Began(snap)
			q.Began = nil
		}
		if err := c.yieldEach(ctx, each, data, data.Repository.PullRequests.Nodes, yield); err != nil {
			return err
		}
		if !after.next(data.Repository.PullRequests.PageInfo) {
			after.at = ""
		}
		if q.Passed != nil {
			q.Passed(after.at)
		}
		if !after.more {
			return nil
		}
		if left := data.RateLimit; left != nil && left.Remaining < q.Reserve {
			return &Error{Kind: RateLimited, Op: ours.op, Status: http.StatusOK, Until: left.ResetAt.UTC(), Fix: fixLater,
				Message: fmt.Sprintf("GraphQL has %d points left for this hour, which are kept for the work", left.Remaining)}
		}
	}
}

// yieldEach yields the snapshot of each pull request or issue of a page.
func (c Threads) yieldEach(ctx context.Context, q Query, page repositoryAnswer, nodes []*threadNode, yield func(model.Snapshot) error) error {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		q.Number = n.Number
		snap, err := c.surveyed(ctx, q, page, n)
		if err != nil {
			return err
		}
		if err := yield(snap); err != nil {
			return err
		}
	}
	return nil
}

// surveyed is the snapshot of one pull request or issue of a page.
func (c Threads) surveyed(ctx context.Context, q Query, page repositoryAnswer, n *threadNode) (model.Snapshot, error) {
	op := fmt.Sprintf("read %s#%d", q.Repo, q.Number)
	r, err := begun(op, q, page, n)
	if err != nil {
		return model.Snapshot{}, err
	}
	for _, one := range r.said {
		if one.Kind == model.KindIssue && one.EditedByOther && (one.Ours || one.Author.Bot) {
			return c.Snapshot(ctx, q)
		}
	}
	return c.finish(ctx, op, r)
}
