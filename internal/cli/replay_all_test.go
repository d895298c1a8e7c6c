//go:build all

package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryEventOfTheListIsMadeForPrograms(t *testing.T) {
	t.Parallel()
	var all struct {
		Events []struct{ Event, Body string }
	}
	require.NoError(t, json.Unmarshal([]byte(program(t, nil, "replay", "--list", "--json").out), &all))
	for _, one := range all.Events {
		got := program(t, nil, "replay", "--make", one.Event, "--body", one.Body, "--json").ok(t)
		assert.Equal(t, "done", object(t, got)["result"], one.Event)
	}
}
