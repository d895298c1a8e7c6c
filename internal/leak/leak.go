// Package leak looks for secrets in what is about to be published. The rules are those of gitleaks
// (https://github.com/gitleaks/gitleaks), compiled into this program; the loop that applies them is our own.
//
// gitleaks' own loop comes with readers of archives, templates of reports and more: 60 modules and 6 MB, which is more than
// the whole program may still grow. It also runs its rules in the random order of a map, and logs here and there what it
// has found. So what is used of gitleaks is its configuration, with what that means, and its decoders.
//
// The text comes from an agent, so nothing in it can speak for itself: a gitleaks:allow comment is a comment, and a
// .gitleaks.toml or .gitleaksignore is a file like any other. Nor does the name of a file exempt it: in lock files,
// vendored code, pictures and other files that gitleaks passes over by their names, a secret that tells by its own
// beginning whose it is (ghp_..., AKIA..., -----BEGIN ... PRIVATE KEY-----) is found all the same.
//
// A scanner finds what was leaked by mistake. Whoever wants to smuggle a secret out can always write it in another way.
package leak

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limit is how long one push may be looked at. What takes longer is to be refused: it was made to take long.
const Limit = 2 * time.Minute

// enough findings of one piece are reported; the first would do to refuse it.
const enough = 100

// Piece is a stretch of text that is about to be published. git.Addition has the same fields.
type Piece struct {
	Commit string
	Path   string // bytes as git has them; "" is the commit itself: its headers and its message
	Line   int    // number of the first line of Text; 0 when Text is the path itself
	Text   []byte
	Fresh  []bool // for each line of Text: it is new; nil: all of them are
	Binary bool
}

// isName says that the text is the name of a file.
func (p Piece) isName() bool { return p.Line == 0 && p.Path != "" }

// Finding is a secret, described without it: everything in here may be shown to anybody.
type Finding struct {
	Commit      string
	Path        string // with the secret taken out where it was a part of the name; "" is the commit itself
	Line        int    // 0: the path itself; in a commit, lines of its message count from 1 and those of its headers down from 0
	Rule        string // id, as gitleaks names it
	Description string
	Excerpt     string // at most the first four characters, and how long it is
	Certain     bool   // the secret tells what it is by itself; else only what stands beside it does
}

// String is one line for a log.
func (f Finding) String() string {
	where := f.Path
	if strings.ContainsFunc(where, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		where = strconv.Quote(where)
	}
	switch {
	case f.Path == "":
		where = "commit message"
	case f.Line > 0:
		where += ":" + strconv.Itoa(f.Line)
	}
	return fmt.Sprintf("%.12s %s: %s (%s)", f.Commit, where, f.Rule, f.Excerpt)
}

// span is a match: where in a text, by which rule.
type span struct {
	rule     *rule
	from, to int // of the secret
	secret   string
}

// Scan gives the secrets of which at least a part is new, in the order of the text. An error means that the piece was not
// looked at to its end, so that nothing is known about it; it never holds any of the text or of the path. ctx is what
// bounds the time: it is asked between rules and every 128 KiB.
func (s *Scanner) Scan(ctx context.Context, p Piece) (found []Finding, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			found, err = nil, fmt.Errorf("scan commit %.12s for secrets: the scanner broke down: %s", p.Commit, nameless(broken))
		}
	}()
	name := Piece{Commit: p.Commit, Path: p.Path, Text: []byte(p.Path)}
	inName, err := s.spans(ctx, name)
	if err != nil {
		return nil, err
	}
	p.Path = redact(p.Path, inName)
	if p.isName() {
		return append(s.byName(name, p.Path), report(p, inName)...), nil
	}
	in := p
	in.Path = name.Path
	spans, err := s.spans(ctx, in)
	if err != nil {
		return nil, err
	}
	return report(p, spans), nil
}

// spans are all matches in a piece, none twice, in order.
func (s *Scanner) spans(ctx context.Context, p Piece) ([]span, error) {
	var all []span
	for _, c := range chunks(plain(p)) {
		some, err := s.match(ctx, c, p)
		if err != nil {
			return nil, fmt.Errorf("scan commit %.12s for secrets: %w", p.Commit, err)
		}
		all = append(all, some...)
	}
	return distinct(all), nil
}

// report describes the matches that reach into a new line.
func report(p Piece, spans []span) []Finding {
	if len(spans) == 0 {
		return nil
	}
	var out []Finding
	lines := starts(plain(p))
	for _, m := range spans {
		if len(out) == enough {
			break
		}
		first, last := lineOf(lines, m.from), lineOf(lines, max(m.from, m.to-1))
		if !fresh(p.Fresh, first, last) {
			continue
		}
		line := p.Line + first
		if p.isName() {
			line = 0
		}
		out = append(out, Finding{
			Commit: p.Commit, Path: p.Path, Line: line, Rule: m.rule.RuleID, Description: m.rule.Description,
			Excerpt: excerpt(m.secret), Certain: m.rule.tells(m.secret),
		})
	}
	return out
}

// redact takes secrets out of a name.
func redact(name string, spans []span) string {
	for _, m := range slices.Backward(spans) {
		name = name[:m.from] + excerpt(m.secret) + name[m.to:]
	}
	return name
}

// nameless says of what kind a panic was. Its words may quote the text, unless they are the runtime's.
func nameless(broken any) string {
	if e, ok := broken.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", broken)
}

// distinct sorts, and keeps one match where several rules found the same: of two that overlap the one whose rule knows
// more than "this looks like some key".
func distinct(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, m := range spans {
		if i := len(out) - 1; i >= 0 && m.from < out[i].to {
			if out[i].rule.generic && !m.rule.generic {
				out[i] = m
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// fresh tells whether any of the lines is new.
func fresh(lines []bool, first, last int) bool {
	return lines == nil || first < len(lines) && slices.Contains(lines[first:min(last+1, len(lines))], true)
}

// excerpt is what may be shown of a secret. Four characters of a long one tell its owner which one it is, and nobody
// anything else.
func excerpt(secret string) string {
	const long, shown = 24, 4
	head := ""
	if len(secret) >= long && !strings.ContainsFunc(secret[:shown], func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		head = secret[:shown]
	}
	return fmt.Sprintf("%s…, %d characters", head, len(secret))
}

// starts are the offsets at which lines begin.
func starts(text string) []int {
	at := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			at = append(at, i+1)
		}
	}
	return at
}

// lineOf is the index of the line that an offset is in.
func lineOf(lines []int, offset int) int {
	i, exact := slices.BinarySearch(lines, offset)
	if !exact {
		i--
	}
	return i
}
