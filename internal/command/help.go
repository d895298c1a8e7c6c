package command

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// help lists the commands.
func help(c Case) Answer {
	text := usage("") + "\n\nA command is a line of its own in a new comment. A comment with a command is not read by the agent."
	if n := c.Policy.OperationsIssue; n != 0 {
		text += fmt.Sprintf("\nIn #%d every command takes `pr=NUMBER`.", n)
	}
	return c.answer(model.Help, "%s", text)
}

// usage shows the syntax of one command, or of all.
func usage(name string) string {
	var b strings.Builder
	b.WriteString("| command | |\n| --- | --- |")
	for _, v := range verbs() {
		if name != "" && v.name != name {
			continue
		}
		line := Word + " " + v.name
		var words []string
		for _, k := range v.keys {
			if k == wordBecause {
				line += " [" + k + " TEXT]"
				continue
			}
			if isWord(k) {
				words = append(words, k)
				continue
			}
			line += " [" + k + "=" + map[string]string{keyHead: "SHA", keySHA: "SHA", keyIssue: "NUMBER", keyStrategy: "NAME", keyPriority: "high"}[k] + "]"
		}
		if len(words) > 0 {
			line += " [" + strings.Join(words, " \\| ") + "]" // escaped for a table, even inside code
		}
		fmt.Fprintf(&b, "\n| `%s` | %s |", line, v.does)
	}
	return b.String()
}
