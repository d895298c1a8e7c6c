package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// entry is a command as the completions and the manual page tell of it. The first of a table is the program itself.
type entry struct {
	path        string // "blocked list"; "" is the program
	usage, text string
	subs        []entry
	options     []option
}

// name is the last word of its path.
func (e entry) name() string { return e.path[strings.LastIndex(e.path, " ")+1:] }

// option is a flag of a command.
type option struct {
	name, usage string
	value       string // the placeholder of its value; "" takes none
	initial     string // the value that it has unless given; "" is none
}

// table is what there is to say about all commands, the program's own entry first and every command before its subcommands.
func table(app *cli.App) []entry {
	root := entryOf("", &cli.Command{Usage: app.Usage, Description: app.Description, Flags: app.Flags, Subcommands: app.Commands})
	return root.all()
}

func entryOf(path string, c *cli.Command) entry {
	e := entry{path: path, usage: c.Usage, text: c.Description}
	for _, f := range c.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && f != cli.HelpFlag {
			e.options = append(e.options, optionOf(f.Names()[0], d))
		}
	}
	e.options = append(e.options, option{name: "help", usage: "print the help of this command"})
	for _, sub := range c.Subcommands {
		e.subs = append(e.subs, entryOf(strings.TrimSpace(path+" "+sub.Name), sub))
	}
	return e
}

// placeholder is the name of a flag's value in its usage: https://cli.urfave.org/v2/examples/flags/#placeholder-values
var placeholder = regexp.MustCompile("`([^`]+)`")

func optionOf(name string, d cli.DocGenerationFlag) option {
	o := option{name: name, usage: strings.ReplaceAll(d.GetUsage(), "`", "")}
	if !d.TakesValue() {
		return o
	}
	o.value = "VALUE"
	if m := placeholder.FindStringSubmatch(d.GetUsage()); m != nil {
		o.value = m[1]
	}
	if f, ok := d.(*cli.StringFlag); ok {
		o.initial = f.Value
	}
	return o
}

// all is an entry and all that are below it.
func (e entry) all() []entry {
	out := []entry{e}
	for _, sub := range e.subs {
		out = slices.Concat(out, sub.all())
	}
	return out
}

// takes are the places, such as "blocked list --repo", of all options with a value for which want holds.
func takes(table []entry, want func(value string) bool) []string {
	var out []string
	for _, e := range table {
		for _, o := range e.options {
			if o.value != "" && want(o.value) {
				out = append(out, e.path+" --"+o.name)
			}
		}
	}
	return out
}

func anyValue(string) bool { return true }
func isFile(v string) bool { return v == "FILE" }
func isDir(v string) bool  { return v == "DIR" }
