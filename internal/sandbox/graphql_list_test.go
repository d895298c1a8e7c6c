package sandbox

import (
	"fmt"
	"strings"
	"testing"

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
