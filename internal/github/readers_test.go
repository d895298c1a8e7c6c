package github

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// second is the error of a call that gives a value, too.
func second[T any](_ T, err error) error { return err }

// graphReaders read a repository by GraphQL, by what they say that they do. Those with a number read one pull request or issue.
var graphReaders = map[string]func(ctx context.Context, c *Client, repo model.Repo, number int) error{
	"read octo/widgets#404": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Threads.Snapshot(ctx, Query{Repo: repo, Number: number}))
	},
	"read what a merge of octo/widgets#404 needs": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Threads.MergeFacts(ctx, repo, number, "x", "main"))
	},
	"read the merge queue entry of octo/widgets#404": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Threads.Queue(ctx, repo, number))
	},
	"read the roadmap of octo/widgets#404": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Issues.Roadmap(ctx, RoadmapQuery{Repo: repo, Number: number, Path: "a/b", Dir: "a"}))
	},
	"look at octo/widgets#404": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Pulls.Now(ctx, repo, number))
	},
	"read the open pull requests of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return c.Threads.Survey(ctx, SurveyQuery{Repo: repo}, func(model.Snapshot) error { return nil })
	},
	"read the open issues of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Threads.SurveyIssues(ctx, IssueSurveyQuery{Repo: repo}, nil))
	},
	"read the merge train of main in octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Threads.Train(ctx, TrainQuery{Repo: repo, Base: "main", Branches: "mergexo/train/main/"}))
	},
	"read what is open of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Threads.States(ctx, repo, []int{number}))
	},
	"read the review threads of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Threads.Resolved(ctx, repo, []int{number}))
	},
	"read the permissions in octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Repositories.Permissions(ctx, repo, []string{"octo"}))
	},
	"read which pull requests commits of octo/widgets came with": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Pulls.OfCommits(ctx, repo, []string{noCommit}))
	},
	"read the workflow runs on commits of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Actions.RunsOn(ctx, repo, []string{noCommit}))
	},
	"read the pull requests from x in octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Pulls.FromBranch(ctx, repo, "x"))
	},
	"read the pull requests from 1 branches of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Pulls.FromBranches(ctx, repo, []string{"x"}))
	},
	"read our issues of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Issues.Ours(ctx, repo))
	},
	"look for our issues in octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, _ int) error {
		return second(c.Issues.OpenedSince(ctx, repo, time.Time{}, func(ItemIssue) bool { return true }))
	},
	"read issues of octo/widgets": func(ctx context.Context, c *Client, repo model.Repo, number int) error {
		return second(c.Issues.ByNumber(ctx, repo, []int{number}))
	},
}

const noCommit = "00000000000000000000000000000000deadbeef"

// Whoever reads says what is not there: the repository, or the number that it is about. A name that bends an address is not sent.
func TestEveryReaderSaysWhatIsNotThere(t *testing.T) {
	c := newWorld(t).client("actions")
	for op, read := range graphReaders {
		t.Run(op, func(t *testing.T) {
			e := failure(t, read(t.Context(), c, model.Repo{Owner: "octo", Name: "nothing"}, 404), NotFound)
			assert.Contains(t, e.Error(), ": repository octo/nothing does not exist, or the token may not see it")
			l := dial(t, Options{}, reply{200, `{"data": {"repository": null}}`, nil})
			e = failure(t, read(t.Context(), l.Client, widgets, 404), NotFound)
			assert.Equal(t, op+": repository octo/widgets does not exist, or the token may not see it", e.Error())
			l = dial(t, Options{})
			failure(t, read(t.Context(), l.Client, model.Repo{Owner: "a/b"}, 404), Invalid)
			assert.Equal(t, "0 REST, 0 GraphQL", calls(l.Client))
		})
	}
	for _, op := range []string{
		"read octo/widgets#404", "read what a merge of octo/widgets#404 needs", "read the merge queue entry of octo/widgets#404",
		"read the roadmap of octo/widgets#404", "look at octo/widgets#404",
	} {
		for _, c := range []*Client{c, dial(t, Options{}, reply{200, `{"data": {"repository": {}}}`, nil}).Client} {
			e := failure(t, graphReaders[op](t.Context(), c, widgets, 404), NotFound)
			assert.Equal(t, op+": octo/widgets#404 does not exist, or the token may not see it", e.Error())
		}
	}
}
