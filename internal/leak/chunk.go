package leak

import (
	"context"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

const (
	chunkSize = 128 << 10 // gitleaks counts the lines of the whole text for every match
	overlap   = 8 << 10   // shared by two chunks: longer secrets, over several lines, may be missed
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
	if v.text == "" {
		return nil, nil
	}
	starts := []int{0}
	for i := range len(v.text) {
		if v.text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	//lint:ignore SA1019 no method of this version's detector takes a text and a path in another way
	for _, f := range s.detector.DetectContext(ctx, detect.Fragment{Raw: v.text, FilePath: file}) {
		m := span{rule: s.detector.Config.Rules[f.RuleID], secret: f.Secret}
		if m.rule.Regex == nil { // by the name of the file
			continue
		}
		from := max(0, starts[f.StartLine]+f.StartColumn-2) // columns count from the line end before
		from += max(0, strings.Index(v.text[from:], f.Match))
		m.from = from + max(0, strings.Index(f.Match, f.Secret))
		m.to = m.from + len(f.Secret)
		own := beyond[f.RuleID]
		if own.find != nil {
			at := m.rule.Regex.FindStringSubmatchIndex(v.text[from:]) // with what is behind the match
			for i := range at {
				at[i] += from
			}
			if m.from, m.to = own.find(v.text, at, file); m.to == 0 {
				continue
			}
			m.secret = v.text[m.from:m.to]
		}
		m.certain = s.certain(m)
		allowed := func(a *config.Allowlist) bool { return a.PathAllowed(file) || a.RegexAllowed(m.secret) }
		if (own.check == nil || own.check(m.secret)) && (m.certain || !strict && !slices.ContainsFunc(s.global, allowed)) {
			out = append(out, m)
		}
	}
	return out, ctx.Err()
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
	for _, r := range s.detector.Config.Rules {
		if r.Regex == nil && r.Path.MatchString(p.Path) {
			out = append(out, Finding{Commit: p.Commit, Path: shown, Rule: r.RuleID, Description: r.Description, Excerpt: "by its name", Certain: true})
		}
	}
	return out
}
