package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// Pull requests that were added together are like any others.
func TestManyPullRequests(t *testing.T) {
	w := newGQLWorld(t)
	var many []SeedPull
	for n := range 60 {
		many = append(many, SeedPull{Base: "main", Head: fmt.Sprint("agent/", n), PullID: int64(9_000_000_000 + n), SeedIssue: SeedIssue{Number: 10 + n, Title: "A title\nof two lines", Author: "ann"}})
	}
	require.NoError(t, w.Seed(func(d *Seeder) error { return d.Pulls("octo/widgets", many) }))
	i := w.repo.Issues[69]
	require.NotNil(t, i)
	files := must.Get(w.pulls.files(i))(t)
	require.Len(t, files, 1)
	assert.Equal(t, "changes/69.txt", files[0].Path)
	commits := must.Get(w.pulls.commits(i))(t)
	assert.Equal(t, []string{w.git.branchSHA(w.repo, "agent/59")}, commits)
	assert.Equal(t, commits[0], w.repo.Refs["refs/pull/69/head"])
	assert.Equal(t, commits[0], i.Pull.HeadSHA)
	assert.Equal(t, "MERGEABLE", w.pulls.mergeable(i))
	assert.Greater(t, w.world.nextID(), int64(9_000_000_059))
	w.commit("agent/59", "", map[string]string{"more.txt": "more\n"})
	assert.NotEqual(t, commits[0], i.Pull.HeadSHA, "it follows its branch")

	for name, bad := range map[string]SeedPull{
		"no base":             {Base: "nope", Head: "x", SeedIssue: SeedIssue{Number: 100}},
		"a known head":        {Base: "main", Head: "agent/1", SeedIssue: SeedIssue{Number: 100}},
		"from a fork":         {Base: "main", Head: "x", HeadRepo: "eve/widgets", SeedIssue: SeedIssue{Number: 100}},
		"merged":              {Base: "main", Head: "x", Merged: true, SeedIssue: SeedIssue{Number: 100}},
		"a number of another": {Base: "main", Head: "y", SeedIssue: SeedIssue{Number: 10, Author: "ann"}},
	} {
		assert.Error(t, w.Seed(func(d *Seeder) error { return d.Pulls("octo/widgets", []SeedPull{bad}) }), name)
		assert.Empty(t, w.git.branchSHA(w.repo, "y"), name)
	}

	before := len(w.repo.Refs)
	for _, heads := range [][]string{{"x", "x/y"}, {"fine", "main/y"}, {"fine", "fine"}, {"fine", "bad..name"}, {"fine", "agent"}} { // none of them is made
		var many []SeedPull
		for n, head := range heads {
			many = append(many, SeedPull{Base: "main", Head: head, SeedIssue: SeedIssue{Number: 150 + n, Title: "T", Author: "ann"}})
		}
		require.Error(t, w.Seed(func(d *Seeder) error { return d.Pulls("octo/widgets", many) }), "%v", heads)
	}
	require.Len(t, w.repo.Refs, before)
	require.Nil(t, w.repo.Issues[150])
}

// Thousands are opened by one request: each with its marker, and some that cannot be merged beside each other.
func TestPullRequestsInNumbers(t *testing.T) {
	w := newTown(t)
	w.as("octo", "POST", repoPath+"/issues", obj{"title": "One"}).want(201)
	for field, bad := range map[string]obj{
		"count:": {}, "branch:": {"count": 2, "branch": "same"}, "overlap:": {"count": 2, "overlap": -1}, "repository:": {"count": 2, "repository": "octo/nope"},
		"base branch": {"count": 2, "base": "nope"}, "is not a branch name": {"count": 1, "branch": "a..b $NUMBER"},
	} {
		require.Contains(t, string(w.as("", "PUT", "/_sandbox/pulls", bad).want(422).body), field)
	}
	told := w.deliveries()
	made := w.as("", "PUT", "/_sandbox/pulls", obj{"count": 30, "overlap": 10, "label": "agent:small-job", "branch": "agent/small/$NUMBER-é",
		"body": "Fixes #1", "comment": "Of $NUMBER, $BRANCH at $HEAD."}).want(201).obj()
	require.Equal(t, obj{"first": 2.0, "last": 31.0}, made)
	require.Equal(t, told, w.deliveries())
	p := w.as("", "GET", repoPath+"/pulls/12", nil).want(200).obj()
	require.Equal(t, "agent/small/12-é", p["head"].(obj)["ref"])
	head := p["head"].(obj)["sha"].(string)
	said := w.as("", "GET", repoPath+"/issues/12/comments", nil).want(200).list()
	require.Equal(t, "Of 12, agent/small/12-é at "+head+".", said[0]["body"])
	require.Equal(t, actionsLogin, said[0]["user"].(obj)["login"])
	require.Equal(t, "agent:small-job", p["labels"].([]any)[0].(obj)["name"])

	c := w.clone("octo")
	out, err := c.try("merge-tree", "--write-tree", "origin/agent/small/2-é", "origin/agent/small/12-é")
	require.Error(t, err, "they change one line")
	require.Contains(t, out, "changes/shared.txt")
	c.git("merge-tree", "--write-tree", "origin/agent/small/2-é", "origin/agent/small/3-é")
	c.git("checkout", "-q", "agent/small/12-é")
	now := c.push("more.txt", "more\n")
	require.Equal(t, now, w.as("", "GET", repoPath+"/pulls/12", nil).obj()["head"].(obj)["sha"])
	c.git("push", "-q", "origin", ":agent/small/13-é")

	w.restart()
	require.Equal(t, now, w.as("", "GET", repoPath+"/pulls/12", nil).obj()["head"].(obj)["sha"])
	require.Equal(t, "closed", w.as("", "GET", repoPath+"/pulls/13", nil).obj()["state"])
	w.as("", "PUT", "/_sandbox/pulls", obj{"count": 2}).want(201)
	require.Equal(t, "open", w.as("", "GET", repoPath+"/pulls/33", nil).want(200).obj()["state"])
}

// Whether they can be merged is asked of git at once for all whose test has begun.
func TestManyAreTestedTogether(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/pulls", obj{"count": 20, "overlap": 4}).want(201)
	c := w.clone("octo")
	c.push("changes/shared.txt", "As main has it.\n")
	shown := func() map[string]int {
		t.Helper()
		count := map[string]int{}
		for _, n := range w.ask(`{ repository(owner: "octo", name: "widgets") { pullRequests(first: 50) { nodes { mergeable } } } }`)["repository"].(obj)["pullRequests"].(obj)["nodes"].([]any) {
			count[n.(obj)["mergeable"].(string)]++
		}
		return count
	}
	require.Equal(t, map[string]int{"UNKNOWN": 20}, shown())
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
	require.NotEmpty(t, w.s.world.repository("octo", "widgets").Issues[20].Pull.Test.Result)
	c.git("push", "-q", "origin", "main^:refs/heads/elsewhere")
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
	c.push("more.txt", "more\n")
	require.Equal(t, map[string]int{"UNKNOWN": 20}, shown(), "the base moved")
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
}
