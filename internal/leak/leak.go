// Package leak looks for secrets in what is about to be published, with the rules of gitleaks
// (https://github.com/gitleaks/gitleaks) and some of ours. It first undoes what hides a secret from a pattern: an encoding,
// invisible characters, or a break in the middle.
//
// The text comes from an agent, so nothing in it can exempt itself: gitleaks:allow comments, .gitleaks.toml and .gitleaksignore
// have no effect. Nor do file names. In lock files, vendored code, images and other files that gitleaks skips by name, secrets
// with a prefix of their own (ghp_..., AKIA..., -----BEGIN ... PRIVATE KEY-----) are still found.
//
// A scanner finds accidental leaks. Deliberate ones can always be disguised, for example by writing the secret backwards.
package leak

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limit is the maximum time to scan one push, and Most the maximum of its text in bytes. Refuse a push that is over one of them.
// gitleaks takes about a second for a megabyte, and much longer for a text that was made to take long.
const (
	Limit = 2 * time.Minute
	Most  = 16 << 20
)

// ErrTooMuch is the error of Scan and All for a text over Most.
var ErrTooMuch = fmt.Errorf("more than %d MB of text", Most>>20)

// enough limits the findings that Scan reports per piece.
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

// isName reports whether the text is a file's name.
func (p Piece) isName() bool { return p.Line == 0 && p.Path != "" }

// Finding describes a secret without revealing it: all of it may be shown.
type Finding struct {
	Commit      string
	Path        string // with the secret taken out where it was a part of the name; "" is the commit itself
	Line        int    // 0: the path itself; in a commit, lines of its message count from 1 and those of its headers down from 0
	Last        int    // the last line that the secret reaches into
	Rule        string // id, as gitleaks names it
	Description string
	Excerpt     string // at most the first four characters, and how long it is
	Certain     bool   // the secret identifies itself; else only its context does
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

// Scan returns the secrets that are at least partly new, in order of the text: the first 100 of them, since one is enough to
// refuse a push. An error means that the piece was not scanned to its end, so its contents are unknown; it never quotes text
// or path. ctx limits the time: it is checked before each rule.
func (s *Scanner) Scan(ctx context.Context, p Piece) ([]Finding, error) {
	return s.scan(ctx, p, enough)
}

// All is Scan for whoever takes secrets out of a text: it returns every one of them.
func (s *Scanner) All(ctx context.Context, p Piece) ([]Finding, error) {
	return s.scan(ctx, p, math.MaxInt)
}

// scan returns at most that many findings.
func (s *Scanner) scan(ctx context.Context, p Piece, most int) (found []Finding, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			found, err = nil, fmt.Errorf("scan commit %.12s for secrets: the scanner failed: %s", p.Commit, nameless(broken))
		}
	}()
	if len(p.Text) > Most {
		return nil, fmt.Errorf("scan commit %.12s for secrets: %w", p.Commit, ErrTooMuch)
	}
	name := Piece{Commit: p.Commit, Path: p.Path, Text: []byte(p.Path)}
	text := plain(name)
	inName, err := s.spans(ctx, text, name, math.MaxInt)
	if err != nil {
		return nil, err
	}
	if len(inName) > 0 {
		p.Path = redact(string(text), inName)
	}
	if p.isName() {
		return append(s.byName(name, p.Path), report(text, p, inName, most)...), nil
	}
	in := p
	in.Path = name.Path
	text = plain(p)
	spans, err := s.spans(ctx, text, in, most)
	if err != nil {
		return nil, err
	}
	return report(text, p, spans, most), nil
}

// spans are all matches in a text that is plain, none twice, in order. Of a text that is new it looks no further once it has
// more than are wanted.
func (s *Scanner) spans(ctx context.Context, text []byte, p Piece, most int) (found []span, err error) {
	for _, c := range chunks(string(text)) {
		some, err := s.chunk(ctx, c, p)
		if err != nil {
			return nil, fmt.Errorf("scan commit %.12s for secrets: %w", p.Commit, err)
		}
		if found = distinct(append(found, some...)); p.Fresh == nil && len(found) > most {
			break
		}
	}
	return found, nil
}

// report describes the matches that reach into a new line.
func report(text []byte, p Piece, spans []span, most int) []Finding {
	var out []Finding
	line, counted := 0, 0
	for _, m := range spans {
		if len(out) == most {
			break
		}
		line += bytes.Count(text[counted:m.from], newline)
		counted = m.from
		last := line + bytes.Count(text[m.from:max(m.from, m.to-1)], newline)
		if !fresh(p.Fresh, line, last) {
			continue
		}
		at, to := p.Line+line, p.Line+last
		if p.isName() {
			at, to = 0, 0
		}
		out = append(out, Finding{
			Commit: p.Commit, Path: p.Path, Line: at, Last: to, Rule: m.rule.RuleID, Description: m.rule.Description,
			Excerpt: excerpt(m.secret), Certain: m.certain,
		})
	}
	return out
}

var newline = []byte("\n")

// redact removes secrets from a name.
func redact(name string, spans []span) string {
	for _, m := range slices.Backward(spans) {
		name = name[:m.from] + excerpt(m.secret) + name[m.to:]
	}
	return name
}

// nameless describes a panic's kind. Its message may quote the text, unless it is the runtime's.
func nameless(broken any) string {
	if e, ok := broken.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", broken)
}

// distinct sorts, and makes one match of those that overlap. It reaches over all of them and is that of the rule that tells
// most: a token in a command of curl is the token that it is, and not only what follows curl.
func distinct(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rule.RuleID, b.rule.RuleID))
	})
	var out []span
	for _, m := range spans {
		if i := len(out) - 1; i >= 0 && m.from < out[i].to {
			from, to := out[i].from, max(out[i].to, m.to)
			if m.tells() > out[i].tells() {
				out[i] = m
			}
			out[i].from, out[i].to = from, to
			continue
		}
		out = append(out, m)
	}
	return out
}

// fresh reports whether any of the lines is new.
func fresh(lines []bool, first, last int) bool {
	return lines == nil || first < len(lines) && slices.Contains(lines[first:min(last+1, len(lines))], true)
}

// excerpt is what may be shown of a secret. Four characters of a long one identify it to its owner, and to nobody else.
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
