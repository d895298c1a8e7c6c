package flow

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/frontmatter"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Document is the design document as committed: our front matter, then the agent's text without its own front matter.
func Document(i model.Issue, o model.Outcome) []byte {
	title := o.Title
	if blank(title) {
		title = i.Title
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\nissue: %d\ntitle: %s\ntouch_paths:", i.Number, frontmatter.Scalar(title))
	if len(o.TouchPaths) == 0 {
		b.WriteString(" []")
	}
	for _, p := range o.TouchPaths {
		b.WriteString("\n  - " + frontmatter.Scalar(p))
	}
	b.WriteString("\n---\n")
	if text := strings.TrimLeft(strings.TrimRight(withoutFrontMatter(o.DesignDoc), " \t\n"), "\n"); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.Bytes()
}

// fields match lines of front matter, YAML or nearly so: keys with values, and indented, list or comment lines below them.
var fields = regexp.MustCompile(`^\n*[\w-]+:(?:[ \t].*)?(?:\n(?:[\w-]+:(?:[ \t].*)?|[ \t].*|-(?:[ \t].*)?|#.*)?)*$`)

// withoutFrontMatter removes front matter. Text between two horizontal rules is not front matter.
func withoutFrontMatter(document string) string {
	text := strings.TrimLeft(markdown.Lines(document), "\n")
	front, rest, ok := frontmatter.Cut(text)
	if !ok || strings.TrimSpace(front) != "" && !fields.MatchString(front) {
		return text
	}
	return rest
}

// starred matches unquoted paths that start with an asterisk: a YAML alias, but meant as a glob.
var starred = regexp.MustCompile(`(?m)^([ \t]*(?:-|touch_paths:)[ \t]+)(\*[^\s'"]*)([ \t]+#.*|[ \t]*)$`)

// TouchPaths reads a design document's announced changes; people may have edited it. It returns none if the field is
// missing. Errors name the line.
func TouchPaths(document []byte) ([]string, error) {
	front, _, ok := frontmatter.Cut(markdown.Lines(string(document)))
	if !ok {
		return nil, errors.New("line 1: no front matter between lines of three dashes")
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(starred.ReplaceAllString(front, "$1'$2'$3")), &root); err != nil {
		return nil, located(err, front)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: front matter: want lines of the form name: value", top.Line+1)
	}
	for n := 0; n+1 < len(top.Content); n += 2 {
		if top.Content[n].Value == "touch_paths" {
			return listed(top.Content[n+1])
		}
	}
	return nil, nil
}

// IsDesign reports whether a document's front matter makes it the design of an issue.
func IsDesign(document []byte, issue int) bool {
	front, _, ok := frontmatter.Cut(markdown.Lines(string(document)))
	if !ok {
		return false
	}
	var fields struct{ Issue int }
	return yaml.Unmarshal([]byte(starred.ReplaceAllString(front, "$1'$2'$3")), &fields) == nil && fields.Issue == issue
}

// listed reads a list of paths. Line numbers start below the first dashes.
func listed(list *yaml.Node) ([]string, error) {
	wrong := func(n *yaml.Node, text string, args ...any) error {
		return fmt.Errorf("line %d: touch_paths: %s", n.Line+1, fmt.Sprintf(text, args...))
	}
	items := list.Content
	switch {
	case list.Tag == "!!null":
		return nil, nil
	case list.Kind == yaml.ScalarNode: // a single path needs no list
		items = []*yaml.Node{list}
	case list.Kind != yaml.SequenceNode:
		return nil, wrong(list, "not a list of paths")
	case len(items) > maxTouchPaths:
		return nil, wrong(list, "%d paths, at most %d; use globs to name many", len(items), maxTouchPaths)
	}
	var paths []string
	for _, item := range items {
		if item.Kind != yaml.ScalarNode {
			return nil, wrong(item, "not a path; put a path with special characters in double quotes")
		}
		if bad := badPath(item.Value); bad != "" {
			return nil, wrong(item, "%q: %s", item.Value, bad)
		}
		paths = append(paths, item.Value)
	}
	return paths, nil
}

var yamlAlias = regexp.MustCompile(`unknown anchor '([^']*)'`)

func located(err error, front string) error {
	line, text := frontmatter.Located(err)
	if alias := yamlAlias.FindStringSubmatch(text); alias != nil { // its line is not named
		before, _, _ := strings.Cut(front, "*"+alias[1])
		line, text = strings.Count(before, "\n")+2, "*"+alias[1]+" has to be in double quotes"
	}
	return fmt.Errorf("line %d: front matter: %s", line, text)
}
