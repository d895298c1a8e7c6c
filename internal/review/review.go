// Package review decides which findings of a reviewing agent are posted, where in the diff, and in which words.
//
// A reviewer is an agent and is not trusted. Its findings are checked field by field, and only ever become a review that
// comments.
package review

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/model"
)

// The limits of a reviewer's answer.
const (
	MaxFindings = 500
	maxText     = 4000 // characters of a text or a suggestion that are shown
	maxPath     = 4096 // bytes, as Linux allows
	maxLine     = 10_000_000
)

// severities, the gravest first.
var severities = []model.Severity{model.Must, model.Should, model.Nit}

// Check holds findings against the rules. The error names the first field that breaks one.
func Check(findings []model.Finding) error {
	for i, f := range findings {
		wrong := func(field, format string, args ...any) error {
			return fmt.Errorf("findings[%d].%s: %s", i, field, fmt.Sprintf(format, args...))
		}
		switch {
		case !isPath(f.Path):
			return wrong("path", "want a path from the top of the repository, got %q", excerpt(f.Path))
		case f.Line < 0 || f.Line > maxLine:
			return wrong("line", "want the number of a line, or 0 for the whole file, got %d", f.Line)
		case !slices.Contains(severities, f.Severity):
			return wrong("severity", "want must, should or nit, got %q", excerpt(string(f.Severity)))
		case strings.TrimSpace(f.Text) == "":
			return wrong("text", "must not be empty")
		}
	}
	return nil
}

// isPath reports whether p can name a file of the repository.
func isPath(p string) bool {
	return p != "" && len(p) <= maxPath && utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) &&
		!path.IsAbs(p) && path.Clean(p) == p && p != "." && p != ".." && !strings.HasPrefix(p, "../")
}

func excerpt(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "\uFFFD")); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// Name is what identifies a finding, whichever head it is about and however grave it was called: its place and its words, but
// not the line, which moves.
func Name(f model.Finding) []string {
	return []string{f.Path, strings.Join(words(f.Text), " ")}
}

// words are those of a text, in lower case and without punctuation.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Gravest are the findings that are looked at of those that a reviewer reports, and how many are left out.
func Gravest(findings []model.Finding) (kept []model.Finding, dropped int) {
	if len(findings) <= MaxFindings {
		return findings, 0
	}
	return gravestFirst(findings)[:MaxFindings], len(findings) - MaxFindings
}

func gravestFirst(findings []model.Finding) []model.Finding {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b model.Finding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	return sorted
}

// Fresh are the findings that are worth saying, the gravest first: each once, in its gravest form, and none that was raised
// before. known says that a finding of this name was posted, wherever that was. Of several suggestions for one line only the
// first is kept: whoever applies one takes the others' ground away.
func Fresh(findings []model.Finding, raised []model.Raised, known func(model.Finding) bool) []model.Finding {
	sorted := gravestFirst(findings)
	var out []model.Finding
	seen, suggested := map[string]bool{}, map[string]bool{}
	for _, f := range sorted {
		name := strings.Join(Name(f), "\x00")
		if seen[name] || known(f) || slices.ContainsFunc(raised, func(r model.Raised) bool { return same(f, r) }) {
			continue
		}
		seen[name] = true
		line := fmt.Sprintf("%s:%d", f.Path, f.Line)
		if f.Suggestion != "" && (suggested[line] || f.Line == 0) {
			f.Suggestion = ""
		}
		suggested[line] = suggested[line] || f.Suggestion != ""
		out = append(out, f)
	}
	return out
}

// same reports whether a finding was raised before: in the same words, or in similar ones about the very line, which has not
// changed since. What is settled is the same in similar words wherever it is, and on its line whatever is no must.
func same(f model.Finding, r model.Raised) bool {
	if f.Path != r.Path {
		return false
	}
	a, b := words(f.Text), words(r.Text)
	here := f.Line != 0 && int(f.Line) == r.Line
	return slices.Equal(a, b) || (here || r.Settled) && alike(a, b) || here && r.Settled && f.Severity != model.Must
}

// alike reports whether most words of the shorter text are in the longer one.
func alike(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	shared := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			shared++
		}
	}
	return len(a) >= 4 && len(b) <= 2*len(a) && 5*shared >= 4*len(a)
}

// Must are the findings that have to be fixed.
func Must(findings []model.Finding) []model.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f model.Finding) bool { return f.Severity != model.Must })
}
