package frontmatter

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	ending   = regexp.MustCompile(`(?m)^(?:---|\.\.\.)[ \t]*$`)
	yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)
)

// Cut splits a document with normalized line ends into the front matter between its first lines of dashes and the rest.
func Cut(document string) (front, rest string, ok bool) {
	first, below, _ := strings.Cut(document, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", document, false
	}
	at := ending.FindStringIndex(below)
	if at == nil {
		return "", document, false
	}
	return below[:at[0]], strings.TrimPrefix(below[at[1]:], "\n"), true
}

// Scalar quotes any text as YAML, which shares Go's escapes in double quotes.
// https://yaml.org/spec/1.2.2/#57-escaped-characters
func Scalar(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

// Located is what the YAML reader says about front matter, and the line of the document; it does not name its first line.
func Located(err error) (line int, text string) {
	line, text = 1, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	return line + 1, strings.TrimPrefix(text, "yaml: ")
}
