package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
)

// linesOf maps the place of each key of a valid TOML document ("repo.track", "merge.rule[0].branch") to its line. The TOML
// library reports positions only for syntax errors. It has accepted the text already, so this scanner only needs to know
// where keys and values end.
func linesOf(text string) map[string]int { return scan(text).places }

// span is the lines of a key, with its value, or of the header of a table, whose place is "".
type span struct {
	table, place string
	first, last  int
}

func scan(text string) *scanner {
	s := &scanner{text: text, line: 1, places: map[string]int{}, counts: map[string]int{}}
	table := ""
	for {
		s.skipSpace(true)
		switch {
		case s.done():
			return s
		case s.peek() == '[':
			table = s.header()
			s.spans = append(s.spans, span{table: table, first: s.line, last: s.line})
		default:
			first := s.line
			place := s.pair(table)
			s.spans = append(s.spans, span{table, place, first, s.line})
		}
	}
}

type scanner struct {
	text   string
	pos    int
	line   int
	places map[string]int
	counts map[string]int // of the tables in each list of tables
	spans  []span         // of headers, and of the keys below them
}

func (s *scanner) done() bool { return s.pos >= len(s.text) }

func (s *scanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.pos]
}

func (s *scanner) next() {
	if s.peek() == '\n' {
		s.line++
	}
	s.pos++
}

func (s *scanner) take(prefix string) bool {
	if !strings.HasPrefix(s.text[min(s.pos, len(s.text)):], prefix) {
		return false
	}
	s.pos += len(prefix)
	return true
}

// skipSpace skips blanks and comments, and line ends too if newlines is set.
func (s *scanner) skipSpace(newlines bool) {
	for !s.done() {
		switch c := s.peek(); {
		case c == ' ' || c == '\t' || c == '\r', newlines && c == '\n', c == 0xEF || c == 0xBB || c == 0xBF: // or a byte order mark
			s.next()
		case c == '#' && newlines:
			for !s.done() && s.peek() != '\n' {
				s.next()
			}
		default:
			return
		}
	}
}

// header reads [table] or [[table]] and returns the place of the keys below it.
func (s *scanner) header() string {
	list := s.take("[[")
	if !list {
		s.take("[")
	}
	names := s.keyPath()
	for s.take("]") {
	}
	place := ""
	for i, name := range names {
		place = join(place, name)
		s.mark(place)
		n := s.counts[place]
		if list && i == len(names)-1 {
			s.counts[place]++
			n = s.counts[place]
		}
		if n > 0 {
			place = fmt.Sprintf("%s[%d]", place, n-1)
			s.mark(place)
		}
	}
	return place
}

// mark records the first line of a place.
func (s *scanner) mark(place string) {
	if _, ok := s.places[place]; !ok {
		s.places[place] = s.line
	}
}

// pair reads key = value, and returns the place of the key.
func (s *scanner) pair(table string) string {
	start := s.pos
	place := table
	for _, name := range s.keyPath() {
		place = join(place, name)
		s.mark(place)
	}
	s.skipSpace(false)
	s.take("=")
	s.value(place)
	if s.pos == start { // not TOML after all: avoid an endless loop
		s.next()
	}
	return place
}

// keyPath reads a dotted key, parts quoted or not.
func (s *scanner) keyPath() []string {
	var names []string
	for {
		s.skipSpace(false)
		names = append(names, s.keyPart())
		s.skipSpace(false)
		if !s.take(".") {
			return names
		}
	}
}

func (s *scanner) keyPart() string {
	start := s.pos
	if c := s.peek(); c == '"' || c == '\'' {
		s.skipString()
		raw := s.text[start:min(s.pos, len(s.text))]
		if name, err := strconv.Unquote(raw); err == nil && c == '"' {
			return name
		}
		return strings.Trim(raw, string(c))
	}
	for !s.done() && !strings.ContainsRune(" \t\r\n.=[]{},#\"'", rune(s.peek())) {
		s.next()
	}
	return s.text[start:s.pos]
}

// value skips a value and records the keys of the inline tables in it.
func (s *scanner) value(place string) {
	s.skipSpace(false)
	switch s.peek() {
	case '"', '\'':
		s.skipString()
	case '[':
		s.next()
		s.items(']', func(i int) { s.value(fmt.Sprintf("%s[%d]", place, i)) })
	case '{':
		s.next()
		s.items('}', func(int) { s.pair(place) })
	default:
		for !s.done() && !strings.ContainsRune(",]}\n#", rune(s.peek())) {
			s.next()
		}
	}
}

// items reads comma-separated items up to the closing bracket.
func (s *scanner) items(end byte, item func(i int)) {
	for i := 0; ; i++ {
		s.skipSpace(true)
		start := s.pos
		if s.done() {
			return
		}
		if s.peek() == end {
			s.next()
			return
		}
		item(i)
		s.skipSpace(true)
		s.take(",")
		if s.pos == start {
			s.next()
		}
	}
}

// skipString skips a string of any of the four kinds.
func (s *scanner) skipString() {
	quote := s.text[s.pos : s.pos+1]
	end := quote
	if s.take(strings.Repeat(quote, 3)) {
		end = strings.Repeat(quote, 3)
	} else {
		s.next()
	}
	for !s.done() {
		switch {
		case quote == `"` && s.peek() == '\\':
			s.next()
			s.next()
		case s.take(end):
			for len(end) == 3 && s.peek() == quote[0] { // up to two quotes may precede the closing three
				s.next()
			}
			return
		default:
			s.next()
		}
	}
}

// quoted is a name within a place, quoted if it would be ambiguous.
func quoted(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if plain {
		return name
	}
	return strconv.Quote(name)
}

// shown is a place as people write the key: without table indexes.
func shown(place string) string {
	var b strings.Builder
	for i := 0; i < len(place); i++ {
		switch place[i] {
		case '"': // quoted names are kept whole
			rest, err := strconv.QuotedPrefix(place[i:])
			if err != nil {
				return place
			}
			b.WriteString(markdown.Clip(rest))
			i += len(rest) - 1
		case '[':
			for i < len(place) && place[i] != ']' {
				i++
			}
		default:
			b.WriteByte(place[i])
		}
	}
	return b.String()
}
