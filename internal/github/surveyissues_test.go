package github

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func (w *world) surveyIssues(c *Client, q IssueSurveyQuery) (all []model.Snapshot, refs []model.Ref) {
	w.t.Helper()
	q.Repo = widgets
	refs = must.Get(c.Threads.SurveyIssues(w.t.Context(), q, func(s model.Snapshot) error { all = append(all, s); return nil }))(w.t)
	return all, refs
}

func threadsOf(all []model.Snapshot) (out []int) {
	for _, s := range all {
		out = append(out, s.Issue().Number)
	}
	return out
}

var flows = []string{"agent:design", "agent:small-job"}

func TestASurveyOfIssues(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/mergexo.toml", "[agent]\n")
	var want []int
	for i := range 55 {
		n := w.issue(fmt.Sprint("Issue ", i))
		w.label(n, true, flows[i%2])
		want = append(want, n)
	}
	w.label(want[3], true, flows[0]) // has both
	w.label(w.issue("Another label"), true, "bug")
	w.issue("No label")
	w.as("octo", "PATCH", fmt.Sprintf("issues/%d", want[7]), map[string]any{"state": "closed"})
	w.label(want[9], false, flows[1])
	w.label(w.pull(), true, flows[0])
	want = append(want[:7:7], append([]int{want[8]}, want[10:]...)...)
	n := want[3]
	w.tick()
	w.as("ada", "PATCH", fmt.Sprintf("issues/%d", n), map[string]any{"title": "Wanted", "body": "Please do"})
	w.say("actions", n, "at work")
	for i := range 40 {
		w.say("ada", n, fmt.Sprint(i))
	}

	c := w.client("actions")
	all, refs := w.surveyIssues(c, IssueSurveyQuery{Labels: flows})
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c), "two pages, and the older comments of one issue")
	assert.Empty(t, refs)
	assert.Equal(t, want, threadsOf(all), "the oldest first")
	for _, got := range all[2:5] {
		assert.Equal(t, w.snapshot(c, Query{Number: got.Issue().Number}), got)
	}
	got := all[3]
	assert.Equal(t, []any{"Wanted", 1, 41, "main", true, flows[0]},
		[]any{got.Issue().Title, len(got.Issue().TitleEdits), len(got.Comments), got.DefaultBranch, got.SettingsFound, got.Issue().LabelChanges[1].Label})

	settled := func(model.Snapshot, []model.Comment) (model.Mark, bool) {
		return model.Mark{At: w.now.Add(time.Hour)}, true
	}
	c = w.client("actions")
	all, _ = w.surveyIssues(c, IssueSurveyQuery{Labels: flows[1:], Settled: settled})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	assert.Len(t, all, 25)

	enough := errors.New("enough")
	_, err := c.Threads.SurveyIssues(t.Context(), IssueSurveyQuery{Repo: widgets, Labels: flows}, func(model.Snapshot) error { return enough })
	assert.Equal(t, enough, err, "as it is")
}

// Branches that look like mirrors are told by how they begin; the others of a large repository are not even sent.
func TestTheBranchesThatMayBeOurs(t *testing.T) {
	w := newWorld(t)
	sha := w.tip("main")
	branch := func(name string) {
		w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/" + name, "sha": sha})
	}
	var want []model.Ref
	for i := range 120 {
		name := fmt.Sprintf("gh-pr-%03d/fix", i)
		branch(name)
		want = append(want, model.Ref{Name: "refs/heads/" + name, SHA: sha})
	}
	for _, name := range []string{"gh-pr-7", "mergexo/checkpoint/7/gh-pr-x", "mergexo/x"} {
		branch(name)
	}
	for _, name := range []string{"a-gh-pr-1", "fix/gh-pr-2/x", "GH-PR-3", "mergexo", "other"} {
		if name != "mergexo" { // git keeps mergexo/x there
			branch(name)
		}
	}
	for _, name := range []string{"gh-pr-7", "mergexo/checkpoint/7/gh-pr-x", "mergexo/x"} {
		want = append(want, model.Ref{Name: "refs/heads/" + name, SHA: sha})
	}
	w.issue("An issue")
	c := w.client("actions")
	all, refs := w.surveyIssues(c, IssueSurveyQuery{})
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Empty(t, all, "without labels no issues")
	assert.Equal(t, want, refs)
}

func TestASurveyOfIssuesThatEnds(t *testing.T) {
	// What GitHub shows twice is yielded once.
	issue := `{"__typename": "Issue", "number": 7}`
	l := dial(t, Options{}, reply{200, `{"data": {"repository": {"issues": {"nodes": [` + issue + `, null, ` + issue + `]}}}}`, nil})
	var got []int
	_ = must.Get(l.Threads.SurveyIssues(t.Context(), IssueSurveyQuery{Repo: widgets, Labels: flows}, func(s model.Snapshot) error {
		got = append(got, s.Issue().Number)
		return nil
	}))(t)
	assert.Equal(t, []int{7}, got)
}

func TestPullRequestsThatAreNotOpenAnyMoreComeAlong(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/mergexo.toml", "[agent]\n")
	n := w.pull()
	w.say("actions", n, "I am at it.")
	c := w.client("actions")
	all, _ := w.surveyIssues(c, IssueSurveyQuery{Labels: flows, Closed: 20})
	assert.Empty(t, all, "it is open")
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"state": "closed"})
	all, _ = w.surveyIssues(c, IssueSurveyQuery{Labels: flows, Closed: 20})
	require.Len(t, all, 1)
	assert.True(t, all[0].IsPull())
	assert.Equal(t, model.PullClosed, all[0].Pull.State)
	assert.Len(t, all[0].Comments, 1)
	all, _ = w.surveyIssues(c, IssueSurveyQuery{Labels: flows})
	assert.Empty(t, all, "they were not asked for")
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c), "one a survey")
}

// What a sweep knows of by other ways comes with the first request.
func TestFurtherNumbersComeAlong(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/mergexo.toml", "[agent]\n")
	labelled, plain, done := w.issue("Labeled"), w.issue("No label"), w.issue("Closed")
	w.label(labelled, true, flows[0])
	w.as("octo", "PATCH", fmt.Sprintf("issues/%d", done), map[string]any{"state": "closed"})
	w.say("ada", plain, "please")
	w.pulls(3)
	w.tick()
	w.as("octo", "PATCH", "pulls/102", map[string]any{"state": "closed"})
	w.say("ada", 102, "why?")
	also := []int{labelled, plain, done, 101, 102, 9999, plain, 102}
	c := w.client("actions")
	all, _ := w.surveyIssues(c, IssueSurveyQuery{Labels: flows, Also: also})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	require.Len(t, all, 4)
	assert.Equal(t, []any{labelled, plain, done, 102}, []any{all[0].Issue().Number, all[1].Issue().Number, all[2].Issue().Number, all[3].Pull.Number}, "each once")
	assert.True(t, all[2].Issue().Closed)
	assert.Equal(t, w.snapshot(c, Query{Number: plain}), all[1])
	want := w.snapshot(c, Query{Number: 102})
	want.Pull.Files, want.Pull.FilesComplete, want.Pull.Commits = nil, false, nil
	assert.Equal(t, want, all[3])

	for i := range 100 {
		also = append([]int{5000 + i}, also...)
	}
	c = w.client("actions")
	all, _ = w.surveyIssues(c, IssueSurveyQuery{Also: also, Closed: 20})
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c), "fifty a request")
	assert.Len(t, all, 4)
}

func TestClosedPullRequestsAreReadBackToATime(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(25)
	var at []time.Time
	for _, n := range numbers {
		at = append(at, w.tick())
		w.as("octo", "PATCH", fmt.Sprint("pulls/", n), map[string]any{"state": "closed"})
	}
	type row struct {
		since time.Time
		each  int
		read  int
		calls string
	}
	must.Each(t, map[string]row{
		"one page":                   {time.Time{}, 5, 5, "0 REST, 1 GraphQL"},
		"all is older":               {at[24].Add(time.Second), 5, 5, "0 REST, 1 GraphQL"},
		"the oldest of a page is as": {at[20], 5, 10, "0 REST, 2 GraphQL"},
		"within a page":              {at[17], 5, 10, "0 REST, 2 GraphQL"},
		"since ever":                 {noon.Add(-time.Hour), 5, 25, "0 REST, 5 GraphQL"},
		"ten pages":                  {noon.Add(-time.Hour), 2, 20, "0 REST, 10 GraphQL"},
		"not asked for":              {noon.Add(-time.Hour), 0, 0, "0 REST, 1 GraphQL"},
	}, func(t *testing.T, want row) {
		c := w.client("actions")
		all, _ := w.surveyIssues(c, IssueSurveyQuery{Closed: want.each, ClosedSince: want.since})
		assert.Equal(t, want.calls, calls(c))
		require.Len(t, all, want.read)
		for i, s := range all {
			assert.Equal(t, numbers[24-i], s.Pull.Number)
		}
	})
}
