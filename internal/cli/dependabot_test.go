package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// sentBy is the file of the newest delivery of an event, as somebody else has sent it.
func (h *hub) sentBy(event, sender string) string {
	h.t.Helper()
	var payload map[string]any
	require.NoError(h.t, json.Unmarshal(h.newest(event), &payload))
	payload["sender"] = map[string]any{"login": sender, "type": "Bot", "id": 49699333}
	raw := must.Get(json.Marshal(payload))(h.t)
	file := filepath.Join(h.t.(*testing.T).TempDir(), "event.json")
	require.NoError(h.t, os.WriteFile(file, bytes.TrimSpace(raw), 0o600))
	return file
}

// GitHub withholds the secrets from what Dependabot starts, whoever runs it again: nothing could be signed, and no App has a key.
func TestDependabotsEventsAreLeftToTheSweep(t *testing.T) {
	h := newHub(t, command(answers))
	before := h.comments()
	for name, env := range map[string][]string{
		"by the actor":  {"GITHUB_ACTOR=dependabot[bot]", "GITHUB_TRIGGERING_ACTOR=alice", "GITHUB_EVENT_PATH=" + h.sentBy("pull_request", "some-app[bot]")},
		"by the sender": {"GITHUB_EVENT_PATH=" + h.sentBy("pull_request", "dependabot[bot]")},
		"with an App":   {"GITHUB_ACTOR=dependabot[bot]", "MERGEXO_APP_ID=7", "GITHUB_EVENT_PATH=" + h.sentBy("pull_request", "dependabot[bot]")},
	} {
		got := program(t, h.env(append(env, "GITHUB_EVENT_NAME=pull_request")...), "run")
		assert.Equal(t, 0, got.exit, "%s: %s", name, got.errout)
		assert.Equal(t, "result: nothing, GitHub gives no secrets to a run that Dependabot started; the next sweep or comment continues\n", got.out, name)
		assert.Equal(t, before, h.comments(), name)
	}

	program(t, h.env("GITHUB_ACTOR=dependabot[bot]"), "run").ok(t)
	assert.NotEqual(t, before, h.comments(), "a comment runs on the default branch, with secrets")
}
