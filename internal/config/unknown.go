package config

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/nearest"
)

// knownKeys are all keys as people write them, tables included.
var knownKeys = func() []string {
	var out []string
	out = append(out, namesOf("repo", repoKeys)...)
	out = append(out, namesOf("labels", labelKeys)...)
	out = append(out, namesOf("agent", agentKeys)...)
	out = append(out, namesOf("feedback", feedbackKeys)...)
	out = append(out, namesOf("merge", mergeKeys)...)
	out = append(out, namesOf("merge.rule", ruleKeys)...)
	out = append(out, namesOf("merge.group", groupKeys)...)
	out = append(out, namesOf("review", reviewKeys)...)
	out = append(out, namesOf("external", externalKeys)...)
	out = append(out, namesOf("roadmap", roadmapKeys)...)
	out = append(out, namesOf("tests", testKeys)...)
	out = append(out, namesOf("sweep", sweepKeys)...)
	return append(out, namesOf("doctor", doctorKeys)...)
}()

func namesOf[T any](table string, keys []key[T]) []string {
	out := []string{table}
	for _, k := range keys {
		out = append(out, table+"."+k.name)
	}
	return out
}

// unknown reports a key that does not exist, with the nearest that does.
func (w *walk) unknown(place, name string) {
	w.add(join(place, name), fmt.Errorf("unknown key; did you mean %s?", closest(shown(place), name)))
}

// closest is the known key with the smallest edit distance. A key of another table costs one more: a misspelled key is
// matched in its own table first, and a key in the wrong table is still found.
func closest(table, name string) string {
	best, cost := "", 0
	for _, known := range knownKeys {
		home, last := "", known
		if i := strings.LastIndexByte(known, '.'); i >= 0 {
			home, last = known[:i], known[i+1:]
		}
		d := 2 * nearest.Distance(name, last)
		if home != table {
			d++
		}
		if best == "" || d < cost {
			best, cost = known, d
		}
	}
	return best
}
