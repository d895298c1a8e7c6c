package github

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What a rewrite took away is told by the request that tells of the rewrite.
func TestLost(t *testing.T) {
	w, _ := newPull(t)
	start := w.tip("agent/7")
	for _, path := range []string{"one", "two", "three"} {
		w.put("agent/7", path, path)
	}
	old := w.tip("agent/7")
	w.as("octo", "PATCH", "git/refs/heads/agent/7", map[string]any{"sha": start, "force": true})
	w.put("agent/7", "other", "x")
	rewritten := w.tip("agent/7")

	c := w.client("actions")
	relation, lost, more, err := c.Commits.Lost(t.Context(), widgets, old, rewritten, 10)
	require.NoError(t, err)
	assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
	assert.Equal(t, model.Diverged, relation)
	assert.False(t, more)
	var subjects []string
	for _, commit := range lost {
		assert.NotEmpty(t, commit.Author)
		subjects = append(subjects, commit.Subject)
	}
	assert.Equal(t, []string{"put one", "put two", "put three"}, subjects)
	assert.Equal(t, old, lost[2].SHA)

	for _, q := range []struct {
		name, earlier, later string
		most, lost           int
		relation             model.Relation
		more                 bool
	}{
		{"only the newest", old, rewritten, 2, 2, model.Diverged, true},
		{"none asked for", old, rewritten, 0, 0, model.Diverged, true},
		{"rewound", old, start, 10, 3, model.Behind, false},
		{"continued", start, rewritten, 10, 0, model.Ahead, false},
		{"abbreviated", old[:10], rewritten[:10], 10, 3, model.Diverged, false},
		{"nothing moved", old, old, 10, 0, model.Identical, false},
		{"a commit that GitHub does not have", strings.Repeat("0", 40), rewritten, 10, 0, model.Unknown, false},
	} {
		relation, lost, more, err := c.Commits.Lost(t.Context(), widgets, q.earlier, q.later, q.most)
		require.NoError(t, err)
		assert.Equal(t, []any{q.relation, q.lost, q.more}, []any{relation, len(lost), more}, q.name)
		assert.Equal(t, relation, must.Get(c.Commits.Compare(t.Context(), widgets, q.earlier, q.later))(t), q.name)
	}

	l := dial(t, Options{}, reply{404, `{"message": "No common ancestor between aaa and bbb."}`, nil})
	relation, lost, more, err = l.Commits.Lost(t.Context(), widgets, "aaa", "bbb", 10)
	require.NoError(t, err)
	assert.Equal(t, []any{model.Diverged, 0, true}, []any{relation, len(lost), more}, "all of it is lost")
	assert.Equal(t, "/api/v3/repos/octo/widgets/compare/bbb...aaa", l.seen[0].RequestURI)
	l = dial(t, Options{}, reply{200, `{"status": "sideways"}`, nil})
	assert.Equal(t, model.Unknown, must.Get(l.Commits.Compare(t.Context(), widgets, "aaa", "bbb"))(t))
	l = dial(t, Options{}, reply{500, ``, nil})
	_, _, _, err = l.Commits.Lost(t.Context(), widgets, "aaa", "bbb", 10)
	failure(t, err, Unavailable)
}

func TestResolveCommit(t *testing.T) {
	w, _ := newPull(t)
	head := w.tip("agent/7")
	c := w.client("actions")
	for _, prefix := range []string{head, head[:7], strings.ToUpper(head[:12])} {
		assert.Equal(t, head, must.Get(c.Commits.Resolve(t.Context(), widgets, prefix))(t))
	}
	assert.Equal(t, "3 REST, 0 GraphQL", calls(c))
	for _, prefix := range []string{"", head[:6], head + "0", "main", head[:7] + "^", "../../../user"} {
		fails(c.Commits.Resolve(t.Context(), widgets, prefix))(t, Invalid)
	}
	assert.Equal(t, "3 REST, 0 GraphQL", calls(c), "what no commit can be called is not asked for")
	_, err := c.Commits.Resolve(t.Context(), widgets, "0000000")
	assert.Equal(t, "find commit 0000000 in octo/widgets: there is no such commit, or more than one", failure(t, err, NotFound).Error())
	fails(c.Commits.Resolve(t.Context(), model.Repo{Owner: "octo", Name: "nothing"}, head))(t, NotFound)

	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/facade00", "sha": head})
	assert.Contains(t, fails(c.Commits.Resolve(t.Context(), widgets, "facade00"))(t, Invalid).Error(), "a branch or a tag")

	for status, answer := range map[int]struct {
		text string
		kind Kind
	}{409: {"Git Repository is empty.", NotFound}, 422: {"abc1234 is ambiguous", Invalid}, 503: {"", Unavailable}, 403: {"", Forbidden}} {
		l := dial(t, Options{}, reply{status, `{"message": "` + answer.text + `"}`, nil})
		_, err := l.Commits.Resolve(t.Context(), widgets, "abc1234")
		failure(t, err, answer.kind)
		assert.Contains(t, l.seen[0].Header.Get("Accept"), "sha", "the name alone, not the diff")
	}
}
