package doctor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree is a part of a workflow in the form in which it is compared. Parts with the same key mean the same.
type tree struct {
	key, text string
	op        string   // of an expression, whose operands are the parts
	near      []string // parts that have one of these in common are compared, although they differ
	yaml      string   // how people write it; "": as a part of what it is in
	at        string   // file and line; "": those of what it is in
	all       bool     // it lacks nothing, and needs nothing else
	free      bool     // it may be missing, here and in the other
	ordered   bool     // the order of its parts counts
	parts     []tree
}

// difference is a part that a tree lacks of what is wanted, or has beside it, and what follows.
type difference struct {
	verb            string // lacks or has
	path, where, at string // of what the part is in: as mergexo init calls it, as people find it, and its file and line
	part, in        tree   // in is of mergexo init
	consequence
}

// compare finds what got lacks of the wanted tree, and has beside it.
func (want tree) compare(got tree, path, where, at string) (out []difference) {
	at = cmp.Or(got.at, at)
	differs := func(verb, at string, part tree) {
		out = append(out, difference{verb: verb, path: path, where: where, at: at, part: part, in: want})
	}
	inside := func(path, text string) string { return strings.TrimPrefix(path+"."+text, ".") }
	pairs, last := want.pairs(got), -1
	for i, w := range want.parts {
		if pairs[i] < 0 {
			if !w.free && !got.all {
				differs("lacks", at, w)
			}
			continue
		}
		g := got.parts[pairs[i]]
		if want.ordered && pairs[i] < last {
			differs("has", g.at, tree{text: g.text + " before " + got.parts[last].text})
		}
		last = max(last, pairs[i])
		place := inside(where, g.text)
		if strings.HasSuffix(where, ".if") { // a clause is no place of its own
			place = where
		}
		out = append(out, w.compare(g, inside(path, w.text), place, at)...)
	}
	for i, g := range got.parts {
		if !slices.Contains(pairs, i) && !g.free && !want.all {
			differs("has", cmp.Or(g.at, at), g)
		}
	}
	return out
}

// pairs are the places of the wanted parts in another tree: of those with the same key, else of those that are near; -1 for none.
func (want tree) pairs(got tree) []int {
	out, next := slices.Repeat([]int{-1}, len(want.parts)), 0
	pair := func(same func(w, g tree) bool) {
		for i, w := range want.parts {
			for k := range got.parts {
				if j := (next + k) % len(got.parts); out[i] < 0 && !slices.Contains(out, j) && same(w, got.parts[j]) {
					out[i] = j
				}
			}
			if want.ordered {
				next = out[i] + 1
			}
		}
	}
	pair(func(w, g tree) bool { return w.key == g.key })
	pair(func(w, g tree) bool {
		return slices.ContainsFunc(w.near, func(key string) bool { return slices.Contains(g.near, key) })
	})
	return out
}

// with is a tree with more parts.
func (t tree) with(parts ...tree) tree {
	t.parts = slices.Concat(t.parts, parts)
	return t
}

// named is a part without parts; free as of a tree.
func named(text string, free bool) tree { return tree{key: text, text: text, free: free} }

// leaf is an entry with a text, in which expressions are written in one way.
func leaf(name, text string) tree {
	key, _ := canonical(name + ": " + text)
	return tree{key: key, text: name + ": " + text, yaml: name + ": " + text}
}

// entry is an entry as people write it on one line.
func entry(name string, n *yaml.Node) string { return strings.TrimSpace(name + ": " + inline(n)) }

// inline is YAML on one line.
func inline(n *yaml.Node) string {
	var parts []string
	switch {
	case n == nil || n.Tag == "!!null":
		return ""
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, entry(n.Content[i].Value, n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Kind == yaml.SequenceNode:
		return "[" + strings.Join(each(n.Content, inline), ", ") + "]"
	case n.Style == 0 && !strings.ContainsAny(n.Value, ",[]{}"):
		return n.Value
	}
	return strconv.Quote(n.Value)
}
