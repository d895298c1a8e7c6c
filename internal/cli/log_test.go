package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheLogAtATerminal(t *testing.T) {
	h, _, _ := blockedHub(t)
	got := program(t, h.terminal("carol"), "log").ok(t)
	assert.Regexp(t, `(?m)^20\d\d-\d\d-\d\d \d\d:\d\d +#1 +blocked the pull request: history rewrite `, got.out)
	for _, since := range []string{"1h", "7d", "2w", "2026-01-31", "2026-01-31T12:00:00Z"} {
		assert.Equal(t, 0, program(t, h.terminal("carol"), "log", "--since", since).exit, since)
	}
	assert.Equal(t, "MergeXO did nothing in this period.\n", program(t, h.terminal("carol"), "log", "--since", "2100-01-01").out)
	assert.Equal(t, `{"log":[]}`+"\n", program(t, h.terminal("carol"), "log", "--since", "2100-01-01", "--json").out)
	assert.Equal(t, "No agent reported a cost in this period.\n", program(t, h.terminal("carol"), "log", "--cost").out)
	assert.Equal(t, `{"cost_usd":0,"costs":[]}`+"\n", program(t, h.terminal("carol"), "log", "--cost", "--json").out)
	for _, since := range []string{"36501d", "99999999999999999w", "9223372036854775807d"} { // the second and third are too large for a duration
		got := program(t, h.terminal("carol"), "log", "--since", since)
		assert.Equal(t, 2, got.exit, since)
		assert.Regexp(t, "^mergexo: --since", got.errout)
	}
	assert.Equal(t, 0, program(t, h.terminal("carol"), "log", "--since", "36500d").exit)
	for _, since := range []string{"yesterday", "d", "-3d", "0h", "7", "1.5d"} {
		got := program(t, h.terminal("carol"), "log", "--since", since)
		assert.Equal(t, 2, got.exit, since)
		assert.Equal(t, `mergexo: --since: want a time such as 12h, 7d or 2w, or a date such as 2026-01-31, got "`+since+"\"\n", got.errout)
	}
}
