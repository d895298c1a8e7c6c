package github

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// pulls opens pull requests number 101 and up, each a minute older than the next.
func (w *world) pulls(n int) []int {
	w.t.Helper()
	var many []sandbox.SeedPull
	var numbers []int
	for i := range n {
		number := 101 + i
		numbers = append(numbers, number)
		many = append(many, sandbox.SeedPull{Base: "main", Head: fmt.Sprint("agent/", number), SeedIssue: sandbox.SeedIssue{
			Number: number, Title: fmt.Sprint("Number ", number), Author: "octo", CreatedAt: noon.Add(time.Duration(i-n) * time.Minute)}})
	}
	require.NoError(w.t, w.s.Seed(func(d *sandbox.Seeder) error { return d.Pulls("octo/widgets", many) }))
	return numbers
}

func (w *world) survey(c *Client, q SurveyQuery) (all []model.Snapshot) {
	w.t.Helper()
	q.Repo = widgets
	require.NoError(w.t, c.Threads.Survey(w.t.Context(), q, func(s model.Snapshot) error { all = append(all, s); return nil }))
	return all
}

func numbersOf(all []model.Snapshot) (out []int) {
	for _, s := range all {
		out = append(out, s.Pull.Number)
	}
	return out
}

func TestSurvey(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	assert.Empty(t, w.survey(c, SurveyQuery{}), "nothing is open")
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	w.put("main", ".github/mergexo.toml", "[agent]\n")
	issue := w.issue("Wanted")
	numbers := w.pulls(120)
	w.as("octo", "PATCH", "pulls/103", map[string]any{"state": "closed"})
	numbers = append(numbers[:2], numbers[3:]...)
	w.as("octo", "PATCH", "pulls/150", map[string]any{"body": fmt.Sprintf("Fixes #%d", issue)})
	w.label(150, true, "x")
	w.label(issue, true, "agent:ignore")
	for i := range 3 {
		w.say("ada", 150, fmt.Sprint(i))
		w.say("actions", 150, fmt.Sprint("answer ", i))
	}
	w.tick()
	w.as("ada", "POST", "pulls/150/reviews", map[string]any{"body": "Nearly", "event": "REQUEST_CHANGES",
		"comments": []any{map[string]any{"path": "changes/150.txt", "line": 1, "body": "why"}}})

	c = w.client("actions")
	all := w.survey(c, SurveyQuery{})
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c))
	assert.Equal(t, numbers, numbersOf(all), "the oldest first")
	for _, got := range all {
		if n := got.Pull.Number; n == 150 || n == 151 {
			want := w.snapshot(c, Query{Number: n})
			want.Pull.Files, want.Pull.FilesComplete, want.Pull.Commits = nil, false, nil
			if want.Pull.Issue != nil { // a survey does not tell who labeled it
				want.Pull.Issue.LabelChanges[0].By = model.Actor{}
			}
			for i := range want.Comments { // nobody resolves a thread by what a survey read
				want.Comments[i].ThreadNode = ""
			}
			assert.Equal(t, want, got, "#%d", n)
		}
	}
}

// What one page does not hold is read on for that pull request alone, as far as Settled wants.
func TestASurveyReadsOn(t *testing.T) {
	w := newWorld(t)
	w.pulls(3)
	for i := range 140 {
		w.say("ada", 102, fmt.Sprint("c", i))
	}
	answered := w.now
	var many []any
	for i := range 25 {
		many = append(many, map[string]any{"path": "changes/103.txt", "line": 1, "body": fmt.Sprint("l", i)})
	}
	for range 12 {
		w.tick()
		w.as("ada", "POST", "pulls/103/reviews", map[string]any{"event": "COMMENT", "body": "more"})
	}
	w.tick()
	w.as("ada", "POST", "pulls/103/reviews", map[string]any{"event": "COMMENT", "comments": many})
	read := func(settled func(model.Snapshot, []model.Comment) (model.Mark, bool)) (counts []int, called string, last model.Snapshot) {
		c := w.client("actions")
		all := w.survey(c, SurveyQuery{Settled: settled})
		for _, s := range all {
			counts = append(counts, len(s.Comments))
		}
		return counts, calls(c), all[1]
	}
	counts, called, _ := read(nil)
	assert.Equal(t, []int{0, 140, 37}, counts)
	assert.Equal(t, "0 REST, 4 GraphQL", called, "the page, two more of #102, and of #103 the older reviews and the rest of a long one at once")

	var asked []int
	counts, called, snap := read(func(s model.Snapshot, _ []model.Comment) (model.Mark, bool) {
		asked = append(asked, s.Pull.Number)
		return model.Mark{At: w.now.Add(time.Hour)}, true
	})
	assert.Equal(t, []int{0, 30, 29}, counts, "all is settled")
	assert.Equal(t, "0 REST, 1 GraphQL", called)
	assert.Equal(t, []int{101, 102, 103}, asked)
	assert.False(t, snap.CommentsComplete)
	assert.Equal(t, snap.Comments[0].UpdatedAt, snap.Floor)

	counts, called, _ = read(func(s model.Snapshot, _ []model.Comment) (model.Mark, bool) {
		if s.Pull.Number == 103 {
			return model.Mark{At: w.now.Add(time.Hour)}, true
		}
		return model.Mark{At: answered.Add(-60 * time.Minute)}, true
	})
	assert.Equal(t, []int{0, 130, 29}, counts)
	assert.Equal(t, "0 REST, 2 GraphQL", called)
}

// Somebody edited another's comment: whether a marker of ours was in it is told as in a snapshot.
func TestASurveyKnowsWhatWasMarked(t *testing.T) {
	w := newWorld(t)
	w.pulls(3)
	said := w.say("actions", 102, "receipt\n<!-- mergexo-turn:{} -->")
	own := w.say("ada", 103, "mine")
	w.edit("ada", own, "mine, edited")
	w.edit("octo", w.say("ada", 101, "a person's"), "costs nothing")
	w.edit("octo", said, "thanks")
	c := w.client("actions")
	all := w.survey(c, SurveyQuery{})
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Equal(t, []int{101, 102, 103}, numbersOf(all))
	assert.True(t, all[1].Comments[0].WasMarked)
	edited := all[2].Comments[0]
	assert.Equal(t, []any{"mine, edited", true, "", false}, []any{edited.Body, edited.Edited, edited.Posted, edited.EditedByOther})
}

// What an edited comment was posted with is asked for where it is wanted, all at once, and not where it is known.
func TestASurveyReadsFirstTexts(t *testing.T) {
	w := newWorld(t)
	w.pulls(1)
	one, two, known := w.say("ada", 101, "one"), w.say("ada", 101, "two"), w.say("ada", 101, "three")
	for _, said := range []map[string]any{one, two, known} {
		w.edit("octo", said, fmt.Sprint(said["body"], ", edited"))
	}
	c := w.client("actions")
	all := w.survey(c, SurveyQuery{Posted: func(s model.Snapshot, said model.Comment) (string, bool) {
		assert.Equal(t, 101, s.Number)
		if said.Body == "three, edited" {
			return "three, as known", false
		}
		return "", true
	}})
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	var posted []string
	for _, said := range all[0].Comments {
		posted = append(posted, said.Posted)
	}
	assert.Equal(t, []string{"one", "two", "three, as known"}, posted)
}

func TestASurveyThatEnds(t *testing.T) {
	w := newWorld(t)
	w.pulls(60)
	enough, seen := errors.New("enough"), 0
	c := w.client("actions")
	assert.Equal(t, enough, c.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets}, func(model.Snapshot) error {
		if seen++; seen == 2 {
			return enough
		}
		return nil
	}), "as it is")
	assert.Equal(t, []any{2, "0 REST, 1 GraphQL"}, []any{seen, calls(c)})
}

// Points that the work needs are not spent on looking.
func TestASurveyKeepsPoints(t *testing.T) {
	w := newWorld(t)
	w.pulls(120)
	read := func(reserve int, after string) (numbers []int, passed string, err error) {
		err = w.client("actions").Threads.Survey(t.Context(), SurveyQuery{Repo: widgets, Reserve: reserve, After: after, Passed: func(at string) { passed = at }}, func(s model.Snapshot) error {
			numbers = append(numbers, s.Pull.Number)
			return nil
		})
		return numbers, passed, err
	}
	const left = 1000 - 9 // after the first page
	numbers, passed, err := read(left-9, "")
	require.NoError(t, err)
	assert.Len(t, numbers, 120)
	assert.Empty(t, passed)
	w.control("limits", map[string]any{}) // another hour
	numbers, passed, err = read(left+1, "")
	e := failure(t, err, RateLimited)
	assert.Equal(t, "read the open pull requests of octo/widgets: GraphQL has 991 points left for this hour, which are kept for the work", e.Error())
	assert.False(t, e.Until.IsZero())
	assert.Len(t, numbers, 50)
	require.NotEmpty(t, passed)
	numbers, passed, err = read(left+1, passed)
	failure(t, err, RateLimited)
	assert.Equal(t, 151, numbers[0])
	numbers, passed, err = read(left+1, passed)
	require.NoError(t, err, "nothing is left to be read")
	assert.Len(t, numbers, 20)
	assert.Empty(t, passed)

	l := dial(t, Options{}, reply{200, `{"data": {"rateLimit": null, "repository": {"pullRequests": {"pageInfo": {"hasNextPage": true, "endCursor": "x"}}}}}`, nil},
		reply{200, `{"data": {"repository": {"pullRequests": {"nodes": []}}}}`, nil})
	require.NoError(t, l.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets, Reserve: 9}, nil), "a server without limits")
}

// A thousand pull requests, each with an answer of ours: 20 requests, and no memory that grows with them.
func TestAThousandPullRequests(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(1000)
	text := strings.Repeat("What a turn says. ", 60)
	require.NoError(t, w.s.Seed(func(d *sandbox.Seeder) error {
		for _, n := range numbers {
			if err := d.Comment("octo/widgets", n, sandbox.SeedComment{Author: "github-actions[bot]", Body: text}); err != nil {
				return err
			}
		}
		return nil
	}))
	c := w.client("actions")
	var got []int
	var live []uint64
	require.NoError(t, c.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets}, func(s model.Snapshot) error {
		if len(got)%50 == 25 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			live = append(live, m.HeapAlloc)
		}
		got = append(got, s.Pull.Number)
		return nil
	}))
	t.Logf("live bytes by page: %d", live)
	assert.Equal(t, numbers, got)
	assert.Equal(t, "0 REST, 20 GraphQL", calls(c))
	// The server in this process takes some memory now and then. What is kept of a page, 50 KB of text, would come with each.
	var more []int
	for i := range live[1:] {
		more = append(more, int(live[i+1])-int(live[i]))
	}
	slices.Sort(more)
	assert.Less(t, more[len(more)/2], 40_000, "nothing of a page is kept")
}

// The checks have names, of which the newest of each counts, and more of them than a page holds are not told apart.
func TestASurveyNamesTheChecks(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(2)
	head := w.snapshot(w.client("actions"), Query{Number: numbers[0]}).Pull.HeadSHA
	for _, s := range [][2]string{{"failure", "build"}, {"success", "lint"}, {"success", "build"}, {"failure", "test"}, {"pending", "deploy"}} {
		w.tick()
		w.as("octo", "POST", "statuses/"+head, map[string]any{"state": s[0], "context": s[1], "target_url": "https://ci.example.com/" + s[1]})
	}
	busy := w.snapshot(w.client("actions"), Query{Number: numbers[1]}).Pull.HeadSHA
	for i := range 21 {
		w.as("octo", "POST", "statuses/"+busy, map[string]any{"state": "failure", "context": fmt.Sprint("job ", i)})
	}
	all := w.survey(w.client("actions"), SurveyQuery{})
	got := map[string]string{}
	for _, c := range all[0].Pull.Checks {
		got[c.Name] = string(c.State) + " " + c.URL
	}
	assert.Equal(t, map[string]string{
		"build": "passed https://ci.example.com/build", "lint": "passed https://ci.example.com/lint",
		"test": "failed https://ci.example.com/test", "deploy": "pending https://ci.example.com/deploy",
	}, got)
	assert.False(t, all[0].Pull.MoreChecks)
	assert.Len(t, all[1].Pull.Checks, 20)
	assert.True(t, all[1].Pull.MoreChecks)
}
