package leak

import (
	"context"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

const (
	chunkSize = 128 << 10
	overlap   = 8 << 10 // shared by two chunks: longer secrets, over several lines, may be missed
)

// chunk is a part of a text that is scanned at once.
type chunk struct {
	text        string
	at          int  // its offset
	left, right bool // it begins or ends in the middle of a line
}

// chunks cuts a text, at line ends where there are some.
func chunks(text string) (out []chunk) {
	for from := 0; ; {
		to := min(from+chunkSize, len(text))
		if to < len(text) {
			if i := strings.LastIndexByte(text[to-overlap:to], '\n'); i >= 0 {
				to += i + 1 - overlap
			}
		}
		out = append(out, chunk{text[from:to], from, from > 0 && text[from-1] != '\n', to < len(text) && text[to-1] != '\n'})
		if to == len(text) {
			return out
		}
		from = to - overlap
		if i := strings.IndexByte(text[from:to-overlap/2], '\n'); i >= 0 {
			from += i + 1
		}
	}
}

// span is a match: where in a text, by which rule.
type span struct {
	rule     config.Rule
	from, to int // of the secret
	secret   string
	certain  bool // it identifies itself
}

// tells ranks what a match says of itself.
func (m span) tells() int {
	switch {
	case m.certain:
		return 2
	case beyond[m.rule.RuleID].vague:
		return 0
	}
	return 1
}

// chunk gives the matches in a chunk, in what was split in it, and in what is encoded in it. Unlike gitleaks' own decoder, this one
// knows text beyond ASCII, UTF-16 and base64 in lines. In a binary file, in a name, and in what was changed only those secrets
// count that tell what they are.
func (s *Scanner) chunk(ctx context.Context, c chunk, p Piece) ([]span, error) {
	raw := &view{text: c.text}
	found, err := s.matches(ctx, raw, p.Path, p.Binary || p.isName())
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(m span) bool { // cut off here, whole in the next chunk or the one before
		return c.right && m.to == len(c.text) && m.from >= len(c.text)-overlap || c.left && m.from == 0 && m.to < overlap
	})
	coded := raw.edited(decode(raw.text))
	known := found
	for i, v := range []*view{raw.edited(joined(raw.text)), coded, coded.edited(decode(coded.text))} {
		hidden, err := s.matches(ctx, v, p.Path, true)
		if err != nil {
			return nil, err
		}
		for _, m := range hidden {
			m.from, m.to = v.origin(m.from, m.to)
			words := i == 0 && beyond[m.rule.RuleID].find != nil // what is joined by chance
			if !words && !slices.ContainsFunc(known, func(k span) bool { return k.in(m) }) {
				found = append(found, m)
			}
		}
	}
	for i := range found {
		found[i].from += c.at
		found[i].to += c.at
	}
	return found, nil
}

// in says that a match is a part of another one by the same rule, which was read from a changed text.
func (m span) in(other span) bool {
	return m.rule.RuleID == other.rule.RuleID && other.from <= m.from && m.from < other.to && strings.Contains(other.secret, m.secret)
}

// matches applies all rules to a view. strict: only those secrets count that tell what they are.
func (s *Scanner) matches(ctx context.Context, v *view, file string, strict bool) (out []span, err error) {
	words := map[string]bool{}
	for _, w := range s.keywords.MatchString(strings.ToLower(v.text)) {
		words[w.MatchString()] = true
	}
	for _, r := range s.rules {
		applies := len(r.Keywords) == 0 || slices.ContainsFunc(r.Keywords, func(w string) bool { return words[strings.ToLower(w)] })
		if r.Regex == nil || !applies || r.Path != nil && !r.Path.MatchString(file) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, at := range r.Regex.FindAllStringSubmatchIndex(v.text, -1) {
			if m, is := s.match(v.text, at, r, file); is && (m.certain || !strict && !m.allowed(s.global, v.text, at, file)) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// match returns the secret in a match of a rule, and false if that is none. at holds the bounds of the match and of its groups; a group
// outside of the match has -1.
func (s *Scanner) match(text string, at []int, r config.Rule, file string) (m span, is bool) {
	own := beyond[r.RuleID]
	m = span{rule: r, from: at[0], to: at[1]}
	switch {
	case r.SecretGroup > 0:
		m.from, m.to = at[2*r.SecretGroup], at[2*r.SecretGroup+1]
	case len(at) > 2: // the first group that is not empty
		for i := 2; i < len(at); i += 2 {
			if at[i] < at[i+1] {
				m.from, m.to = at[i], at[i+1]
				break
			}
		}
	}
	if m.from < 0 {
		return m, false
	}
	m.secret = strings.TrimRight(text[m.from:m.to], "\n")
	if r.Entropy > 0 && entropy(m.secret) <= r.Entropy || m.allowed(r.Allowlists, text, at, file) || m.hasStopWord(s.global) {
		return m, false
	}
	if own.find != nil {
		if m.from, m.to = own.find(text, at, file); m.to == 0 {
			return m, false
		}
		m.secret = text[m.from:m.to]
	}
	m.to, m.certain = m.from+len(m.secret), s.certain(m)
	return m, own.check == nil || own.check(m.secret)
}

// hasStopWord reports whether the secret has a word of one of the lists.
func (m span) hasStopWord(lists []*config.Allowlist) bool {
	return slices.ContainsFunc(lists, func(a *config.Allowlist) bool { is, _ := a.ContainsStopWord(m.secret); return is })
}

// allowed reports whether one of gitleaks' lists of exceptions names the secret, its match or line, or the file.
func (m span) allowed(lists []*config.Allowlist, text string, at []int, file string) bool {
	return slices.ContainsFunc(lists, func(a *config.Allowlist) bool {
		of := m.secret
		switch a.RegexTarget {
		case "match":
			of = text[at[0]:at[1]]
		case "line":
			from, behind := strings.LastIndexByte(text[:at[0]], '\n')+1, strings.IndexByte(text[at[1]:], '\n')
			if of = text[from:]; behind >= 0 {
				of = text[from : at[1]+behind]
			}
		}
		path, pattern, word := a.PathAllowed(file), a.RegexAllowed(of), m.hasStopWord([]*config.Allowlist{a})
		if a.MatchCondition == config.AllowlistMatchAnd {
			return (path || len(a.Paths) == 0) && (pattern || len(a.Regexes) == 0) && (word || len(a.StopWords) == 0)
		}
		return path || pattern || word
	})
}

// certain says that a match is a secret wherever it stands: it names its issuer, or what it is. Very short keywords tell nothing:
// "s." or "ey" are anywhere.
func (s *Scanner) certain(m span) bool {
	if own, is := beyond[m.rule.RuleID]; is {
		return !own.vague
	}
	secret := strings.ToLower(m.secret)
	return slices.ContainsFunc(m.rule.Keywords, func(w string) bool { return len(w) >= 3 && strings.Contains(secret, w) })
}

// byName reports a new file that is a key store by its name. shown is the name as it may be shown.
func (s *Scanner) byName(p Piece, shown string) (out []Finding) {
	for _, r := range s.rules {
		if r.Regex == nil && r.Path.MatchString(p.Path) {
			out = append(out, Finding{Commit: p.Commit, Path: shown, Rule: r.RuleID, Description: r.Description, Excerpt: "by its name", Certain: true})
		}
	}
	return out
}
