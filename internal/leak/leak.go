// Package leak looks for secrets in what is about to be published. The rules are those of gitleaks
// (https://github.com/gitleaks/gitleaks) and some of ours; what applies them is our own.
//
// gitleaks' own loop gives every pattern all of a text in which one of its keywords is, at some megabytes a second. Here one
// pass finds all keywords, and a pattern is tried where its keyword stands, by an automaton that needs one step a byte; so
// the time grows with the text, whatever is in it. Nothing is compiled before its keyword is met.
//
// The text comes from an agent, so nothing in it can speak for itself: a gitleaks:allow comment is a comment, and a
// .gitleaks.toml or .gitleaksignore is a file like any other. Nor does the name of a file exempt it: in lock files,
// vendored code, pictures and other files that gitleaks passes over by their names, a secret that tells by its own
// beginning whose it is (ghp_..., AKIA..., -----BEGIN ... PRIVATE KEY-----) is found all the same.
//
// A scanner finds what was leaked by mistake. Whoever wants to smuggle a secret out can always write it in another way:
// backwards, say, or every letter moved on by one.
package leak

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// Scan gives the secrets of which at least a part is new, in the order of the text. An error means that the piece was not
// looked at to its end, so that nothing is known about it; it never holds any of the text or of the path. ctx is what
// bounds the time: it is asked every 128 KiB.
func (s *Scanner) Scan(ctx context.Context, p Piece) (found []Finding, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			found, err = nil, fmt.Errorf("scan commit %.12s for secrets: the scanner broke down: %s", p.Commit, nameless(broken))
		}
	}()
	name := Piece{Commit: p.Commit, Path: p.Path, Text: []byte(p.Path)}
	text := plain(name)
	inName, err := s.spans(ctx, text, name)
	if err != nil {
		return nil, err
	}
	if len(inName) > 0 {
		p.Path = redact(string(text), inName)
	}
	if p.isName() {
		stores, err := s.byName(name, p.Path)
		return append(stores, report(text, p, inName)...), err
	}
	in := p
	in.Path = name.Path
	text = plain(p)
	spans, err := s.spans(ctx, text, in)
	if err != nil {
		return nil, err
	}
	return report(text, p, spans), nil
}

// spans are all matches in a text that is plain, none twice, in order. More than enough of them are cut off.
func (s *Scanner) spans(ctx context.Context, text []byte, p Piece) ([]span, error) {
	at := bounds(text)
	found := make([][]span, len(at))
	var next, stop atomic.Int64
	stop.Store(int64(len(at)))
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(at)))
	var all sync.WaitGroup
	look := func(err *error) {
		w := s.worker()
		defer func() {
			if broken := recover(); broken != nil {
				*err = fmt.Errorf("the scanner broke down: %s", nameless(broken))
				return
			}
			s.rest(w)
		}()
		certain := 0
		for i := next.Add(1) - 1; *err == nil && i < stop.Load(); i = next.Add(1) - 1 {
			found[i], *err = w.chunk(ctx, cut(text, at[i]), p)
			// What one worker has found until here is in a part of the text that all have begun with.
			found[i] = distinct(found[i])
			if certain += len(found[i]); p.Fresh == nil && certain > 2*enough {
				stop.Store(min(stop.Load(), i+1))
			}
		}
	}
	for i := range errs[1:] {
		all.Go(func() { look(&errs[i+1]) })
	}
	look(&errs[0])
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("scan commit %.12s for secrets: %w", p.Commit, err)
	}
	return distinct(slices.Concat(found...)), nil
}

// report describes the matches that reach into a new line.
func report(text []byte, p Piece, spans []span) []Finding {
	var out []Finding
	line, counted := 0, 0
	for _, m := range spans {
		if len(out) == enough {
			break
		}
		line += bytes.Count(text[counted:m.from], newline)
		counted = m.from
		if !fresh(p.Fresh, line, line+bytes.Count(text[m.from:max(m.from, m.to-1)], newline)) {
			continue
		}
		at := p.Line + line
		if p.isName() {
			at = 0
		}
		out = append(out, Finding{
			Commit: p.Commit, Path: p.Path, Line: at, Rule: m.rule.ID, Description: m.rule.Description,
			Excerpt: excerpt(m.secret), Certain: m.rule.certain(m.secret),
		})
	}
	return out
}

var newline = []byte("\n")

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
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rule.index, b.rule.index))
	})
	var out []span
	for _, m := range spans {
		if i := len(out) - 1; i >= 0 && m.from < out[i].to {
			if out[i].rule.vague && !m.rule.vague {
				out[i] = m
			}
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
