package roadmap

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/frontmatter"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

var (
	keyShape = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)
	// ambiguous are names that YAML may read as something other than text.
	ambiguous = regexp.MustCompile(`^(?:[0-9].*|-.*|y|n|yes|no|on|off|true|false|null)$`)
)

// Parse reads a file. It gives all that it could read, and what does not hold, in the order of the lines; people may have edited
// the file.
func Parse(file []byte) (Plan, Problems) {
	r := &reader{lines: map[string]int{}}
	r.read(file)
	return r.plan, r.sorted()
}

// Check is what does not hold in a roadmap's file that somebody proposes, by its name and its text.
func Check(name string, file []byte) Problems {
	r := &reader{lines: map[string]int{}}
	r.read(file)
	if of, is := number(name); is && r.plan.Issue > 0 && r.plan.Issue != of {
		r.add(r.issue, "issue: %d, but the file's name says %d; every roadmap needs its own file", r.plan.Issue, of)
	}
	return r.sorted()
}

// reader collects what a file says.
type reader struct {
	plan  Plan
	wrong Problems
	lines map[string]int // where each key is
	issue int            // where the issue is named
}

func (r *reader) add(line int, text string, args ...any) {
	if len(r.wrong) < mostWrong {
		r.wrong = append(r.wrong, Problem{line, fmt.Sprintf(text, args...)})
	}
}

func (r *reader) sorted() Problems {
	slices.SortStableFunc(r.wrong, func(a, b Problem) int { return a.Line - b.Line })
	return slices.Compact(r.wrong)
}

func (r *reader) read(file []byte) {
	if len(file) > maxFile {
		r.add(1, "the file has %d bytes; at most %d are read", len(file), maxFile)
		return
	}
	front, _, ok := frontmatter.Cut(markdown.Lines(string(file)))
	if !ok {
		r.add(1, "no front matter between lines of three dashes")
		return
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(front), &root); err != nil {
		line, text := frontmatter.Located(err)
		r.add(line, "front matter: %s", text)
		return
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		r.add(2, "front matter: want lines of the form name: value")
		return
	}
	if n := aliased(&root); n != nil {
		r.add(n.Line+1, "an anchor or an alias; write the value out")
		return
	}
	r.top(root.Content[0])
	r.references()
	r.cycles()
}

// aliased finds a node that refers to another one: a few lines of them can stand for gigabytes.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if found := aliased(c); found != nil {
			return found
		}
	}
	return nil
}

// each gives the values of a mapping to take, by name; a name that is not known or there twice is reported.
func (r *reader) each(m *yaml.Node, known []string, take func(name string, value *yaml.Node)) (there []string) {
	for n := 0; n+1 < len(m.Content); n += 2 {
		name, value := m.Content[n], m.Content[n+1]
		switch {
		case !slices.Contains(known, name.Value):
			r.add(name.Line+1, "unknown key %q; did you mean %s?", markdown.Clip(name.Value), nearest.Least(name.Value, known))
		case slices.Contains(there, name.Value):
			r.add(name.Line+1, "%s appears twice", name.Value)
		default:
			there = append(there, name.Value)
			take(name.Value, value)
		}
	}
	return there
}

func (r *reader) top(m *yaml.Node) {
	var items *yaml.Node
	there := r.each(m, []string{"issue", "title", "goal", "items"}, func(name string, v *yaml.Node) {
		switch name {
		case "issue":
			n, err := strconv.Atoi(v.Value)
			if v.Kind != yaml.ScalarNode || err != nil || n < 1 {
				r.add(v.Line+1, "issue: want the number of the roadmap's issue")
			}
			r.plan.Issue, r.issue = n, v.Line+1
		case "title":
			r.plan.Title = r.heading("title", v)
		case "goal":
			r.plan.Goal = r.text("goal", v, false)
		case "items":
			items = v
		}
	})
	for _, name := range []string{"issue", "title", "items"} {
		if !slices.Contains(there, name) {
			r.add(1, "%s: missing", name)
		}
	}
	if items == nil {
		return
	}
	if items.Kind != yaml.SequenceNode || len(items.Content) == 0 {
		r.add(items.Line+1, "items: want a list with at least one item")
		return
	}
	if len(items.Content) > MostItems {
		r.add(items.Content[MostItems].Line+1, "items: %d items; an issue on GitHub holds at most %d sub-issues", len(items.Content), MostItems)
		return
	}
	for _, n := range items.Content {
		r.item(n)
	}
}

func (r *reader) item(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.add(n.Line+1, "items: want key, title, flow, needs and acceptance")
		return
	}
	i := Item{Line: n.Line + 1}
	there := r.each(n, []string{"key", "title", "flow", "needs", "acceptance"}, func(name string, v *yaml.Node) {
		switch name {
		case "key":
			i.Key = r.key(v)
		case "title":
			i.Title = r.heading("title", v)
		case "flow":
			i.Flow = v.Value
			if v.Kind != yaml.ScalarNode || !slices.Contains(Flows, model.Flow(i.Flow)) {
				r.add(v.Line+1, "flow %q: want design, bugfix or small_job", markdown.Clip(v.Value))
			}
		case "needs":
			i.Needs = r.needs(v)
		case "acceptance":
			i.Acceptance = r.text("acceptance", v, false)
		}
	})
	for _, name := range []string{"key", "title", "flow"} {
		if !slices.Contains(there, name) {
			r.add(i.Line, "%s: missing", name)
		}
	}
	if i.Key == "" {
		return
	}
	if first, twice := r.lines[i.Key]; twice {
		r.add(i.Line, "key %s is already used by the item on line %d", i.Key, first)
		return
	}
	r.lines[i.Key] = i.Line
	r.plan.Items = append(r.plan.Items, i)
}

// key reads the key of an item; "" for one that does not hold.
func (r *reader) key(v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode || !keyShape.MatchString(v.Value) {
		r.add(v.Line+1, "key %q: want 1 to %d of a-z, 0-9 and dashes, with no dash at an end", markdown.Clip(v.Value), maxKeyName)
		return ""
	}
	return v.Value
}

func (r *reader) needs(v *yaml.Node) (keys []string) {
	switch {
	case v.Tag == "!!null":
		return nil
	case v.Kind != yaml.SequenceNode:
		r.add(v.Line+1, "needs: want a list of keys")
		return nil
	case len(v.Content) > mostNeeds:
		r.add(v.Line+1, "needs: %d keys, at most %d", len(v.Content), mostNeeds)
		return nil
	}
	for _, one := range v.Content {
		key := r.key(one)
		if slices.Contains(keys, key) && key != "" {
			r.add(one.Line+1, "needs: %s appears twice", key)
		} else if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// heading reads one line of text.
func (r *reader) heading(name string, v *yaml.Node) string {
	s := r.text(name, v, true)
	if utf8.RuneCountInString(s) > maxTitle {
		r.add(v.Line+1, "%s: %d characters, at most %d", name, utf8.RuneCountInString(s), maxTitle)
	}
	return markdown.OneLine(strings.Map(func(c rune) rune {
		if markdown.Invisible(c) {
			return -1
		}
		return c
	}, s))
}

func (r *reader) text(name string, v *yaml.Node, must bool) string {
	s := v.Value
	blank := strings.TrimFunc(s, func(c rune) bool { return unicode.IsSpace(c) || markdown.Invisible(c) }) == ""
	switch {
	case v.Kind != yaml.ScalarNode:
		r.add(v.Line+1, "%s: want text", name)
	case blank && must:
		r.add(v.Line+1, "%s: empty", name)
	case len(s) > maxText:
		r.add(v.Line+1, "%s: %d bytes, at most %d", name, len(s), maxText)
	default:
		return s
	}
	return ""
}

// references reports needs that no item has.
func (r *reader) references() {
	var known []string
	for _, i := range r.plan.Items {
		known = append(known, i.Key)
	}
	for _, i := range r.plan.Items {
		for _, key := range i.Needs {
			if !slices.Contains(known, key) && len(r.wrong) < mostWrong { // the nearest takes its time
				r.add(i.Line, "%s needs %s, but no item has that key; did you mean %s?", i.Key, key, nearest.Least(key, known))
			}
		}
	}
}

// cycles reports each item that closes a circle, with the circle.
func (r *reader) cycles() {
	const (
		entered = 1
		left    = 2
	)
	seen, path := map[string]int{}, []string{}
	var visit func(i *Item)
	visit = func(i *Item) {
		seen[i.Key] = entered
		path = append(path, i.Key)
		for _, key := range i.Needs {
			next := r.plan.Item(key)
			switch {
			case next == nil || seen[key] == left:
			case seen[key] == entered:
				circle := append(slices.Clone(path[slices.Index(path, key):]), key)
				r.add(i.Line, "a cycle: %s", strings.Join(circle, " needs "))
			default:
				visit(next)
			}
		}
		path = path[:len(path)-1]
		seen[i.Key] = left
	}
	for n := range r.plan.Items {
		if i := &r.plan.Items[n]; seen[i.Key] == 0 {
			visit(i)
		}
	}
}
