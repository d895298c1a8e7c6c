package leak

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

const (
	chunkSize = 128 << 10 // size of a chunk; ctx is checked between two of them
	overlap   = 8 << 10   // shared by two chunks: longer secrets, over several lines, may be missed
	lineShown = 1 << 10   // how much of a line around a match allow lists see
)

// chunk is a part of a text that is scanned at once.
type chunk struct {
	text        string
	at          int  // its offset
	left, right bool // it begins or ends in the middle of a line
}

// bounds cuts a text at line ends where there are some, and gives where the chunks begin and end.
func bounds(text []byte) [][2]int {
	var out [][2]int
	for from := 0; ; {
		to := min(from+chunkSize, len(text))
		if to < len(text) {
			if i := bytes.LastIndexByte(text[to-overlap:to], '\n'); i >= 0 {
				to += i + 1 - overlap
			}
		}
		out = append(out, [2]int{from, to})
		if to == len(text) {
			return out
		}
		from = to - overlap
		if i := bytes.IndexByte(text[from:to-overlap/2], '\n'); i >= 0 {
			from += i + 1
		}
	}
}

// cut gives a chunk by its bounds.
func cut(text []byte, at [2]int) chunk {
	from, to := at[0], at[1]
	return chunk{
		text: string(text[from:to]), at: from,
		left: from > 0 && text[from-1] != '\n', right: to < len(text) && text[to-1] != '\n',
	}
}

// span is a match: where in a text, by which rule.
type span struct {
	rule     *rule
	from, to int // of the secret
	secret   string
	certain  bool // it identifies itself
}

// tells ranks what a match says of itself.
func (m span) tells() int {
	switch {
	case m.certain:
		return 2
	case m.rule.vague:
		return 0
	}
	return 1
}

// match makes a span from a rule's match, by its groups, unless it turns out to be no secret.
func (w *worker) match(r *rule, text, file string, groups []int) (span, bool) {
	from, to := groups[0], groups[1]
	for n := 0; n < r.name && from > w.done[r.index] && inName(text[from-1]); n++ {
		from--
	}
	w.done[r.index] = to
	whole := strings.TrimRight(text[from:to], "\n")
	from += len(whole)
	whole = strings.TrimLeft(whole, "\n")
	from -= len(whole)
	m := span{rule: r, from: from, to: from + len(whole), secret: whole}
	if at := r.group(groups); at[1] > at[0] {
		m.from, m.to, m.secret = at[0], at[1], text[at[0]:at[1]]
	}
	return m, w.secret(m, whole, text, file)
}

// group is where the secret is: in the group that the rule names, else in the first that is not empty.
func (r *rule) group(groups []int) [2]int {
	for i := 1; i < len(groups)/2; i++ {
		if at := [2]int(groups[2*i : 2*i+2]); r.SecretGroup == i || r.SecretGroup == 0 && at[0] < at[1] {
			return at
		}
	}
	return [2]int{}
}

// secret makes the checks beyond a pattern: the entropy, our own check, and the allow lists.
func (w *worker) secret(m span, match, text, file string) bool {
	r := m.rule
	return (r.Entropy == 0 || entropy(m.secret) > r.Entropy) && (r.check == nil || r.check(m.secret)) && !w.allowed(m, match, text, file)
}

// inName is the class [\w.-].
func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// allowed checks the allow lists, the rule's and the global one. A secret that identifies itself is no placeholder, so of
// the global list only the words apply to it; the patterns there are not all anchored.
func (w *worker) allowed(m span, match, text, file string) bool {
	for _, a := range w.s.global {
		if a.word(m.secret) || !m.rule.certain(m.secret) && w.matches(a, m.secret) {
			return true
		}
	}
	lists := m.rule.Allowlists
	if slices.ContainsFunc(lists, func(a *allowlist) bool { return !a.all() && a.word(m.secret) }) { // most do, and it takes least
		return true
	}
	return slices.ContainsFunc(lists, func(a *allowlist) bool {
		target := m.secret
		switch a.RegexTarget {
		case "match":
			target = match
		case "line":
			target = lineAround(text, m.from, m.to)
		}
		if a.all() {
			return (len(a.Paths) == 0 || a.path(file)) && (len(a.StopWords) == 0 || a.word(m.secret)) && (len(a.Regexes) == 0 || w.matches(a, target))
		}
		return a.path(file) || w.matches(a, target)
	})
}

// matches reports whether a text matches a pattern of a list. The automaton is exact for ASCII.
func (w *worker) matches(a *allowlist, text string) bool {
	if len(a.Regexes) == 0 {
		return false
	}
	for i := range len(text) {
		if text[i] >= high {
			return a.regex(text)
		}
	}
	m := w.lists[a]
	if m == nil {
		var err error
		if m, err = newAutomaton(anyOf(a.Regexes), true); err != nil {
			return a.regex(text)
		}
		w.lists[a] = m
	}
	matched, _, _ := m.run(m.start(text, 0), text, 0, len(text))
	return matched
}

// lineAround is the line, or lines, that a match is in, cut where they are long.
func lineAround(text string, from, to int) string {
	start := max(0, from-lineShown)
	start += strings.LastIndexByte(text[start:from], '\n') + 1
	end := min(len(text), to+lineShown)
	if i := strings.IndexByte(text[to:end], '\n'); i >= 0 {
		end = to + i
	}
	return text[start:end]
}

// passedOver reports whether gitleaks would skip a file of this name.
func (s *Scanner) passedOver(file string) bool {
	return slices.ContainsFunc(s.global, func(a *allowlist) bool { return a.path(file) })
}

// byName reports a new file that is a key store by its name. shown is the name as it may be shown.
func (s *Scanner) byName(p Piece, shown string) ([]Finding, error) {
	var out []Finding
	for _, r := range s.always {
		if err := r.ready(); err != nil {
			return nil, err
		}
		if r.Regex == "" && r.path != nil && r.path.MatchString(p.Path) {
			out = append(out, Finding{Commit: p.Commit, Path: shown, Rule: r.ID, Description: r.Description, Excerpt: "by its name", Certain: true})
		}
	}
	return out, nil
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for i := range len(s) {
		if n := count[s[i]]; n > 0 {
			sum += weighted(n)
			count[s[i]] = 0
		}
	}
	return (weighted(len(s)) - sum) / float64(max(1, len(s)))
}

// weighted is n times the bits of n; most secrets are short.
func weighted(n int) float64 {
	if n < len(weights) {
		return weights[n]
	}
	return float64(n) * math.Log2(float64(n))
}

var weights = func() (w [128]float64) {
	for n := 1; n < len(w); n++ {
		w[n] = float64(n) * math.Log2(float64(n))
	}
	return w
}()
