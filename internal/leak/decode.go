package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	deepest    = 2   // maximum levels of encoding
	leastCode  = 16  // characters of base64; half as many are any word
	leastHex   = 32  // hexadecimal digits
	wrapped    = 60  // characters in a line at least where base64 goes on in the next one
	aroundCode = 256 // bytes around decoded text that patterns may need
)

// code is a stretch of a text that was encoded.
type code struct {
	from, to int
	means    string
}

// view is a text with its encoded parts decoded.
type view struct {
	text   strings.Builder
	parts  []part
	looked int // bytes tried as encoded text
}

// part maps a stretch of a view to its origin.
type part struct {
	at, from, to int // where it begins, and the bounds of the original
	coded        bool
}

// decoded applies all rules to encoded parts of a text: base64, hexadecimal, percent, and escapes of programming languages.
// Git configuration and Kubernetes manifests store secrets like that. Only findings that identify themselves count.
func (w *worker) decoded(text, file string, depth int) ([]span, error) {
	v := decode(text)
	w.given += v.looked
	if len(v.parts) == 0 {
		return nil, nil
	}
	found, err := w.run(v.text.String(), file, true)
	if err == nil && depth+1 < deepest {
		var deeper []span
		deeper, err = w.decoded(v.text.String(), file, depth+1)
		found = append(found, deeper...)
	}
	if err != nil {
		return nil, err
	}
	var out []span
	for _, m := range found {
		from, to, coded := v.origin(m.from, m.to)
		if coded { // otherwise it was found undecoded
			m.from, m.to = from, to
			out = append(out, m)
		}
	}
	return out, nil
}

// decode decodes all encoded parts of a text, with their surroundings.
func decode(text string) *view {
	v := &view{}
	shown := 0 // up to where the original is in the view
	last := 0  // where the last code ends
	r := &reader{text: text}
	r.all(func(c code) {
		from := max(shown, c.from-aroundCode)
		if len(v.parts) > 0 && from > last+aroundCode {
			v.add(text, last, last+aroundCode, "", false)
			v.add("\n", 0, 1, "", false)
			last = from
		} else if len(v.parts) > 0 {
			from = last
		}
		v.add(text, from, c.from, "", false)
		v.add(text, c.from, c.to, c.means, true)
		last, shown = c.to, c.to
	})
	if len(v.parts) > 0 {
		v.add(text, last, min(len(text), last+aroundCode), "", false)
	}
	v.looked = r.looked
	return v
}

func (v *view) add(text string, from, to int, means string, coded bool) {
	v.parts = append(v.parts, part{v.text.Len(), from, to, coded})
	if coded {
		v.text.WriteString(means)
	} else {
		v.text.WriteString(text[from:to])
	}
}

// origin maps the bounds of a match to the original, and reports whether any of it was encoded.
func (v *view) origin(from, to int) (start, end int, coded bool) {
	i, exact := slices.BinarySearchFunc(v.parts, from, func(p part, at int) int { return p.at - at })
	if !exact {
		i--
	}
	for i+1 < len(v.parts) && v.parts[i+1].at <= from { // parts can be empty
		i++
	}
	for first := true; i < len(v.parts) && v.parts[i].at < max(to, from+1); i++ {
		p := v.parts[i]
		a, b := p.from, p.to
		if !p.coded {
			a, b = p.from+max(0, from-p.at), min(p.to, p.from+to-p.at)
		}
		if first {
			start, first = a, false
		}
		end = b
		coded = coded || p.coded
	}
	return start, end, coded
}

// reader finds codes in a text.
type reader struct {
	text      string
	unwrapped int // lines before that are not joined: they were
	looked    int
}

// all calls found with every encoded part, in order.
func (r *reader) all(found func(code)) {
	for i := 0; i < len(r.text); {
		switch c := r.text[i]; {
		case isCode[c]:
			i = r.run(i, found)
		case c == '%' || c == '\\':
			means, to := escape(r.text, i)
			if to > i {
				found(code{i, to, means})
				i = to
			} else {
				i++
			}
		default:
			i++
		}
	}
}

// isCode is the alphabet of base64, of the kind for addresses too.
var isCode = func() (set [256]bool) {
	for c := range set {
		b := byte(c)
		set[c] = b != '.' && inName(b) || b == '/' || b == '+'
	}
	return set
}()

// endOf gives the end of what is made of the alphabet.
func endOf(text string, at int) int {
	for at < len(text) && isCode[text[at]] {
		at++
	}
	return at
}

// run looks at a stretch of the alphabet and gives where to go on.
func (r *reader) run(from int, found func(code)) int {
	text := r.text
	to := endOf(text, from)
	if text[from] == 'U' && strings.HasPrefix(text[from:to], "U+") && to-from == len("U+0000") {
		if n, err := strconv.ParseUint(text[from+2:to], 16, 32); err == nil {
			end := to
			if end < len(text) && text[end] == ' ' {
				end++
			}
			found(code{from, end, string(rune(n))})
			return end
		}
	}
	if to-from < leastCode {
		return to
	}
	if from >= r.unwrapped {
		lines, end := unwrap(text, from, to)
		r.unwrapped = end
		if means := r.plain(lines); means != "" {
			found(code{from, end, means})
			return end
		}
	}
	end := to
	for end < len(text) && end < to+2 && text[end] == '=' {
		end++
	}
	if means := r.plain(text[from:end]); means != "" {
		found(code{from, end, means})
		return end
	}
	return to
}

// unwrap joins the lines of what is broken at a certain width, from its first one on.
func unwrap(text string, from, to int) (string, int) {
	width := to - from
	if width < wrapped {
		return "", to
	}
	var all strings.Builder
	all.WriteString(text[from:to])
	for end := to; ; {
		next := behind(text, end)
		if next == end || text[end] != '\n' && text[end] != '\r' {
			return all.String(), end
		}
		last := endOf(text, next)
		for last < len(text) && text[last] == '=' && last-next < width {
			last++
		}
		if last == next || last-next > width {
			return all.String(), end
		}
		all.WriteString(text[next:last])
		end = last
		if last-next < width || text[last-1] == '=' {
			return all.String(), end
		}
	}
}

// plain decodes a part; "" if the result is not text.
func (r *reader) plain(s string) string {
	r.looked += len(s)
	s = strings.TrimRight(s, "=")
	if h := strings.TrimPrefix(s, "0x"); len(h) >= leastHex {
		if b, err := hex.DecodeString(h); err == nil {
			if means := asText(b); means != "" {
				return means
			}
		}
	}
	if len(s) < leastCode || !strings.ContainsAny(s, "0123456789+/-_") {
		return ""
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	// Most parts are not text, which shows at their start.
	if b, err := encoding.DecodeString(s[:leastCode-leastCode%4]); err != nil || asText(b) == "" {
		return ""
	}
	b, err := encoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return asText(b)
}

// mostOdd is one byte in how many at most that no text holds: a letter of an older encoding, or a zero behind a string.
const mostOdd = 8

// asText is what bytes say that are text in UTF-8 or UTF-16, or nearly so; "" if they are not. The last character can be cut.
func asText(b []byte) string {
	if wide(b) {
		b = narrow(b)
	}
	odd, most := 0, len(b)/mostOdd
	for i := 0; i < len(b) && odd <= most; {
		if c := b[i]; c < utf8.RuneSelf {
			if c <= 8 || c == 127 {
				odd++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 && utf8.FullRune(b[i:]) {
			odd++
		}
		i += size
	}
	if odd > most {
		return ""
	}
	return string(visible(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
}

// wide says that bytes are UTF-16 as Windows writes it: of most characters the second byte is zero.
func wide(b []byte) bool {
	zeros := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 && b[i-1] != 0 {
			zeros++
		}
	}
	return len(b)%2 == 0 && zeros > len(b)*2/5
}

// narrow makes UTF-8 of UTF-16.
func narrow(b []byte) (out []byte) {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return out
}

// escape reads %41, \x41, \u0041 and \\u0041.
func escape(text string, at int) (means string, to int) {
	digits, i := 2, at+1
	if text[at] == '\\' {
		if i < len(text) && text[i] == '\\' {
			i++
		}
		if i >= len(text) {
			return "", at
		}
		switch text[i] {
		case 'u', 'U':
			digits = 4
		case 'x':
		default:
			return "", at
		}
		i++
	}
	if i+digits > len(text) {
		return "", at
	}
	n, err := strconv.ParseUint(text[i:i+digits], 16, 32)
	if err != nil || strings.ContainsAny(text[i:i+digits], "_+-") {
		return "", at
	}
	if n >= utf8.RuneSelf && digits == 2 {
		return "", at
	}
	return string(rune(n)), i + digits
}
