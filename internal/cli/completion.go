package cli

import (
	"embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

//go:embed completion
var completions embed.FS

// completionCommand prints scripts that ask the program, by the flag that the library has for it. None of them evaluates what somebody
// has typed, as the library's own script for bash does.
func completionCommand(p *program) *cli.Command {
	shell := func(name, how string) *cli.Command {
		return &cli.Command{
			Name: name, Usage: "print the completion script for " + name, Description: "To use it: " + how,
			Action: func(*cli.Context) error {
				text, err := completions.ReadFile("completion/" + name)
				if err == nil {
					_, err = p.Out.Write(text)
				}
				return err
			},
		}
	}
	return &cli.Command{
		Name: "completion", Usage: "print the script that completes commands and flags in your shell",
		Subcommands: []*cli.Command{
			shell("bash", "source <(mergexo completion bash), in ~/.bashrc."),
			shell("zsh", "source <(mergexo completion zsh), in ~/.zshrc after compinit; or put it into a directory of $fpath as _mergexo."),
			shell("fish", "mergexo completion fish > ~/.config/fish/completions/mergexo.fish"),
		},
	}
}

// complete prints what may follow on a line, each with its usage: commands and flags, and nothing where a flag's value does.
func complete(p *program) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		last := p.args[len(p.args)-2] // the one after it asks
		if len(c.Command.Subcommands) > 0 && c.Args().Present() {
			return // no command has that name
		}
		var found []string
		for _, sub := range c.Command.Subcommands {
			found = append(found, sub.Name+":"+sub.Usage)
		}
		for _, f := range c.Command.Flags {
			doc, ok := f.(cli.DocGenerationFlag)
			if !ok {
				continue
			}
			name := "--" + f.Names()[0]
			if name == last && doc.TakesValue() {
				return
			}
			found = append(found, name+":"+strings.ReplaceAll(doc.GetUsage(), "`", ""))
		}
		fmt.Fprintln(p.Out, strings.Join(found, "\n"))
	}
}
