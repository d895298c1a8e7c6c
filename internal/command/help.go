package command

import (
	"cmp"
	"fmt"
	"slices"
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

// afresh is for people who would otherwise edit what they wrote.
const afresh = "Write a corrected command in a new comment: an edit of this one is not read as a command."

// mistaken answers a command that could not be read: what is wrong, and how the one command is written that was meant.
func (c Case) mistaken() Answer {
	v, ok := verbNamed(cmp.Or(c.Command.Name, c.Command.Meant))
	if !ok {
		return c.reject("%s `%s help` explains them. %s", sentence(c.Command.Problem), Word, afresh)
	}
	return c.reject("%s %s\n\n`%s`: %s. `%s help` lists all commands.", sentence(c.Command.Problem), afresh, v.syntax(), v.does, Word)
}

// syntax is how a command is written.
func (v verb) syntax() string {
	line, last := Word+" "+v.name, ""
	var words []string
	for _, k := range v.keys {
		switch {
		case k == wordBecause: // everything behind it is text
			last = " [" + typed(k) + "]"
		case isWord(k):
			words = append(words, k)
		default:
			line += " [" + typed(k) + "]"
		}
	}
	switch list := strings.Join(words, " | "); {
	case slices.Contains(words, keyLogin): // one of them is needed
		line += " (" + list + ")"
	case list != "":
		line += " [" + list + "]"
	}
	return line + last
}
