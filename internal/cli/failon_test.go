package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatFailsTheStep(t *testing.T) {
	h := newHub(t, command("exit 1"))
	got := program(t, h.env("GITHUB_ACTIONS=true", "MERGEXO_FAIL_ON=faild"), "run").exits(t, 2)
	assert.Equal(t, "mergexo: fail-on: \"faild\" is unknown; did you mean failed?\n", got.errout)
	assert.NotContains(t, h.comments(), "MergeXO", "nothing was done before it was noticed")

	got = program(t, h.env("GITHUB_ACTIONS=true", "MERGEXO_FAIL_ON=blocked\nfailed\n"), "run").exits(t, 1)
}

// The dashboard's workflow publishes the page that such a step draws: it must not continue without one.
func TestFailOnIsNotForCommandsThatOnlyRead(t *testing.T) {
	h := newHub(t, command(answers))
	h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(`{"match": {"path": "/api/graphql"}, "status": 503, "times": 99}`))
	env, _, _ := h.atWork("schedule", `{"schedule": "17 * * * *"}`)
	assert.Equal(t, 75, program(t, env, "status").exit)
}
