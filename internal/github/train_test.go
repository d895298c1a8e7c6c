package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// One request tells of a train all that a run has to know: its record, its branches with their checks, base and settings.
func TestTheTrainOfABase(t *testing.T) {
	w := newWorld(t)
	main := w.tip("main")
	for _, branch := range []string{"mergexo/train/main/1", "mergexo/train/main/2", "mergexo/train/maintenance/1"} {
		w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/" + branch, "sha": main})
	}
	w.put("mergexo/train/main/1", "content", `{"version": 1}`)
	first := w.tip("mergexo/train/main/1")
	for _, run := range []map[string]any{
		{"name": "ci", "conclusion": "failure"}, {"name": "ci", "conclusion": "success"}, {"name": "lint", "status": "in_progress"},
	} {
		w.tick()
		run["head_sha"] = first
		w.as("github-actions[bot]", "POST", "check-runs", run)
	}

	c := w.client("actions")
	q := TrainQuery{Repo: widgets, Base: "main", Branches: "mergexo/train/main/", Manifest: first}
	view := must.Get(c.Threads.Train(t.Context(), q))(t)
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	assert.Equal(t, `{"version": 1}`, string(view.Manifest))
	assert.Equal(t, main, view.BaseSHA)
	assert.False(t, view.SettingsFound)
	require.Len(t, view.Branches, 2)
	assert.Equal(t, []string{"mergexo/train/main/1", "mergexo/train/main/2"}, []string{view.Branches[0].Name, view.Branches[1].Name})
	assert.Equal(t, first, view.Branches[0].SHA)
	states := map[string]model.CheckState{}
	for _, check := range view.Branches[0].Checks {
		states[check.Name] = check.State
	}
	assert.Equal(t, map[string]model.CheckState{"ci": model.CheckPassed, "lint": model.CheckPending}, states, "the newest of each")
	assert.Empty(t, view.Branches[1].Checks)

	// No branch and no check is left out, however little GitHub answers at once.
	for n := 3; n <= 23; n++ {
		w.as("octo", "POST", "git/refs", map[string]any{"ref": fmt.Sprintf("refs/heads/mergexo/train/main/%d", n), "sha": main})
	}
	for n := range 101 {
		w.as("github-actions[bot]", "POST", "check-runs", map[string]any{"name": fmt.Sprint("test ", n), "conclusion": "success", "head_sha": first})
	}
	for _, first := range []int{0, len(pageLimits) - 2} {
		c = w.client("actions")
		c.Threads.steps.Store("merge train", first)
		c.Threads.steps.Store("checks of a car", first)
		view = must.Get(c.Threads.Train(t.Context(), q))(t)
		assert.Len(t, view.Branches, 23)
		assert.False(t, view.Cut)
		assert.Equal(t, `{"version": 1}`, string(view.Manifest))
		assert.Equal(t, main, view.BaseSHA)
		assert.Len(t, view.Branches[0].Checks, 103)
		assert.False(t, view.Branches[0].More)
	}

	q.Base, q.Branches, q.Manifest = "gone", "mergexo/train/gone/", ""
	view = must.Get(c.Threads.Train(t.Context(), q))(t)
	assert.Equal(t, model.TrainView{Viewer: view.Viewer}, view)
	assert.Equal(t, "github-actions[bot]", view.Viewer.Login)
	q.Manifest = main
	assert.Nil(t, must.Get(c.Threads.Train(t.Context(), q))(t).Manifest, "a commit that is none of ours")
}
