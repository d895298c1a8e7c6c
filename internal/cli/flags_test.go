package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A command that is given nothing to do shows what there is, and that is no error: so do gh, kubectl and docker.
func TestNothingToDoShowsTheHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"blocked"}, {"completion"}, {"--json"}} {
		got := program(t, nil, args...)
		assert.Equal(t, 0, got.exit, args)
		assert.Contains(t, got.out, "COMMANDS:", args)
		assert.Empty(t, got.errout, args)
	}
}

func TestFlagsMayStandBeforeTheCommand(t *testing.T) {
	t.Parallel()
	h := newHub(t, command(answers))
	for _, args := range [][]string{{"--json", "status"}, {"--json", "blocked", "list"}, {"blocked", "--json", "list"}, {"--verbose", "--json", "why", "--pr", "1"}} {
		assert.NotEmpty(t, object(t, program(t, h.terminal("octo"), args...).ok(t)), args)
	}
	assert.Contains(t, program(t, h.terminal("octo"), "--verbose", "status").errout, "msg=github_request ")
	for _, args := range [][]string{{"--json", "init"}, {"--json", "--verbose", "completion", "bash"}} {
		got := program(t, nil, args...).exits(t, 2)
		assert.Regexp(t, `^mergexo: (init|bash) takes no --json; see mergexo .* --help\n$`, got.errout)
		assert.Empty(t, got.out)
	}
}

// What is wrong with a flag is said in words of ours, whichever type its values have.
func TestFlagsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"why --pr x":                       `--pr: want a number, got "x"; see mergexo why --help`,
		"why --pr 99999999999999999999":    `--pr: want a number, got "99999999999999999999"; see mergexo why --help`,
		"blocked reset --pr 7 --pr 8,nine": `--pr: want a number, got "8,nine"; see mergexo blocked reset --help`,
		"log --pr":                         "--pr needs a value; see mergexo log --help",
		"status --json=maybe":              `--json: want true, false or nothing, got "maybe"; see mergexo status --help`,
		"status --pull 7":                  "unknown flag --pull; see mergexo status --help",
	} {
		assert.Equal(t, ran{exit: 2, errout: "mergexo: " + want + "\n"}, program(t, nil, strings.Fields(line)...), line)
	}
}

// Settings that do not hold end every command that reads them in the same way.
func TestBadSettingsAreExitCodeTwoEverywhere(t *testing.T) {
	t.Parallel()
	h := newHub(t, "[repo]\nnonsense = 1\n")
	for _, args := range [][]string{{"sweep"}, {"why", "--pr", "1"}, {"status"}, {"status", "--pr", "1"}, {"blocked", "list"}} {
		got := program(t, h.terminal("octo"), args...)
		assert.Equal(t, 2, got.exit, "%s: %s%s", args, got.out, got.errout)
		assert.Contains(t, got.errout, "mergexo.toml", args)
	}
}
