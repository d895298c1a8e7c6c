//go:build agents

package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryFlagOfTheProgramsIsThoughtAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules flags
		help  []string
	}{
		{codexFlags, helped(t, "codex", "exec", "--help")},
		{claudeFlags, helped(t, "claude", "--help")},
	} {
		var known []string
		for flag := range c.rules.free {
			known = append(known, flag)
			assert.NotContains(t, c.rules.ours, flag, "a flag is free or it is not")
		}
		for flag := range c.rules.ours {
			known = append(known, flag)
		}
		assert.Greater(t, len(c.help), 20)
		assert.ElementsMatch(t, c.help, known, c.rules.program)
	}
}
