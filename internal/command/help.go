package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// help lists the commands.
func help(c Case) Answer {
	var b strings.Builder
	b.WriteString("**Commands.** Put each one on its own line in a new comment. The agent does not read a comment with a command.")
	if n := c.Policy.OperationsIssue; n != 0 {
		fmt.Fprintf(&b, " In #%d every command takes `pr=NUMBER`.", n)
	}
	b.WriteString("\n\n| command | |\n| --- | --- |")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "\n| `%s` | %s |", strings.ReplaceAll(v.syntax(), "|", "\\|"), v.does) // escaped even inside code
	}
	return c.answer(model.Help, "%s", b.String())
}

// mistaken answers a command that could not be read: what is wrong, and how the one command is written that was meant.
func (c Case) mistaken() Answer {
	v, ok := verbNamed(cmp.Or(c.Command.Name, c.Command.Meant))
	if !ok {
		return c.reject("%s `%s help` explains them.", sentence(c.Command.Problem), Word)
	}
	return c.reject("%s\n\n`%s`: %s. `%s help` lists all commands.", sentence(c.Command.Problem), v.syntax(), v.does, Word)
}

// syntax is how a command is written.
func (v verb) syntax() string {
	line := Word + " " + v.name
	var words []string
	for _, k := range v.keys {
		switch {
		case k == wordBecause:
			line += " [" + k + " TEXT]"
		case isWord(k):
			words = append(words, k)
		default:
			line += " [" + k + "=" + map[string]string{keyHead: "SHA", keySHA: "SHA", keyIssue: "NUMBER", keyStrategy: "NAME", keyPriority: "high"}[k] + "]"
		}
	}
	if len(words) > 0 {
		line += " [" + strings.Join(words, " | ") + "]"
	}
	return line
}
