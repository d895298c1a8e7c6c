package turn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/turn"
)

// Tests that could not run are no failure that an agent fixes.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	installs := func(name string) string { return name + " is not installed: " + turn.Install }
	sh := []string{"sh", "-c", "pnpm install && pnpm test"}
	for name, c := range map[string]struct {
		argv   []string
		exit   int
		output string
		want   string
	}{
		"dash":                        {sh, 127, "sh: 1: pnpm: not found", installs("pnpm")},
		"dash, exec":                  {[]string{"uv", "run"}, 127, "/bin/sh: 1: exec: uv: not found\n", installs("uv")},
		"bash":                        {sh, 127, "bash: line 1: pnpm: command not found", installs("pnpm")},
		"busybox":                     {sh, 127, "sh: pnpm: not found", installs("pnpm")},
		"a script, which goes on":     {[]string{"scripts/test"}, 1, "scripts/test: line 3: jq: command not found\nFAIL", installs("jq")},
		"make":                        {[]string{"make", "test"}, 2, "cargo test\nmake: cargo: No such file or directory\nmake: *** [Makefile:2: test] Error 127", installs("cargo")},
		"make, by its shell":          {[]string{"make", "test"}, 2, "/bin/sh: 1: uv: not found\nmake[1]: *** [test] Error 127", installs("uv")},
		"the interpreter of a script": {[]string{"scripts/test"}, 127, "/usr/bin/env: ‘node’: No such file or directory", installs("node")},
		"npm, which has installed":    {[]string{"npm", "test"}, 127, "> x@1.0.0 test\n> jest\n\nsh: 1: jest: not found\n", installs("jest")},
		"not executable":              {[]string{"scripts/test"}, 126, "/bin/sh: 1: exec: scripts/test: Permission denied", "the command is not executable: commit it with git update-index --chmod=+x scripts/test, or name another command in the settings"},
		"not there":                   {[]string{"scripts/test"}, 127, "/bin/sh: 1: exec: scripts/test: not found", "the command was not found: commit it with git update-index --chmod=+x scripts/test, or name another command in the settings"},
		"a script of the agent's":     {[]string{"make", "test"}, 2, "/bin/sh: 1: scripts/new: Permission denied\nmake: *** [test] Error 126", ""},
		"a failure":                   {sh, 1, "--- FAIL: TestLookup\nerror: user: not found\nFAIL", ""},
		"long ago":                    {sh, 1, "sh: 1: jq: not found\n1\n2\n3\n4\nFAIL", ""},
		"nobody says what":            {[]string{"sh", "-c", "exit 127"}, 127, "", "the command was not found: " + turn.Install},
		"no output":                   {sh, 1, "", ""},
	} {
		missing, fix := turn.Unstarted(c.argv, c.exit, c.output)
		assert.Equal(t, c.want, strings.TrimSuffix(missing+": "+fix, ": "), name)
	}
}

func TestFirstProgram(t *testing.T) {
	t.Parallel()
	for want, argvs := range map[string][][]string{
		"go":   {{"go", "test", "./..."}},
		"pnpm": {{"sh", "-c", "pnpm install --frozen-lockfile && pnpm test"}, {"/bin/bash", "-euc", "pnpm;x"}},
		"":     {nil, {"scripts/test"}, {"sh", "-c", ""}, {"sh", "-c", ". venv/bin/activate && pytest"}, {"sh", "-c", "A=b pytest"}, {"sh", "-c", "cd web && npm test"}, {"sh", "-c", "$X"}, {"sh", "-c", "exit 1"}, {"sh", "-c", "! grep -r TODO ."}},
		"sh":   {{"sh", "test.sh"}, {"sh"}},
	} {
		for _, argv := range argvs {
			assert.Equal(t, want, turn.FirstProgram(argv), "%q", argv)
		}
	}
}
