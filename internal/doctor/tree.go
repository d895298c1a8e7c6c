package doctor

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree is a part of a workflow in the form in which it is compared. Parts with the same key mean the same.
type tree struct {
	key, text string   // text is what people read
	near      []string // parts that have one of these in common are compared, although they differ
	yaml      string   // how people write it; "": as a part of what it is in
	at        string   // file and line; "": those of what it is in
	all       bool     // nothing is missing in it
	free      bool     // it may be missing, and need not be in the other
	ordered   bool     // the order of its parts counts
	parts     []tree
}

// difference is a part that one tree lacks of the other, or has beside it.
type difference struct {
	verb        string // lacks or has
	path, where string // of what the part is in: as it is wanted, and as it is called there
	at          string
	part, in    tree // in is a part of what is wanted
}

// subject is what the rows of the table of consequences match.
func (d difference) subject() string { return d.verb + " " + d.path + ": " + d.part.text }

// compare finds what got lacks of the wanted tree, and has beside it.
func (want tree) compare(got tree, path, where, at string) (out []difference) {
	at = cmp.Or(got.at, at)
	differs := func(verb string, part tree) {
		out = append(out, difference{verb, path, where, cmp.Or(part.at, at), part, want})
	}
	inside := func(path, text string) string { return strings.TrimPrefix(path+"."+text, ".") }
	pairs, last := want.pairs(got), -1
	for i, w := range want.parts {
		switch g := pairs[i]; {
		case g < 0 && (w.free || got.all):
		case g < 0:
			w.at = ""
			differs("lacks", w)
		default:
			if want.ordered && g < last {
				differs("has", tree{text: got.parts[g].text + " before " + got.parts[last].text, at: got.parts[g].at})
			}
			last = max(last, g)
			out = append(out, w.compare(got.parts[g], inside(path, w.text), inside(where, got.parts[g].text), at)...)
		}
	}
	for i, g := range got.parts {
		if !slices.Contains(pairs, i) && !g.free && !want.all {
			differs("has", g)
		}
	}
	return out
}

// pairs are the places of the wanted parts in another tree: those with the same key, else those that are near; -1 for none.
func (want tree) pairs(got tree) []int {
	out := slices.Repeat([]int{-1}, len(want.parts))
	for _, fits := range []func(w, g tree) bool{
		func(w, g tree) bool { return w.key == g.key },
		func(w, g tree) bool {
			return !w.free && slices.ContainsFunc(w.near, func(key string) bool { return slices.Contains(g.near, key) })
		},
	} {
		for i, w := range want.parts {
			for j, g := range got.parts {
				if out[i] < 0 && !slices.Contains(out, j) && fits(w, g) {
					out[i] = j
				}
			}
		}
	}
	return out
}

// entry is an entry as people write it on one line.
func entry(name string, n *yaml.Node) string {
	return strings.TrimSpace(name + ": " + inline(n))
}

// inline is YAML on one line.
func inline(n *yaml.Node) string {
	if n == nil || n.Tag == "!!null" {
		return ""
	}
	switch n.Kind {
	case yaml.MappingNode:
		return "{" + strings.Join(each(pairs(n), func(p pair) string { return entry(p.key, p.value) }), ", ") + "}"
	case yaml.SequenceNode:
		return "[" + strings.Join(each(n.Content, inline), ", ") + "]"
	}
	if n.Style == 0 && !strings.ContainsAny(n.Value, ",[]{}") {
		return n.Value
	}
	return scalar(n.Value)
}

// leaf is an entry with a text, in which expressions are written in one way.
func leaf(name, text, at string) tree {
	key, _ := canonical(name + ": " + text)
	return tree{key: key, text: name + ": " + text, yaml: name + ": " + text, at: at}
}

// with is a tree with more parts.
func (t tree) with(parts ...tree) tree {
	t.parts = append(slices.Clip(t.parts), parts...)
	return t
}

// items is an entry with a list, whose order does not count.
func items(name string, list []string, yaml, at string) tree {
	t := tree{key: name, text: name, yaml: yaml, at: at, free: len(list) == 0}
	for _, one := range list {
		t.parts = append(t.parts, tree{key: one, text: one})
	}
	return t
}
