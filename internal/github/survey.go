package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

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
	op := fmt.Sprintf("read the open pull requests of %s", q.Repo)
	if err := checkRepo(q.Repo); err != nil {
		return &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	after, changed := cursor{at: q.After}, new(lately)
	for {
		var data *surveyData
		err := c.inPages(ctx, pagesOfPulls, func(ctx context.Context, step int) (err error) {
			data, err = c.pullsPage(ctx, op, q, surveySizes[step], after.at)
			return err
		})
		switch {
		case KindOf(err) == Invalid && after.at != "" && after.at == q.After:
			c.log.WarnContext(ctx, "survey_from_the_start", "repository", q.Repo.String(), "error", err.Error())
			after.at = ""
			continue
		case err != nil:
			return named(err, Query{Repo: q.Repo})
		}
		if q.Began != nil {
			if err := began(op, q, data); err != nil {
				return err
			}
			q.Began = nil
		}
		if err := c.yieldPulls(ctx, q, changed, data, yield); err != nil {
			return err
		}
		page := data.Repository.PullRequests.PageInfo
		if after.step(page.HasNextPage, page.EndCursor); !after.more {
			after.at = ""
		}
		if q.Passed != nil {
			q.Passed(after.at)
		}
		if !after.more {
			return nil
		}
		if left := data.RateLimit; left != nil && left.Remaining < q.Reserve {
			return &Error{Kind: RateLimited, Op: op, Status: http.StatusOK, Until: left.ResetAt.UTC(), Fix: fixLater,
				Message: fmt.Sprintf("GraphQL has %d points left for this hour, which are kept for the work", left.Remaining)}
		}
	}
}

// began tells what the first page says of the repository itself.
func began(op string, q SurveyQuery, data *surveyData) error {
	snap := model.Snapshot{Repo: q.Repo, Viewer: data.Viewer.actor(), ReadAt: data.at}
	var err error
	if main := data.Repository.DefaultBranchRef; main != nil && main.Target != nil {
		snap.DefaultBranch, snap.DefaultSHA = main.Name, main.Target.OID
		snap.Settings, snap.SettingsFound, err = main.settings(op, main.Name)
	}
	if err == nil {
		q.Began(snap)
	}
	return err
}

func (c Threads) yieldPulls(ctx context.Context, q SurveyQuery, changed *lately, data *surveyData, yield func(model.Snapshot) error) error {
	for _, n := range data.Repository.PullRequests.Nodes {
		if n == nil {
			continue
		}
		page := surveyPage{data.Viewer, data.Repository.DefaultBranchRef, data.hides, data.at}
		snap, err := c.surveyed(ctx, Query{Repo: q.Repo, Settled: q.Settled, Posted: q.Posted, Edited: true, lately: changed}, page, n)
		if err != nil {
			return err
		}
		if err := yield(snap); err != nil {
			return err
		}
	}
	return nil
}

type surveyData struct {
	Viewer actorNode
	// RateLimit is null on a server without limits.
	RateLimit *struct {
		Remaining int
		ResetAt   time.Time
	}
	Repository *struct {
		DefaultBranchRef *branchNode
		PullRequests     connection[*pullNode]
	}
	hides bool
	at    time.Time
}

func (c Threads) pullsPage(ctx context.Context, op string, q SurveyQuery, size surveySize, after string) (data *surveyData, err error) {
	data = new(surveyData)
	var missing []string
	data.at, missing, err = c.queryParts(ctx, op, surveyDocument, map[string]any{
		"owner": q.Repo.Owner, "name": q.Repo.Name, "pulls": size.threads, "after": orNull(after),
		"comments": size.comments, "reviews": size.reviews, "page": size.lines, "posted": false,
	}, data, tolerated...)
	data.hides = slices.Contains(missing, headRepository)
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	return data, err
}

// surveyPage is what all threads of a page have in common.
type surveyPage struct {
	viewer actorNode
	main   *branchNode
	hides  bool
	at     time.Time
}

// surveyed is the snapshot of one pull request or issue of a page, for a query without a number.
func (c Threads) surveyed(ctx context.Context, q Query, page surveyPage, n *pullNode) (model.Snapshot, error) {
	q.Number = n.Number
	op := fmt.Sprintf("read %s#%d", q.Repo, n.Number)
	answer := snapshotData{Viewer: page.viewer, Repository: &repositoryNode{DefaultBranchRef: page.main, IssueOrPullRequest: n}, hides: page.hides}
	snap, err := answer.snapshot(op, q)
	if err != nil {
		return model.Snapshot{}, err
	}
	snap.ReadAt = page.at
	r := newReading(q, snap)
	r.take(n, nil)
	for _, one := range r.said {
		if one.Kind == model.KindIssue && one.EditedByOther && (one.Ours || one.Author.Bot) {
			return c.Snapshot(ctx, q)
		}
	}
	if err := c.readOn(ctx, op, r); err != nil {
		return model.Snapshot{}, named(err, q)
	}
	r.tell(&snap)
	return snap, nil
}
