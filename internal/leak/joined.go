package leak

import "strings"

// A secret can be split: "ghp_abc" + "def", or at the end of a line. If a match ends at such a break, matching continues
// behind it.
const (
	mostParts  = 5
	leastPart  = 8   // of the first one with its beginning: shorter ones are words of a text
	leastMixed = 3.5 // bits a byte; what is joined by chance are words
)

// joined looks for a match that begins at an offset and is broken, for the first time at end.
func (t *task) joined(r *rule, a *automaton, from, end int) (span, bool) {
	if behind(t.text, end) == end {
		return span{}, false
	}
	state := a.start(t.text, from)
	var whole strings.Builder
	parts, part := 1, from
	for at, limit := from, min(len(t.text), from+lineShown); at < limit; {
		matched, next, _ := a.run(state, t.text, at, at+1)
		if matched {
			m := span{rule: r, from: from, to: at, secret: whole.String()}
			digit := strings.ContainsAny(m.secret[leastPart-4:], "0123456789")
			return m, parts > 1 && digit && entropy(m.secret) > leastMixed && t.secret(m, m.secret, t.text, t.file)
		}
		if next != dead {
			whole.WriteByte(t.text[at])
			state = next
			at++
			continue
		}
		to := behind(t.text, at)
		if to == at || at-part < leastPart || parts == mostParts {
			return span{}, false
		}
		parts, part, at = parts+1, to, to
	}
	return span{}, false
}

// behind returns where a text continues after a break at an offset: the end of a string and the start of the next, or a
// line end with the next line's indentation. Without a break it is the offset itself.
func behind(text string, at int) int {
	i := at
	next := func(set string, most int) bool {
		begin := i
		for i < len(text) && i-begin < most && strings.IndexByte(set, text[i]) >= 0 {
			i++
		}
		return i > begin
	}
	if next("\"'`", 1) {
		next(" \t\r\n", lineIndent)
		next("+.&\\", 1)
		next(" \t\r\n", lineIndent)
		if !next("\"'`", 1) {
			return at
		}
		return i
	}
	next("\\", 1)
	next("\r", 1)
	if !next("\n", 1) {
		return at
	}
	next(" \t", lineIndent)
	return i
}

const lineIndent = 64
