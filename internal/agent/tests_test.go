package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
)

func TestAFiltersOutputIsItsStandardOutputAlone(t *testing.T) {
	opt := agent.Options{Env: []string{"PATH=" + os.Getenv("PATH")}, Temp: t.TempDir()}
	dir := checkoutOf(t, map[string]string{"greet.txt": letter})
	out := must.Get(agent.Filter(t.Context(), dir, []string{"sh", "-c", "cat greet.txt; echo aside >&2; tr a-z A-Z"}, []byte("from stdin\n"), opt))(t)
	assert.Equal(t, letter+"FROM STDIN\n", string(out))

	_, err := agent.Filter(t.Context(), dir, []string{"sh", "-c", "echo half; echo why >&2; exit 3"}, nil, opt)
	failed := failure(t, err)
	assert.Equal(t, 3, failed.Exit)
	assert.Equal(t, "why", strings.TrimSpace(failed.Stderr))
	for _, none := range [][]string{nil, {""}} {
		require.EqualError(t, must.Err(agent.Filter(t.Context(), dir, none, nil, opt)), "the command is empty")
		require.EqualError(t, agent.RunTests(t.Context(), dir, none, opt), "required tests: the command is empty")
	}
}
