package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestReact(t *testing.T) {
	w, n := newPull(t)
	sha := w.as("ada", "GET", fmt.Sprintf("pulls/%d", n), nil)["head"].(map[string]any)["sha"]
	said := id(w.as("ada", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "/mergexo status"}))
	line := id(w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 1, "body": "why", "commit_id": sha}))
	c := w.client("actions")
	for _, content := range []string{ReactionEyes, ReactionEyes, ReactionRocket} {
		require.NoError(t, c.Comments.React(t.Context(), widgets, model.Comment{Kind: model.KindIssue, ID: said}, content))
	}
	require.NoError(t, c.Comments.React(t.Context(), widgets, model.Comment{Kind: model.KindReview, ID: line}, ReactionConfused))
	assert.Equal(t, "4 REST, 0 GraphQL", calls(c))
	for path, want := range map[string]map[string]float64{
		fmt.Sprintf("issues/comments/%d", said): {"eyes": 1, "rocket": 1, "confused": 0},
		fmt.Sprintf("pulls/comments/%d", line):  {"eyes": 0, "rocket": 0, "confused": 1},
	} {
		got := w.as("ada", "GET", path, nil)["reactions"].(map[string]any)
		for content, times := range want {
			assert.Equal(t, times, got[content], "%s on %s", content, path)
		}
	}

	snap := must.Get(w.client("actions").Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n}))(t)
	left := map[int64][]bool{}
	for _, one := range snap.Comments {
		left[one.ID] = []bool{one.Seen, one.Closed}
	}
	assert.Equal(t, map[int64][]bool{said: {true, true}, line: {false, true}}, left, "the snapshot tells our own")
	snap = must.Get(w.client("ada").Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n}))(t)
	assert.Equal(t, []bool{false, false}, []bool{snap.Comments[0].Seen, snap.Comments[0].Closed}, "and nobody else's")

	require.NoError(t, c.Comments.React(t.Context(), widgets, model.Comment{Kind: model.KindReviewSummary, ID: 5}, ReactionEyes))
	assert.Equal(t, "4 REST, 0 GraphQL", calls(c), "REST has no such call")
	for _, kind := range []model.Kind{model.KindIssue, model.KindReview} {
		require.NoError(t, c.Comments.React(t.Context(), widgets, model.Comment{Kind: kind, ID: 404}, ReactionEyes), "what is gone needs none")
		failure(t, c.Comments.React(t.Context(), widgets, model.Comment{Kind: kind, ID: map[model.Kind]int64{model.KindIssue: said, model.KindReview: line}[kind]}, "meh"), Invalid)
	}
}

// A reaction that is there already stays one, so a call whose effect is unknown may be made again.
func TestAReactionIsSentAgain(t *testing.T) {
	const made = `{"id": 1, "content": "eyes"}`
	eyes := func(l *line) error {
		return l.Comments.React(t.Context(), widgets, model.Comment{Kind: model.KindIssue, ID: 5}, ReactionEyes)
	}
	l := dial(t, Options{}, reply{status: 502}, reply{status: 200, body: made})
	require.NoError(t, eyes(l))
	assert.Len(t, l.seen, 2)
	assert.Equal(t, "/api/v3/repos/octo/widgets/issues/comments/5/reactions", l.seen[0].URL.Path)
	l = dial(t, Options{}, reply{status: 502})
	failure(t, eyes(l), Unclear)
	assert.Len(t, l.seen, tries)
	require.NoError(t, eyes(dial(t, Options{}, reply{status: 410})))
	l = dial(t, Options{}, reply{status: 403})
	failure(t, eyes(l), Forbidden)

	w, n := newPull(t)
	said := id(w.as("ada", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "x"}))
	w.control("faults", map[string]any{"after": true, "drop": true, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/"}})
	require.NoError(t, w.client("actions").Comments.React(t.Context(), widgets, model.Comment{Kind: model.KindIssue, ID: said}, ReactionEyes))
	assert.Equal(t, 1.0, w.as("ada", "GET", fmt.Sprintf("issues/comments/%d", said), nil)["reactions"].(map[string]any)["eyes"])
}
