package flow

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/model"
)

// Document is the design document as it is committed: front matter of ours, then what the agent wrote, without front
// matter of its own.
func Document(i model.Issue, o model.Outcome) []byte {
	title := o.Title
	if blank(title) {
		title = i.Title
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\nissue: %d\ntitle: %s\ntouch_paths:", i.Number, scalar(title))
	if len(o.TouchPaths) == 0 {
		b.WriteString(" []")
	}
	for _, p := range o.TouchPaths {
		b.WriteString("\n  - " + scalar(p))
	}
	b.WriteString("\n---\n")
	if text := strings.TrimLeft(strings.TrimRight(withoutFrontMatter(o.DesignDoc), " \t\n"), "\n"); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.Bytes()
}

// scalar is any text as YAML: what Go escapes between double quotes, YAML does too, by the same escapes.
// https://yaml.org/spec/1.2.2/#57-escaped-characters
func scalar(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

// ending is the line that ends front matter.
var ending = regexp.MustCompile(`(?m)^(?:---|\.\.\.)[ \t]*$`)

// cutFrontMatter splits a document, with its line ends as git has them, into what stands between the lines of dashes that
// it begins with, and the rest.
func cutFrontMatter(document string) (front, rest string, ok bool) {
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

// lines gives a text with the line ends that git has, and without a byte order mark.
func lines(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\uFEFF"))
}

// withoutFrontMatter takes front matter off a document. Lines between two rules are such only if they name fields.
func withoutFrontMatter(document string) string {
	text := strings.TrimLeft(lines(document), "\n")
	front, rest, ok := cutFrontMatter(text)
	if !ok {
		return text
	}
	var fields map[string]yaml.Node // nodes, so that aliases are not followed
	if yaml.Unmarshal([]byte(quoted(front)), &fields) != nil || len(fields) == 0 && strings.TrimSpace(front) != "" {
		return text
	}
	return rest
}

// starred are items of lists that begin with an asterisk, which YAML takes for something else, and people for a glob.
var starred = regexp.MustCompile(`(?m)^([ \t]*-[ \t]+)(\*[^\s'"]*)[ \t]*$`)

func quoted(front string) string { return starred.ReplaceAllString(front, "$1'$2'") }

// TouchPaths reads from a design document, which people may have edited, what it says will be changed. A document without
// that field says nothing. Errors name the line.
func TouchPaths(document []byte) ([]string, error) {
	front, _, ok := cutFrontMatter(lines(string(document)))
	if !ok {
		return nil, errors.New("line 1: no front matter between lines of three dashes")
	}
	var fields struct {
		Paths yaml.Node `yaml:"touch_paths"`
	}
	if err := yaml.Unmarshal([]byte(quoted(front)), &fields); err != nil {
		return nil, located(err, front)
	}
	items := fields.Paths.Content
	switch list := fields.Paths; {
	case list.IsZero() || list.Tag == "!!null":
		return nil, nil
	case list.Kind == yaml.ScalarNode: // one path needs no list
		items = []*yaml.Node{&list}
	case list.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("line %d: touch_paths: not a list of paths", list.Line+1)
	}
	var paths []string
	for _, item := range items {
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: touch_paths: not a path; one with special characters stands in double quotes", item.Line+1)
		}
		if wrong := badPath(item.Value); wrong != "" {
			return nil, fmt.Errorf("line %d: touch_paths: %q: %s", item.Line+1, item.Value, wrong)
		}
		paths = append(paths, item.Value)
	}
	if len(paths) > maxTouchPaths {
		return nil, fmt.Errorf("line %d: touch_paths: %d paths; at most %d, globs stand for many", fields.Paths.Line+1, len(paths), maxTouchPaths)
	}
	return paths, nil
}

// yamlLine is how the YAML reader says where it stopped. It counts from the line below the dashes.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?line (\d+): `)

func located(err error, front string) error {
	text, line := err.Error(), 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	} else if alias := regexp.MustCompile(`unknown anchor '([^']*)'`).FindStringSubmatch(text); alias != nil {
		before, _, _ := strings.Cut(front, "*"+alias[1])
		line = strings.Count(before, "\n") + 1
		text = "*" + alias[1] + " has to stand in double quotes"
	}
	return fmt.Errorf("line %d: front matter: %s", line+1, strings.TrimPrefix(text, "yaml: "))
}
