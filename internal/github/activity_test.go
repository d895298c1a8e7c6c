package github

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestPushesTellWhoMadeThem(t *testing.T) {
	w := newWorld(t)
	start := w.tip("main")
	w.as("octo", "PUT", "contents/a.txt", map[string]any{"message": "put", "content": "YQo="})
	first := w.tip("main")
	w.as("actions", "PUT", "contents/b.txt", map[string]any{"message": "put", "content": "YQo=", "author": map[string]any{"name": "octo", "email": "octo@example.com"}})
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/main2", "sha": first})
	pushes := must.Get(w.client("actions").Refs.Pushes(t.Context(), widgets, "main"))(t)
	require.GreaterOrEqual(t, len(pushes), 2)
	assert.Equal(t, []string{first, w.tip("main"), "github-actions[bot]"}, []string{pushes[0].Before, pushes[0].After, pushes[0].By.Login}, "the newest first")
	assert.Equal(t, []string{start, first, "octo"}, []string{pushes[1].Before, pushes[1].After, pushes[1].By.Login})
	assert.False(t, pushes[0].At.IsZero())

	_ = must.Get(w.client("actions").Refs.Pushes(t.Context(), widgets, "nowhere"))(t)
}
