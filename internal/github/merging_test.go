package github

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestMergingByTheAPI(t *testing.T) {
	w := newWorld(t)
	n, c := w.pull(), w.client("octo")
	head := w.tip("agent/7")
	now := must.Get(c.Pulls.Now(t.Context(), widgets, n))(t)
	assert.Equal(t, model.PullNow{State: model.PullOpen, HeadSHA: head, BaseRef: "main", Title: "Add a"}, now)

	_, err := c.Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: w.tip("main"), Method: "squash"})
	assert.Contains(t, failure(t, err, HeadMoved).Error(), "Head branch was modified")
	w.control("protection", map[string]any{"checks": []string{"ci"}})
	_, err = c.Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: head, Method: "squash"})
	assert.Contains(t, failure(t, err, NotMergeable).Error(), `Required status check "ci" is expected.`)
	w.control("protection", map[string]any{})
	fails(w.client("tri").Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: head, Method: "squash"}))(t, Forbidden)
	fails(c.Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: head[:12], Method: "squash"}))(t, Invalid)

	sha := must.Get(c.Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: head, Method: "squash", Title: "Add a (#1)", Message: "Text"}))(t)
	assert.Equal(t, w.tip("main"), sha)
	assert.Equal(t, "Add a (#1)\n\nText", w.as("octo", "GET", "git/commits/"+sha, nil)["message"])
	now = must.Get(c.Pulls.Now(t.Context(), widgets, n))(t)
	assert.Equal(t, model.PullNow{State: model.PullMerged, HeadSHA: head, BaseRef: "main", Title: "Add a", MergeCommit: sha}, now)
	assert.Equal(t, sha, w.facts(c, n, "").MergeCommit)
	require.NoError(t, c.Pulls.Close(t.Context(), widgets, n))
	fails(c.Pulls.Merge(t.Context(), widgets, n, MergeInput{SHA: head, Method: "squash"}))(t, NotMergeable)
}

func TestMergeRefusals(t *testing.T) {
	for _, c := range []struct {
		reply
		kind Kind
	}{
		{reply{405, `{"message": "Base branch was modified. Review and try the merge again."}`, nil}, BaseMoved},
		{reply{405, `{"message": "This branch must not contain merge commits."}`, nil}, NotMergeable},
		{reply{422, `{"message": "Validation Failed"}`, nil}, Invalid},
		{reply{502, ``, nil}, Unclear},
		{reply{200, `{"merged": true}`, nil}, Unclear},
	} {
		l := dial(t, Options{}, c.reply)
		_, err := l.Pulls.Merge(t.Context(), widgets, 7, MergeInput{SHA: "0123456789012345678901234567890123456789", Method: "merge"})
		failure(t, err, c.kind)
		assert.Len(t, l.seen, 1, "a merge is never asked for twice")
	}
}

func TestClosingTwice(t *testing.T) {
	w := newWorld(t)
	n, c := w.pull(), w.client("octo")
	for range 2 {
		require.NoError(t, c.Pulls.Close(t.Context(), widgets, n))
	}
	assert.Equal(t, model.PullClosed, must.Get(c.Pulls.Now(t.Context(), widgets, n))(t).State)
	require.NoError(t, dial(t, Options{}, reply{status: 502}, reply{200, `{"number": 7}`, nil}).Pulls.Close(t.Context(), widgets, 7))
	fails(c.Pulls.Now(t.Context(), widgets, 99))(t, NotFound)
}

func TestAwait(t *testing.T) {
	pulls := func(heads ...string) (out []reply) {
		for _, h := range heads {
			out = append(out, reply{200, fmt.Sprintf(`{"data": {"repository": {"p0": {"state": "OPEN", "headRefOid": %q, "baseRefName": "main"}}}}`, h), nil})
		}
		return out
	}
	is := func(head string) func(model.PullNow) bool {
		return func(now model.PullNow) bool { return now.HeadSHA == head }
	}
	ms := func(pauses ...int) (out []time.Duration) {
		for _, p := range pauses {
			out = append(out, time.Duration(p)*1e6)
		}
		return out
	}
	l := dial(t, Options{}, pulls("old", "old", "new")...)
	now, ok, err := l.Pulls.Await(t.Context(), widgets, 7, time.Minute, is("new"))
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, model.PullNow{State: model.PullOpen, HeadSHA: "new", BaseRef: "main"}, now)
	assert.Equal(t, ms(250, 500), l.waited)

	l = dial(t, Options{}, pulls("new")...)
	_, ok, err = l.Pulls.Await(t.Context(), widgets, 7, 0, is("new"))
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Empty(t, l.waited, "what is there already takes no time")

	l = dial(t, Options{}, pulls("old")...)
	now, ok, err = l.Pulls.Await(t.Context(), widgets, 7, time.Hour, is("new"))
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, "old", now.HeadSHA)
	assert.Equal(t, ms(250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000), l.waited)
	assert.Len(t, l.seen, mostLooks)

	l = dial(t, Options{}, pulls("old")...)
	_, ok, err = l.Pulls.Await(t.Context(), widgets, 7, 2*time.Second, is("new"))
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, ms(250, 500, 1000), l.waited)

	l = dial(t, Options{Sleep: func(context.Context, time.Duration) error { return context.Canceled }}, pulls("old")...)
	_, _, err = l.Pulls.Await(t.Context(), widgets, 7, time.Minute, is("new"))
	failure(t, err, Unavailable)
	assert.True(t, errors.Is(err, context.Canceled))
}

func TestPullsOfCommits(t *testing.T) {
	w := newWorld(t)
	n, c := w.pull(), w.client("octo")
	head, main := w.tip("agent/7"), w.tip("main")
	w.as("octo", "PUT", fmt.Sprintf("pulls/%d/merge", n), map[string]any{"merge_method": "squash"})
	landed := w.tip("main")
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/next", "sha": landed})
	w.put("next", "c.txt", "more\n")
	next := w.tip("next")
	open := w.as("octo", "POST", "pulls", map[string]any{"title": "Next", "head": "next", "base": "main"})
	unknown := "0123456789012345678901234567890123456789"
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/dropped", "sha": landed})
	w.put("dropped", "d.txt", "no\n")
	dropped := w.as("octo", "POST", "pulls", map[string]any{"title": "Dropped", "head": "dropped", "base": "main"})
	require.NoError(t, c.Pulls.Close(t.Context(), widgets, int(dropped["number"].(float64))))
	asked := []string{head, landed, next, main, w.tip("dropped"), unknown}
	of := must.Get(c.Pulls.OfCommits(t.Context(), widgets, asked))(t)
	assert.Equal(t, "1 REST, 1 GraphQL", calls(c))
	numbers := map[string][]int{}
	for sha, pulls := range of {
		for _, p := range pulls {
			numbers[sha] = append(numbers[sha], p.Number)
		}
	}
	assert.Equal(t, map[string][]int{head: {n}, landed: {n}, next: {n + 1}}, numbers)
	assert.Equal(t, model.PullMerged, of[landed][0].State)

	many := make([]string, pullsOfCommits.most+1)
	for i := range many {
		many[i] = landed
	}
	_ = must.Get(c.Pulls.OfCommits(t.Context(), widgets, many))(t)
	assert.Equal(t, "1 REST, 3 GraphQL", calls(c))
	fails(c.Pulls.OfCommits(t.Context(), model.Repo{Owner: "octo", Name: "nope"}, []string{head}))(t, NotFound)

	from := must.Get(c.Pulls.FromBranch(t.Context(), widgets, "next"))(t)
	assert.Equal(t, []model.PullRef{{Number: n + 1, Title: "Next", URL: open["html_url"].(string), State: model.PullOpen, BaseRef: "main", HeadSHA: next, Ours: true}}, from)
	assert.Empty(t, must.Get(c.Pulls.FromBranch(t.Context(), widgets, "agent/7"))(t), "merged")
	from = must.Get(c.Pulls.FromBranch(t.Context(), widgets, "agent/7", model.PullClosed, model.PullMerged))(t)
	require.Len(t, from, 1)
	assert.Equal(t, model.PullMerged, from[0].State)

	c = w.client("octo")
	w.as("octo", "DELETE", "git/refs/heads/dropped", nil)
	each := must.Get(c.Pulls.FromBranches(t.Context(), widgets, []string{"agent/7", "next", "none", "dropped"}))(t)
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	require.Len(t, each, 3)
	require.Len(t, each["agent/7"], 1)
	assert.Equal(t, from[0].Number, each["agent/7"][0].Number)
	assert.Equal(t, n+1, each["next"][0].Number)
	assert.Equal(t, model.PullClosed, each["dropped"][0].State, "although its branch is gone")
	fails(c.Pulls.FromBranches(t.Context(), model.Repo{Owner: "octo", Name: "nope"}, []string{"agent/7", "next"}))(t, NotFound)
	l := dial(t, Options{}, reply{200, `{"data": {"repository": {"p0": null}}, "errors": [{"type": "FORBIDDEN", "path": ["repository", "p0"], "message": "no"}]}`, nil})
	fails(l.Pulls.FromBranches(t.Context(), widgets, []string{"agent/7"}))(t, Forbidden)
}

func TestPullsOfForksAreNotOfTheBranch(t *testing.T) {
	node := func(n int, cross bool) string {
		return fmt.Sprintf(`{"number": %d, "state": "OPEN", "isCrossRepository": %t}`, n, cross)
	}
	l := dial(t, Options{}, reply{200, `{"data": {"repository": {"pullRequests": {"nodes": [` + node(3, true) + `,` + node(4, false) + `]}}}}`, nil})
	from := must.Get(l.Pulls.FromBranch(t.Context(), widgets, "x"))(t)
	require.Len(t, from, 1)
	assert.Equal(t, 4, from[0].Number)

	l = dial(t, Options{}, mergeAnswer(`}, "heads": {"nodes": [`+node(3, true)+`,`+node(4, false)+`,`+node(7, false)+`]}, "bases": {"nodes": [{"number": 9}, {"number": 4}], "pageInfo": {"hasNextPage": true}`, ""))
	f := must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "x", ""))(t)
	assert.Equal(t, []int{4, 9}, f.Users)
	assert.Equal(t, []string{"users"}, f.Missing)
}
