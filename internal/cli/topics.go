package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/manual"
	"github.com/mergexo/mergexo/internal/nearest"
)

func isTopic(name string) bool {
	_, isPage := manual.Page(name)
	_, isKey := settingNamed(name)
	_, isSchema := manual.Schema(name)
	return isPage || isKey || isSchema
}

// settingNamed is a key of the settings by its whole name, such as merge.rule.branch.
func settingNamed(name string) (config.Key, bool) {
	keys := config.Keys()
	i := slices.IndexFunc(keys, func(k config.Key) bool { return k.Path() == name })
	if i < 0 {
		return config.Key{}, false
	}
	return keys[i], true
}

// printPage prints a page of the manual, what it says about one key of the settings, or a schema. If a command has the same name, its
// help comes first.
func printPage(ctx context.Context, p *program, topic string) error {
	if schema, ok := manual.Schema(topic); ok {
		_, err := io.WriteString(p.Out, schema)
		return err
	}
	if key, ok := settingNamed(topic); ok {
		_, err := io.WriteString(p.Out, manual.Plain(key.Describe(topic)))
		return err
	}
	app := p.app()
	if slices.ContainsFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(topic) }) {
		if err := app.RunContext(ctx, []string{app.Name, topic, "--help"}); err != nil {
			return err
		}
		fmt.Fprintln(p.Out)
	}
	page, _ := manual.Page(topic)
	_, err := io.WriteString(p.Out, manual.Plain(page))
	return err
}

// topicList is the end of the program's own help.
func topicList() string {
	var b strings.Builder
	b.WriteString("\nTOPICS: mergexo help TOPIC\n")
	for _, t := range manual.Topics {
		fmt.Fprintf(&b, "   %-14s %s\n", t.Name, t.About)
	}
	return b.String()
}

// noTopic is the error for a word after help that is neither a command nor a page, with the nearest that there is.
func noTopic(name string, known []*cli.Command) error {
	var names []string
	for _, c := range known {
		names = append(names, c.Name)
	}
	for _, t := range manual.Topics {
		names = append(names, t.Name)
	}
	for _, k := range config.Keys() {
		names = append(names, k.Path())
	}
	near, ok := nearest.To(name, names)
	if !ok {
		return usagef("no command or topic %q; mergexo help lists them", name)
	}
	return usagef("no command or topic %q; did you mean mergexo help %s?", name, near)
}

// badValue is how the library refuses a value, which it says in Go's words: https://pkg.go.dev/flag#FlagSet.Parse
var badValue = regexp.MustCompile(`^invalid (boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([a-z-]+): `)

// badFlag is the error for flags that cannot be read, such as one that a command does not have, with the nearest that it has.
func badFlag(c *cli.Command, err error) error {
	if m := badValue.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		return fmt.Errorf("--%s: want true, false or nothing, got %s", m[3], m[2])
	} else if m != nil {
		return fmt.Errorf("--%s: want a number, got %s", m[3], m[2])
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value", strings.TrimPrefix(name, "-"))
	}
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	var names []string
	for _, f := range c.Flags {
		names = append(names, f.Names()[0])
	}
	name = strings.TrimPrefix(name, "-")
	if near, ok := nearest.To(name, names); ok {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, near)
	}
	return fmt.Errorf("unknown flag --%s", name)
}
