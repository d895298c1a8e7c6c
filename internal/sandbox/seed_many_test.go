package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	files, err := w.pullFiles(i)
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "changes/69.txt", files[0].Path)
	commits, err := w.pullCommits(i)
	require.NoError(t, err)
	assert.Equal(t, []string{w.branchSHA(w.repo, "agent/59")}, commits)
	assert.Equal(t, commits[0], w.repo.Refs["refs/pull/69/head"])
	assert.Equal(t, commits[0], i.Pull.HeadSHA)
	assert.Equal(t, "MERGEABLE", w.mergeable(i))
	assert.Greater(t, w.nextID(), int64(9_000_000_059))
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
		assert.Empty(t, w.branchSHA(w.repo, "y"), name)
	}
}
