package leak

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect/codec"
)

const (
	chunkSize = 128 << 10 // a pattern runs over this much at once; between two of them ctx is asked
	overlap   = 8 << 10   // what two chunks have in common: longer secrets, over several lines, are not found for certain
	lineShown = 1 << 10   // how much of a line around a match an allow list is shown
)

// chunk is a part of a text that patterns run over at once.
type chunk struct {
	text        string
	at          int  // its offset
	left, right bool // it begins or ends in the middle of a line
}

// chunks cuts a text at line ends where there are some.
func chunks(text string) []chunk {
	var out []chunk
	for from := 0; ; {
		to := min(from+chunkSize, len(text))
		if to < len(text) {
			if i := strings.LastIndexByte(text[to-overlap:to], '\n'); i >= 0 {
				to += i + 1 - overlap
			}
		}
		out = append(out, chunk{
			text: text[from:to], at: from,
			left: from > 0 && text[from-1] != '\n', right: to < len(text) && text[to-1] != '\n',
		})
		if to == len(text) {
			return out
		}
		from = to - overlap
		if i := strings.IndexByte(text[from:to-overlap/2], '\n'); i >= 0 {
			from += i + 1
		}
	}
}

// plain is the text as patterns see it. In a binary file a zero byte ends a string; where every other byte is one, it is
// UTF-16 and they are dropped. Lines stay lines.
func plain(p Piece) string {
	if !p.Binary {
		return string(p.Text)
	}
	by := []byte{' '}
	if bytes.Count(p.Text, []byte{0}) > len(p.Text)*2/5 {
		by = nil
	}
	return string(bytes.ReplaceAll(p.Text, []byte{0}, by))
}

// match applies all rules to a chunk. In a binary file, in a name, and in a file that gitleaks passes over by its name,
// only those secrets count that tell what they are.
func (s *Scanner) match(ctx context.Context, c chunk, p Piece) ([]span, error) {
	found, err := s.run(ctx, c.text, p.Path, p.Binary || p.isName() || s.passedOver(p.Path))
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(m span) bool { // cut off here, whole in the next chunk or the one before
		return c.right && m.to == len(c.text) && m.from >= len(c.text)-overlap || c.left && m.from == 0 && m.to < overlap
	})
	at := 0
	for line := range strings.Lines(c.text) {
		hidden, err := s.decoded(ctx, line, p.Path)
		if err != nil {
			return nil, err
		}
		found = append(found, move(hidden, at)...)
		at += len(line)
	}
	return move(found, c.at), nil
}

// move shifts matches by an offset.
func move(spans []span, by int) []span {
	for i := range spans {
		spans[i].from += by
		spans[i].to += by
	}
	return spans
}

// decoded applies all rules to what is encoded in a line: base64, hexadecimal, percent and Unicode escapes, once. So do
// the configuration of git and the manifests of Kubernetes hold secrets. Only those count that tell what they are.
func (s *Scanner) decoded(ctx context.Context, line, file string) ([]span, error) {
	if !dense(line) {
		return nil, nil
	}
	text, segments := codec.NewDecoder().Decode(line, nil)
	if len(segments) == 0 {
		return nil, nil
	}
	found, err := s.run(ctx, text, file, true)
	var out []span
	for _, m := range found {
		over := codec.SegmentsWithDecodedOverlap(segments, m.from, m.to)
		if len(over) == 0 {
			continue // it was found as it stands
		}
		at := codec.AdjustMatchIndex(over, []int{m.from, m.to})
		m.from = min(max(at[0], 0), len(line))
		m.to = min(max(at[1], m.from), len(line))
		out = append(out, m)
	}
	return out, err
}

// dense says that a line may have a secret encoded in it. Looking closer is dear, and few lines have so long a word.
func dense(line string) bool {
	const word = 24
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("+/-_%\\", c) >= 0:
			if n++; n == word {
				return true
			}
		default:
			n = 0
		}
	}
	return false
}

// run applies the rules that may find something to a text; ctx is asked before each.
func (s *Scanner) run(ctx context.Context, text, file string, strict bool) ([]span, error) {
	var out []span
	for _, i := range s.suspects(text) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, m := range s.apply(&s.rules[i], text, file) {
			if !strict || m.rule.tells(m.secret) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// suspects are the rules one of whose words is in the text, in their order.
func (s *Scanner) suspects(text string) []int {
	found := slices.Clone(s.always)
	seen := make([]bool, len(s.about))
	s.words.Walk(lower(text), func(_, _, word int64) bool {
		if !seen[word] {
			seen[word] = true
			found = append(found, s.about[word]...)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// lower makes ASCII letters small and leaves all else as it is, offsets included.
func lower(text string) []byte {
	out := []byte(text)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] = b + 'a' - 'A'
		}
	}
	return out
}

// apply gives what one rule finds, by the same steps as gitleaks' detectRule.
func (s *Scanner) apply(r *rule, text, file string) []span {
	if r.Regex == nil || r.Path != nil && !r.Path.MatchString(file) || slices.ContainsFunc(r.Allowlists, func(a *config.Allowlist) bool {
		return a.MatchCondition == config.AllowlistMatchOr && a.PathAllowed(file)
	}) {
		return nil
	}
	var out []span
	for _, at := range r.all(text) {
		match := strings.TrimRight(text[at[0]:at[1]], "\n")
		from := at[0] + len(match)
		match = strings.TrimLeft(match, "\n")
		from -= len(match)
		m := span{rule: r, from: from, to: from + len(match), secret: match}
		if group := r.group(match); group != nil {
			m.from, m.to, m.secret = from+group[0], from+group[1], match[group[0]:group[1]]
		}
		if r.Entropy != 0 && entropy(m.secret) <= r.Entropy || s.allowed(r, m, match, lineAround(text, at[0], at[1]), file) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// all gives where the rule's pattern matches. Most patterns begin with the rest of a name, lazily; going over a text with
// that takes ten times as long as without it, and which name it is can be read backwards where there is a match.
func (r *rule) all(text string) [][]int {
	if r.brief == nil {
		return r.Regex.FindAllStringIndex(text, -1)
	}
	found := r.brief.FindAllStringIndex(text, -1)
	end := 0
	for _, at := range found {
		for n := 0; n < nameRest && at[0] > end && inName(text[at[0]-1]); n++ {
			at[0]--
		}
		end = at[1]
	}
	return found
}

// inName is the class [\w.-].
func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// group is where in a match the secret is: in the group that the rule names, else in the first that is not empty.
func (r *rule) group(match string) []int {
	groups := r.Regex.FindStringSubmatchIndex(match)
	for i := 1; i < len(groups)/2; i++ {
		if at := groups[2*i : 2*i+2]; r.SecretGroup == i || r.SecretGroup == 0 && at[0] < at[1] {
			if at[0] < 0 {
				return nil
			}
			return at
		}
	}
	return nil
}

// allowed asks the allow lists, the rule's and the global one. A secret that tells whose it is is no placeholder, so of
// the global list only the words count for it; the patterns there are not all anchored.
func (s *Scanner) allowed(r *rule, m span, match, line, file string) bool {
	for _, a := range s.global {
		if stop, _ := a.ContainsStopWord(m.secret); stop || a.RegexAllowed(m.secret) && !r.tells(m.secret) {
			return true
		}
	}
	return slices.ContainsFunc(r.Allowlists, func(a *config.Allowlist) bool {
		target := map[string]string{"match": match, "line": line, "": m.secret}[a.RegexTarget]
		stop, _ := a.ContainsStopWord(m.secret)
		if a.MatchCondition == config.AllowlistMatchOr {
			return stop || a.RegexAllowed(target)
		}
		return (len(a.Paths) == 0 || a.PathAllowed(file)) && (len(a.Regexes) == 0 || a.RegexAllowed(target)) && (len(a.StopWords) == 0 || stop)
	})
}

// lineAround is the line, or lines, that a match is in, cut where they are long.
func lineAround(text string, from, to int) string {
	start := max(strings.LastIndexByte(text[:from], '\n')+1, from-lineShown)
	end := len(text)
	if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
		end = to + i
	}
	return text[start:min(end, to+lineShown)]
}

// passedOver says that gitleaks would not look into a file of this name.
func (s *Scanner) passedOver(file string) bool {
	return slices.ContainsFunc(s.global, func(a *config.Allowlist) bool { return a.PathAllowed(file) })
}

// byName gives what a new file is by its name alone: a store of keys. shown is the name as it may be shown.
func (s *Scanner) byName(p Piece, shown string) []Finding {
	var out []Finding
	for _, i := range s.always {
		if r := s.rules[i]; r.Regex == nil && r.Path != nil && r.Path.MatchString(p.Path) {
			out = append(out, Finding{Commit: p.Commit, Path: shown, Rule: r.RuleID, Description: r.Description, Excerpt: "by its name", Certain: true})
		}
	}
	return out
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			share := float64(n) / float64(len(s))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}
