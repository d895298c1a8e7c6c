package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// SurveyQuery says what a Survey is to be of.
type SurveyQuery struct {
	Repo model.Repo
	// After is a cursor that Passed was given, to go on behind it; "" for the start. One that GitHub does not take any more
	// begins from the start, too.
	After string
	// Passed is called when all pull requests of a page were yielded, with the cursor that a later survey can go on from: ""
	// after the last page. Nil: not asked for.
	Passed func(cursor string)
	// Settled is Query's, for one of the pull requests.
	Settled func(s model.Snapshot, read []model.Comment) (model.Mark, bool)
}

// of is the query for one of the pull requests.
func (q SurveyQuery) of(s model.Snapshot) Query {
	return Query{Repo: q.Repo, Number: s.Pull.Number, Settled: q.Settled}
}

// surveySize is how many pull requests one request asks for, and how many of what was said on each; lines are the comments
// of one review.
type surveySize struct{ pulls, comments, reviews, lines int }

var (
	fullSurvey = surveySize{50, 30, 10, 20}
	// smallSurvey is for a server that gives up on the full one.
	smallSurvey = surveySize{10, 30, 10, 20}
)

// Survey reads all open pull requests, the oldest first and 50 a request, and gives each to yield before it reads the next
// page, of which nothing is kept: memory does not grow with their number. It reads the connection, not the search index,
// which can hide pull requests for a while. An error of yield ends the survey and is returned as it is.
//
// The snapshots are Snapshot's, with less in them: no files, no resolution of threads, no permissions, and no Posted for
// comments that were edited. Further pages of one pull request are read where Settled wants them. Where somebody edited
// another's comment the whole snapshot is read, since only then WasMarked is known.
func (c *Client) Survey(ctx context.Context, q SurveyQuery, yield func(model.Snapshot) error) error {
	op := fmt.Sprintf("read the open pull requests of %s", q.Repo)
	if err := checkRepo(q.Repo); err != nil {
		return &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	size := fullSurvey
	var after cursor
	for {
		data, err := c.surveyPage(ctx, op, q, size, after.at)
		if gaveUp(err) && size != smallSurvey {
			size = smallSurvey
			continue
		}
		if err != nil {
			return named(err, Query{Repo: q.Repo})
		}
		page := data.Repository.PullRequests
		for _, n := range page.Nodes {
			if n == nil {
				continue
			}
			snap, err := c.surveyed(ctx, q, size, data, n)
			if err != nil {
				return err
			}
			if err := yield(snap); err != nil {
				return err
			}
		}
		if after.step(page.PageInfo.HasNextPage, page.PageInfo.EndCursor); !after.more {
			return nil
		}
	}
}

type surveyData struct {
	Viewer     actorNode
	Repository *struct {
		DefaultBranchRef *branchNode
		PullRequests     connection[*pullNode]
	}
	at time.Time
}

func (c *Client) surveyPage(ctx context.Context, op string, q SurveyQuery, size surveySize, after string) (data *surveyData, err error) {
	data = new(surveyData)
	data.at, err = c.query(ctx, op, surveyDocument, map[string]any{
		"owner": q.Repo.Owner, "name": q.Repo.Name, "pulls": size.pulls, "after": orNull(after),
		"comments": size.comments, "reviews": size.reviews, "page": size.lines, "posted": false,
	}, data, tolerated...)
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	return data, err
}

// surveyed is the snapshot of one pull request of a page.
func (c *Client) surveyed(ctx context.Context, survey SurveyQuery, size surveySize, page *surveyData, n *pullNode) (model.Snapshot, error) {
	further := fullPage
	if size == smallSurvey {
		further = smallPage
	}
	op := fmt.Sprintf("read %s#%d", survey.Repo, n.Number)
	answer := snapshotData{Viewer: page.Viewer, Repository: &repositoryNode{DefaultBranchRef: page.Repository.DefaultBranchRef, IssueOrPullRequest: n}}
	snap, err := answer.snapshot(op, Query{Repo: survey.Repo, Number: n.Number})
	if err != nil {
		return model.Snapshot{}, err
	}
	q := survey.of(snap)
	r := newReading(q, further, snap)
	r.take(n, nil)
	for _, one := range r.said {
		if one.Kind == model.KindIssue && one.EditedByOther {
			return c.Snapshot(ctx, q)
		}
	}
	snap.ReadAt = page.at
	if err := c.readOn(ctx, op, r); err != nil {
		return model.Snapshot{}, named(err, q)
	}
	r.tell(&snap)
	return snap, nil
}
