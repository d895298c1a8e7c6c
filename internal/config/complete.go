package config

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Complete adds to a document what only another one has: keys at the end of their tables, and whole tables, with the comments in
// them, at the end. The keys in replace become what they are there. All else stays as it is, line by line. Tables that the document
// writes in another form than [table] get nothing. With takes the place of an empty document, and of one that is not TOML.
func Complete(text, with string, replace []string) string {
	if err := toml.Unmarshal([]byte(text), &map[string]any{}); err != nil || text == "" {
		return with
	}
	have, fresh := scan(text), scan(with)
	at, last := map[string]span{}, map[string]int{}
	for _, s := range have.spans {
		at[s.place], last[s.table] = s, s.last
	}
	lines, more := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n"), strings.SplitAfter(with, "\n")
	added, tables := make([]string, len(lines)), ""
	for _, s := range fresh.spans {
		end, known := last[s.table]
		_, there := have.places[s.place]
		_, otherwise := have.places[s.table]
		write := strings.Join(more[s.first-1:s.last], "")
		switch {
		case s.place == "" && !known && !otherwise:
			table, _, _ := strings.Cut(strings.Join(more[s.first-1:], ""), "\n[")
			tables += "\n" + strings.TrimSpace(table) + "\n"
		case s.place == "" || !known:
		case !there:
			added[end-1] += write
		case slices.Contains(replace, s.place) && at[s.place].first > 0:
			clear(lines[at[s.place].first-1 : at[s.place].last])
			lines[at[s.place].first-1] = write
		}
	}
	for i := range lines {
		lines[i] += added[i]
	}
	return strings.Join(lines, "") + tables
}

// Has reports whether a document sets a key.
func Has(text, key string) bool {
	_, is := scan(text).places[key]
	return is
}
