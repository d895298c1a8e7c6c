package config

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/treepath"
)

// PathTests is a [[tests]]: what is run where a change touches one of its paths. One without paths is for files that no other names.
type PathTests struct {
	Paths []string // globs
	Run   string   // for a shell
}

// concernsAll are the files that say what is run: a change of them is tested by everything.
var concernsAll = []string{".github/mergexo.toml", ".github/mergexo/**"}

func touched(changed, globs []string) bool {
	return slices.ContainsFunc(changed, func(path string) bool { return treepath.Matched(path, globs) != "" })
}

// TestsOf is the command that tests a change of these files; nil for none. Without a [[tests]] for the files that no other names, plain
// is asked for theirs.
func (s Settings) TestsOf(changed []string, plain func() ([]string, error)) ([]string, error) {
	var lines, named []string
	rest := slices.IndexFunc(s.Tests, func(t PathTests) bool { return len(t.Paths) == 0 })
	for _, t := range s.Tests {
		named = append(named, t.Paths...)
	}
	all := touched(changed, concernsAll)
	others := all || len(changed) == 0 || slices.ContainsFunc(changed, func(path string) bool { return !touched([]string{path}, named) })
	for _, t := range s.Tests {
		if all || touched(changed, t.Paths) || others && len(t.Paths) == 0 {
			lines = append(lines, t.Run)
		}
	}
	if others && rest < 0 {
		argv, err := plain()
		if err != nil || len(lines) == 0 {
			return argv, err
		}
		if len(argv) > 0 {
			words := slices.Clone(argv)
			for i, word := range words { // each one, since CI=1 or time mean something else to a shell
				words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	if len(lines) == 1 {
		return []string{"sh", "-c", lines[0]}, nil
	}
	return []string{"sh", "-c", "(" + strings.Join(lines, "\n) && (") + "\n)"}, nil
}

// RequiredTests are all commands that may have to succeed before a push, for those who read them; empty for none.
func (s Settings) RequiredTests() []string {
	if len(s.Tests) == 0 {
		return s.Repo.RequiredTests
	}
	lines := []string{}
	for _, t := range s.Tests {
		lines = append(lines, t.Run)
	}
	return []string{strings.Join(lines, "; ")}
}
