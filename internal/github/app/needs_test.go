package app

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// A token may change workflows only where it may push at all and the installation grants it.
func TestWhoAsksToWriteWorkflows(t *testing.T) {
	t.Parallel()
	given := map[string]string{"contents": "write", "pull_requests": "write", "issues": "write"}
	ask, missing := grant(ToWrite, model.Installation{Permissions: given})
	assert.Empty(t, missing)
	assert.NotContains(t, ask, "workflows")
	given["workflows"] = "write"
	ask, _ = grant(ToWrite, model.Installation{Permissions: given})
	assert.Equal(t, "write", ask["workflows"])
	ask, _ = grant(ToRead, model.Installation{Permissions: given})
	assert.NotContains(t, ask, "workflows", "the agent's job only reads")

	tokens := &Tokens{}
	assert.True(t, tokens.Workflows(), "not asked yet")
	tokens.installed = &model.Installation{Permissions: given}
	assert.True(t, tokens.Workflows())
	tokens.installed = &model.Installation{Permissions: map[string]string{"contents": "write", "workflows": "read"}}
	assert.False(t, tokens.Workflows())
}
