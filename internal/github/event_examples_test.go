//go:build examples

package github

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// GitHub's own examples of every event, from npm's @octokit/webhooks-examples, in the directory MERGEXO_WEBHOOK_EXAMPLES.
func TestGitHubsOwnExamples(t *testing.T) {
	indexes := must.Get(filepath.Glob(filepath.Join(os.Getenv("MERGEXO_WEBHOOK_EXAMPLES"), "*", "index.json")))(t)
	seen := 0
	for _, file := range indexes {
		raw := must.Get(os.ReadFile(file))(t)
		var events []struct {
			Name     string
			Examples []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &events), file)
		for _, event := range events {
			for _, example := range event.Examples {
				understood(t, event.Name, example)
				seen++
			}
		}
	}
	assert.Greater(t, seen, 100)
}
