package config

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/nearest"
)

// known are all keys as people write them, tables included.
func known(tables []table) []string {
	var out []string
	for _, t := range tables {
		out = append(out, t.name)
		for _, k := range t.keys() {
			out = append(out, k.Path())
		}
	}
	return out
}

// unknown reports a key that does not exist, with the nearest that does.
func (w *walk) unknown(place, name string) {
	w.add(join(place, name), fmt.Errorf("unknown key; did you mean %s?", closest(known(w.tables), shown(place), name)))
}

// closest is the known key with the smallest edit distance. A key of another table costs one more: a misspelled key is
// matched in its own table first, and a key in the wrong table is still found.
func closest(known []string, table, name string) string {
	best, cost := "", 0
	for _, path := range known {
		home, last := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			home, last = path[:i], path[i+1:]
		}
		d := 2 * nearest.Distance(name, last)
		if home != table {
			d++
		}
		if best == "" || d < cost {
			best, cost = path, d
		}
	}
	return best
}
