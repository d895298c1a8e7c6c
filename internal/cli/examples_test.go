package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/report"
)

// idle lets every command do nothing but say which one it is, with the flags that were read.
func idle(commands []*cli.Command, ran *string) {
	for _, c := range commands {
		idle(c.Subcommands, ran)
		c.Action = func(ctx *cli.Context) error {
			*ran = strings.Join(append([]string{strings.TrimPrefix(ctx.Command.HelpName, "mergexo ")}, ctx.Args().Slice()...), " ")
			return nil
		}
	}
}

var shellWord = regexp.MustCompile(`"[^"]*"|\S+`)

// Every command has examples, and the program takes each as it stands there.
func TestExamplesAreWhatTheProgramTakes(t *testing.T) {
	p := &program{lookup: func(string) (string, bool) { return "", false }, out: report.NewScreen(t.Output()), errs: report.NewScreen(t.Output())}
	known := map[string]bool{}
	for _, e := range append([]entry{{path: ""}}, entries("", p.app().Commands)...) {
		if known[e.path] = true; e.path == "help" { // its help is the program's
			continue
		}
		require.NotEmpty(t, examples[e.path], e.path)
		for _, line := range examples[e.path] {
			typed, _, _ := strings.Cut(line, " > ")
			typed, _, _ = strings.Cut(typed, " | ")
			var args []string
			for _, word := range shellWord.FindAllString(typed, -1) {
				args = append(args, strings.Trim(word, `"`))
			}
			app, ran := p.app(), ""
			idle(app.Commands, &ran)
			require.NoError(t, app.RunContext(t.Context(), args), line)
			if e.path != "" && !strings.HasPrefix(ran, e.path+" ") { // a group shows those below it
				assert.Equal(t, e.path, ran, line)
			}
		}
	}
	for path := range examples {
		assert.True(t, known[path], path)
	}
}
