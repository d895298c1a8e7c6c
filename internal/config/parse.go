package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/mergexo/internal/markdown"
)

// Parse reads settings from the text of a file; source names the file in errors. Every error is an *Error with all problems
// found. The settings are only valid without an error.
func Parse(text, source string) (Settings, error) { return parse(text, source, true) }

// ParseWithoutAgent is Parse where no agent runs: the agent's settings may be incomplete.
func ParseWithoutAgent(text, source string) (Settings, error) { return parse(text, source, false) }

func parse(text, source string, withAgent bool) (Settings, error) {
	var raw map[string]any
	if _, err := toml.Decode(text, &raw); err != nil {
		return Settings{}, &Error{Source: source, Problems: []Problem{syntaxProblem(err)}}
	}
	s := Defaults()
	w := &walk{lines: linesOf(text), tables: tables}
	read(w, "", raw, nil, &s, &s)
	w.check(s, withAgent)
	if len(w.problems) > 0 {
		slices.SortStableFunc(w.problems, func(a, b Problem) int { return a.Line - b.Line })
		return Settings{}, &Error{Source: source, Problems: w.problems}
	}
	return s, nil
}

func syntaxProblem(err error) Problem {
	var p toml.ParseError
	if errors.As(err, &p) {
		return Problem{Line: max(1, p.Position.Line), Text: "not TOML: " + strings.TrimSuffix(markdown.OneLine(p.Message), ".")}
	}
	return Problem{Line: 1, Text: "not TOML: " + markdown.OneLine(err.Error())}
}

// walk traverses the document and collects problems.
type walk struct {
	lines    map[string]int
	tables   []table
	problems []Problem
}

// add records a problem per line of a joined error. place is the key with its table's index: "merge.rule[0].branch".
func (w *walk) add(place string, err error) {
	line := w.lines[place]
	for p := place; line == 0; line = w.lines[p] {
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			line = 1
			break
		}
		p = p[:i]
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		w.problems = append(w.problems, Problem{Line: line, Key: shown(place), Text: text, place: place})
	}
}

// read fills one table's struct; a table in it has its own.
func read[T any](w *walk, place string, raw any, keys []key[T], into *T, all *Settings) {
	values, ok := raw.(map[string]any)
	if !ok {
		w.add(place, wrong("a table", raw))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if t := slices.IndexFunc(w.tables, func(t table) bool { return t.name == join(place, name) }); t >= 0 {
			w.tables[t].read(w, values[name], all)
			continue
		}
		i := slices.IndexFunc(keys, func(k key[T]) bool { return k.name == name })
		if i < 0 {
			w.unknown(place, name)
			continue
		}
		if err := keys[i].apply(into, values[name]); err != nil {
			w.add(join(place, name), err)
		}
	}
}

// readList reads a list of tables, written as [[...]] or inline.
func readList[T any](w *walk, place string, raw any, keys []key[T], fresh T) []T {
	var items []any
	switch raw := raw.(type) {
	case []map[string]any:
		for _, item := range raw {
			items = append(items, item)
		}
	case []any:
		items = raw
	default:
		w.add(place, wrong("a list of tables ([["+place+"]])", raw))
		return nil
	}
	out := make([]T, len(items))
	for i, item := range items {
		out[i] = fresh
		read(w, fmt.Sprintf("%s[%d]", place, i), item, keys, &out[i], nil)
	}
	return out
}

func join(place, name string) string {
	if place == "" {
		return quoted(name)
	}
	return place + "." + quoted(name)
}
