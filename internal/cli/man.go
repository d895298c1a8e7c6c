package cli

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

//go:embed man.md
var manTemplate string

// manCommand prints the manual page that the library makes of a template and the commands.
func manCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page",
		Description: "To read it: mergexo man | man -l -. To install it: mergexo man > ~/.local/share/man/man1/mergexo.1",
		Action: func(*cli.Context) error {
			page, err := manPage(p.app())
			if err == nil {
				_, err = io.WriteString(p.Out, page)
			}
			return err
		},
	}
}

// manPage is the manual page of section 1. The library shows a command's usage only, so it gets all that there is to say as that.
func manPage(app *cli.App) (string, error) {
	cli.MarkdownDocTemplate = manTemplate
	all := &cli.Command{Name: "COMMANDS"}
	for _, e := range entries("", app.Commands) {
		usage := strings.ToUpper(e.Usage[:1]) + e.Usage[1:] + ".\n\n" + e.Description
		if lines := examples[e.path]; len(lines) > 0 {
			usage += "\n\nExamples:\n" + typed(lines)
		}
		flags := slices.DeleteFunc(slices.Clone(e.Flags), func(f cli.Flag) bool { return f.Names()[0] == "color" }) // the program's own
		all.Subcommands = append(all.Subcommands, &cli.Command{Name: "mergexo " + e.path, Usage: usage, Flags: flags})
	}
	app.Commands, app.Description = []*cli.Command{all}, typed(examples[""])
	return app.ToManWithSection(1)
}

// typed are lines to type, as a block.
func typed(lines []string) string { return "\n    " + strings.Join(lines, "\n    ") + "\n" }

// entry is a command and its place, such as "blocked list".
type entry struct {
	*cli.Command
	path string
}

// entries are all commands below a place, each before its own.
func entries(below string, commands []*cli.Command) (all []entry) {
	for _, c := range commands {
		path := strings.TrimSpace(below + " " + c.Name)
		all = append(append(all, entry{c, path}), entries(path, c.Subcommands)...)
	}
	return all
}
