package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	leastCode  = 16  // characters of base64; half as many are any word
	leastHex   = 32  // hexadecimal digits
	leastMixed = 3.5 // bits a byte of what was split; what is joined by chance are words,
	mostSplit  = 256 // or lines of base64
	around     = 256 // bytes before and behind an edit, to whole lines, that a pattern may need
)

// edit is a stretch of a text that has another meaning.
type edit struct {
	from, to int
	means    string
}

// A secret can be split: "ghp_abc" + "def", or at the end of a line. The first part has 8 characters: shorter ones are words.
const pause = `(?:["'\x60][ \t\r\n]{0,64}[+.&\\]?[ \t\r\n]{0,64}["'\x60]|\\?\r?\n[ \t]{0,64})`

var (
	split  = regexp.MustCompile(`[\w./+=-]{8,}(?:` + pause + `[\w./+=-]+){1,4}`)
	pauses = regexp.MustCompile(pause)
)

// joined leaves out where words were split.
func joined(text string) (out []edit) {
	for _, m := range split.FindAllStringIndex(text, -1) {
		s := text[m[0]:m[1]]
		whole := pauses.ReplaceAllString(s, "")
		if len(whole) > mostSplit || !strings.ContainsAny(whole, "0123456789") || entropy(whole) <= leastMixed {
			continue
		}
		for _, at := range pauses.FindAllStringIndex(s, -1) {
			out = append(out, edit{m[0] + at[0], m[0] + at[1], ""})
		}
	}
	return out
}

// escapes are %41, \x41, \u0041, \\u0041 and U+0041. Git configuration and Kubernetes manifests have secrets in base64, of which one
// line continues in the next when it has 60 characters.
const escapes = `%[0-7][0-9A-Fa-f]|\\{1,2}(?:[uU][0-9A-Fa-f]{4}|x[0-7][0-9A-Fa-f])|U\+[0-9A-Fa-f]{4} ?`

var (
	escape = regexp.MustCompile(escapes)
	codes  = regexp.MustCompile(escapes + `|[\w/+-]{60,}(?:\\?\r?\n[ \t]{0,64}[\w/+-]+={0,2})+|[\w/+-]{16,}={0,2}`)
	breaks = regexp.MustCompile(`[\s\\]+`)
	lined  = regexp.MustCompile(`[^\s\\]+`)
)

// decode reads what is encoded.
func decode(text string) (out []edit) {
	for _, m := range codes.FindAllStringIndex(text, -1) {
		s := text[m[0]:m[1]]
		if escape.FindString(s) == s {
			n, _ := strconv.ParseUint(strings.TrimLeft(strings.TrimSpace(s), `%\xuU+`), 16, 32)
			out = append(out, edit{m[0], m[1], string(rune(n))})
			continue
		}
		lines := lined.FindAllStringIndex(s, -1)
		read := func(first, behind int) bool {
			from, to := lines[first][0], lines[behind-1][1]
			means := decoded(breaks.ReplaceAllString(s[from:to], ""))
			if means != "" {
				out = append(out, edit{m[0] + from, m[0] + to, means + " "}) // its end is one of what it says
			}
			return means != ""
		}
		same, i := 1, 0 // lines of one length; the last one may be shorter
		for same < len(lines) && lines[same][1]-lines[same][0] == lines[0][1]-lines[0][0] {
			same++
		}
		for _, n := range []int{min(same+1, len(lines)), same} {
			if i == 0 && read(0, n) {
				i = n
			}
		}
		for ; i < len(lines); i++ {
			read(i, i+1)
		}
	}
	return out
}

// decoded decodes one stretch; "" if the result is not text.
func decoded(s string) string {
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
	b, err := encoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return asText(b)
}

// view is a text in which a secret may be found: the original, or one that was made of it.
type view struct {
	text  string
	of    *view
	parts []part
}

// part is a stretch of a view, and where it is in the other one: byte by byte, unless its meaning was read.
type part struct {
	at, from, to int
	read         bool
}

// origin gives the bounds in the original of a stretch of a view.
func (v *view) origin(from, to int) (int, int) {
	if v.of == nil {
		return from, to
	}
	with := func(at int) part {
		return v.parts[sort.Search(len(v.parts), func(i int) bool { return v.parts[i].at > at })-1]
	}
	first, last := with(from), with(max(from, to-1))
	if !first.read {
		first.from += from - first.at
	}
	if !last.read {
		last.to = last.from + to - last.at
	}
	return v.of.origin(first.from, last.to)
}

// edited gives what there is to edit in a view, with what is around it.
func (v *view) edited(all []edit) *view {
	out := &view{of: v}
	var text strings.Builder
	add := func(from, to int, s string, read bool) {
		out.parts = append(out.parts, part{text.Len(), from, to, read})
		text.WriteString(s)
	}
	at, end := 0, -1 // up to where it is in the other one, and up to where it is going to be
	for _, e := range all {
		if e.from > end {
			add(at, max(at, end), v.text[at:max(at, end)]+"\n", false)
			at = max(end+1, strings.LastIndexByte(v.text[:max(0, e.from-around)], '\n')+1)
		}
		add(at, e.from, v.text[at:e.from], false)
		add(e.from, e.to, e.means, true)
		at, end = e.to, len(v.text)
		if far := min(end, at+around); strings.Contains(v.text[far:], "\n") {
			end = far + strings.IndexByte(v.text[far:], '\n')
		}
	}
	if len(all) > 0 {
		add(at, end, v.text[at:end], false)
	}
	out.text = text.String()
	return out
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
