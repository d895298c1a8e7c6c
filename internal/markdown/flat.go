package markdown

import (
	"html"
	"regexp"
	"strings"
)

var (
	links  = regexp.MustCompile(`\[([^\]\[]*)\]\([^()\s]*\)`)
	strong = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)
	folded = regexp.MustCompile(`(?m)^<details><summary>(?:<code>)?(.*?)(?:</code>)?</summary>$`)
	// unescaped takes back what Plain does.
	unescaped = strings.NewReplacer("\n\n</details>", "", "@"+gap, "@", `\*`, "*", `]\(`, "](", `]\:`, "]:")
)

// Flat renders our Markdown for a terminal: links without their addresses, no strong, nothing folded or escaped. What it gives may
// hold anything that a terminal obeys.
func Flat(s string) string {
	s = links.ReplaceAllString(folded.ReplaceAllString(s, "$1:"), "$1")
	return html.UnescapeString(unescaped.Replace(strong.ReplaceAllString(s, "$1")))
}
