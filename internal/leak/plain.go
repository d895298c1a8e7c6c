package leak

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// plain is the text as patterns see it. In a binary file a zero byte ends a string; if every other byte is zero, it is
// UTF-16 and they are dropped. Invisible characters are dropped too. Lines stay lines.
func plain(p Piece) []byte {
	text := p.Text
	if p.Binary {
		by := []byte{' '}
		if bytes.Count(text, []byte{0}) > len(text)*2/5 {
			by = nil
		}
		text = bytes.ReplaceAll(text, []byte{0}, by)
	}
	return visible(text)
}

// invisibleLead are the first bytes of characters that may be invisible, in UTF-8.
var invisibleLead = func() (set [256]bool) {
	for _, b := range []byte{0xC2, 0xCD, 0xD8, 0xDB, 0xDC, 0xE0, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3} {
		set[b] = true
	}
	return set
}()

// visible drops characters without width: zero-width spaces and joiners, soft hyphens, direction marks, variation
// selectors, tags and the like. They would split a secret for a pattern, and for nobody else.
//
// https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point
func visible(text []byte) []byte {
	var out []byte
	kept := 0 // up to where the text is in out, when something was dropped
	for i := 0; i < len(text); {
		if !invisibleLead[text[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			if out == nil {
				out = make([]byte, 0, len(text))
			}
			out = append(out, text[kept:i]...)
			kept = i + size
		}
		i += size
	}
	if out == nil {
		return text
	}
	return append(out, text[kept:]...)
}
