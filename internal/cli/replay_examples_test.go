//go:build examples

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// GitHub's own examples of every event: none is about a pull request that the invented repository tracks, so nothing may be
// written.
func TestReplayOfEveryExample(t *testing.T) {
	raw := text(t, filepath.Join(os.Getenv("MERGEXO_WEBHOOK_EXAMPLES"), "api.github.com", "index.json"))
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(raw), &events))
	require.Greater(t, len(events), 40)
	file := filepath.Join(t.TempDir(), "event.json")
	for _, e := range events {
		for _, example := range e.Examples {
			require.NoError(t, os.WriteFile(file, example, 0o600))
			said := replays(t, e.Name, file)
			assert.Contains(t, said, `"result":"nothing"`, "%s", example)
			assert.Contains(t, said, `"effects":[]`, "%s", example)
		}
	}
}
