package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plans runs the first step of the workflow, which has no checkout, and gives the step output work and what it printed.
func plans(t *testing.T, h *hub, event, payload string) (work string, got ran) {
	t.Helper()
	env, output, _ := h.atWork(event, payload)
	got = program(t, env, "run", "--plan").ok(t)
	_, rest, found := strings.Cut(text(t, output), "work=")
	require.True(t, found, "the steps behind it need an answer: %s", got.errout)
	work, _, _ = strings.Cut(rest, "\n")
	return work, got
}

func TestTheFirstStepFindsOutWhetherThereIsWork(t *testing.T) {
	h := newHub(t, command(answers))
	const schedule = `{"schedule": "17 * * * *"}`
	work, got := plans(t, h, "schedule", schedule)
	assert.Equal(t, "true", work)
	assert.Equal(t, "there is work: 1 (feedback), repository (conflicts)\n", got.out)
	assert.NotContains(t, h.comments(), "MergeXO", "it does none of it")

	env, _, _ := h.atWork("schedule", schedule)
	require.Equal(t, 0, program(t, env, "run").exit)
	said := h.comments()
	work, got = plans(t, h, "schedule", schedule)
	assert.Equal(t, "false", work)
	assert.Contains(t, got.out, "nothing to do; looked at 1 open pull request; ")

	h.api("alice", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "Once more."})
	const comment = `{"action": "created", "issue": {"number": 1, "pull_request": {}}, "comment": {"id": 9, "body": "x\nwork=false", "user": {"login": "LOGIN", "type": "User"}}, "repository": {"full_name": "octo/widgets"}, "sender": {"login": "LOGIN", "type": "User"}}`
	work, _ = plans(t, h, "issue_comment", strings.ReplaceAll(comment, "LOGIN", "alice"))
	assert.Equal(t, "true", work)
	env, _, _ = h.atWork("issue_comment", strings.ReplaceAll(comment, "LOGIN", "alice"))
	require.Equal(t, 0, program(t, env, "run").exit)

	env, output, summary := h.atWork("issue_comment", strings.ReplaceAll(comment, "LOGIN", "alice"))
	require.Equal(t, 0, program(t, env, "run", "--plan").exit)
	assert.Contains(t, text(t, output), "work=false\nresult=nothing\n", "where it is the only step it reports like a run")
	assert.Contains(t, text(t, summary), "MergeXO")
	assert.NotEqual(t, said, h.comments())
}

func TestWhatTheFirstStepDoesNotUnderstandIsLeftToTheRun(t *testing.T) {
	h := newHub(t, command(answers))
	for event, payload := range map[string]string{
		"deployment":    `{"repository": {"full_name": "octo/widgets"}}`, // unknown
		"issue_comment": `[]`,
		"pull_request":  `{"repository": {"full_name": "octo/gears"}}`, // another repository's
	} {
		work, _ := plans(t, h, event, payload)
		assert.Equal(t, "true", work, event)
	}
	const pull = `{"action": "synchronize", "number": 1, "pull_request": {"number": 1}, "repository": {"full_name": "octo/widgets"}, "sender": {"login": "dependabot[bot]", "type": "Bot"}}`
	work, got := plans(t, h, "pull_request", pull)
	assert.Equal(t, "false", work)
	assert.Contains(t, got.out, "GitHub gives no secrets to a run that Dependabot started")

	h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(`{"match": {"path": "/api/graphql"}, "status": 503, "times": 99}`))
	for _, event := range []string{"schedule", "issue_comment"} {
		payload := map[string]string{"schedule": `{"schedule": "17 * * * *"}`, "issue_comment": `{"action": "created", "issue": {"number": 1}, "comment": {"id": 9, "body": "x", "user": {"login": "alice"}}, "repository": {"full_name": "octo/widgets"}, "sender": {"login": "alice"}}`}[event]
		work, _ := plans(t, h, event, payload)
		assert.Equal(t, "true", work, "%s: a server that is down says nothing about the work", event)
	}
}
