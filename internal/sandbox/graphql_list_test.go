package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// names are the values of a field of all nodes.
func names(a *gqlAnswer, field string, path ...any) []string {
	a.t.Helper()
	list := []string{}
	for _, n := range a.at(append(path, "nodes")...).([]any) {
		list = append(list, fmt.Sprint(n.(map[string]any)[field]))
	}
	return list
}

func TestIssuesAreFiltered(t *testing.T) {
	w := newGQLWorld(t)
	bug, question := w.repo.label("bug").ID, w.repo.label("question").ID
	for n, i := range []*Issue{{Title: "both", LabelIDs: []int64{bug, question}}, {Title: "bug", LabelIDs: []int64{bug}}, {Title: "question", LabelIDs: []int64{question}}, {Title: "none"}} {
		w.now = gqlNoon.Add(time.Duration(n) * time.Hour)
		i.Author = "ann"
		w.open(i)
	}
	w.open(&Issue{Title: "ours", Post: Post{Author: actionsLogin}}).State = "closed"
	ask := func(args string) []string {
		t.Helper()
		a := w.ask("bob", fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { issues(first: 10, %s) { nodes { title } } } }`, args), nil).fine()
		return names(a, "title", "repository", "issues")
	}
	for args, want := range map[string]string{
		`labels: ["bug", "question"]`: "both bug question", // any of them
		`labels: ["nope"]`:            "",
		`labels: ["bug"], states: [OPEN], orderBy: {field: CREATED_AT, direction: DESC}`: "bug both",
		`filterBy: {createdBy: "ann"}, labels: ["question"]`:                             "both question",
		`filterBy: {createdBy: "github-actions[bot]"}`:                                   "ours",
		`filterBy: {createdBy: "github-actions"}`:                                        "",
		`filterBy: {createdBy: "ANN", since: "2026-03-01T14:00:00Z", states: [OPEN]}`:    "question none",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, ask(args)...), args)
	}
	for _, args := range []string{`labels: ["bug"]`, `assignee: null`, `mentioned: "ann"`, `viewerSubscribed: true`, `milestone: "*"`} {
		a := w.ask("bob", `{ repository(owner: "octo", name: "widgets") { issues(first: 1, filterBy: {`+args+`}) { totalCount } } }`, nil)
		require.Contains(t, a.raw, "by createdBy, states and since only", args)
	}
	first := w.ask("bob", `{ repository(owner: "octo", name: "widgets") { issues(first: 2, labels: ["bug", "question"]) { nodes { title } pageInfo { hasNextPage endCursor } } } }`, nil).fine()
	w.now = gqlNoon
	w.repo.Issues[3].State = "closed" // what went by does not shift the next page
	next := w.ask("bob", `query($after: String) { repository(owner: "octo", name: "widgets") { issues(first: 2, after: $after, states: [OPEN], labels: ["bug", "question"]) { nodes { title } pageInfo { hasNextPage } } } }`,
		map[string]any{"after": first.at("repository", "issues", "pageInfo", "endCursor")}).fine()
	require.Equal(t, []string{"question"}, names(next, "title", "repository", "issues"))
	require.Equal(t, false, next.at("repository", "issues", "pageInfo", "hasNextPage"))
}

func TestRefsBelowAPrefix(t *testing.T) {
	w := newGQLWorld(t)
	for _, branch := range []string{"gh-pr-1/main", "gh-pr-2/main", "gh-pr-2/topic", "gh-pr-3", "not-gh-pr-4"} {
		w.commit(branch, "main", map[string]string{"x.txt": branch})
	}
	ask := func(args string) []string {
		t.Helper()
		a := w.ask("bob", fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { refs(first: 10, %s) { nodes { name prefix } } } }`, args), nil).fine()
		var list []string
		for _, n := range a.at("repository", "refs", "nodes").([]any) {
			list = append(list, n.(map[string]any)["prefix"].(string)+"|"+n.(map[string]any)["name"].(string))
		}
		return list
	}
	for args, want := range map[string]string{
		`refPrefix: "refs/heads/gh-pr-2/"`:                 "refs/heads/gh-pr-2/|main refs/heads/gh-pr-2/|topic",
		`refPrefix: "refs/heads/gh-pr-"`:                   "",
		`refPrefix: "refs/heads/", query: "gh-pr-2"`:       "refs/heads/|gh-pr-2/main refs/heads/|gh-pr-2/topic",
		`refPrefix: "refs/heads/", query: "pr-3"`:          "refs/heads/|gh-pr-3",
		`refPrefix: "refs/heads/", query: "heads/gh-pr-3"`: "",
		`refPrefix: "refs/", query: "gh-pr-3"`:             "refs/|heads/gh-pr-3",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, ask(args)...), args)
	}
	a := w.ask("bob", `{ repository(owner: "octo", name: "widgets") { refs(first: 1, refPrefix: "refs/heads/agent/bugfix/") { nodes { name associatedPullRequests(first: 1) { nodes { number } } } } } }`, nil).fine()
	require.EqualValues(t, 2, a.at("repository", "refs", "nodes", 0, "associatedPullRequests", "nodes", 0, "number"))
}

// What of many numbers is not there is null, and has an error with its own path, beside the others.
func TestManyNumbersAtOnce(t *testing.T) {
	w := newGQLWorld(t)
	var q strings.Builder
	for n := 1; n <= 50; n++ {
		fmt.Fprintf(&q, "n%d: issueOrPullRequest(number: %[1]d) { __typename ... on Issue { state } ... on PullRequest { pullState: state } }\n", n)
	}
	a := w.ask("bob", `{ rateLimit { cost } repository(owner: "octo", name: "widgets") { `+q.String()+` } }`, nil)
	require.Equal(t, 200, a.status)
	require.Equal(t, "OPEN", a.at("repository", "n1", "state"))
	require.Equal(t, "OPEN", a.at("repository", "n2", "pullState"))
	require.Len(t, a.Errors, 48)
	seen := map[string]bool{}
	for _, e := range a.Errors {
		require.Equal(t, "NOT_FOUND", e["type"])
		path := e["path"].([]any)
		alias := path[1].(string)
		require.Equal(t, "Could not resolve to an issue or pull request with the number of "+alias[1:]+".", e["message"])
		require.Nil(t, a.at("repository", alias))
		seen[alias] = true
	}
	require.Len(t, seen, 48)
	require.EqualValues(t, 1, a.at("rateLimit", "cost"))
}

// An issue that comes with a number between others is listed, and one that is deleted is not.
func TestListsFollowWhatComesAndGoes(t *testing.T) {
	w := newGQLWorld(t)
	listed := func() []string {
		t.Helper()
		return names(w.ask("bob", `{ repository(owner: "octo", name: "widgets") { issues(first: 10) { nodes { number } } } }`, nil).fine(), "number", "repository", "issues")
	}
	seed := func(n int) {
		t.Helper()
		require.NoError(t, w.Seed(func(d *Seeder) error { return d.Issue("octo/widgets", SeedIssue{Number: n, Title: "T", Author: "ann"}) }))
	}
	seed(50)
	require.Equal(t, []string{"1", "50"}, listed())
	seed(7)
	require.Equal(t, []string{"1", "7", "50"}, listed())
	w.world.depart(w.repo.Issues[7], &Departure{Deleted: true})
	seed(8)
	require.Equal(t, []string{"1", "8", "50"}, listed())
}
