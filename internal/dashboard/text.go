package dashboard

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
)

// textLimit is how much of a text of others is shown, in characters.
const textLimit = 200

// clean makes one line of a text that others wrote: it removes characters that are invisible or reorder the text around them,
// and cuts what is too long. The template escapes markup.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), markdown.Invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > textLimit {
		s = strings.TrimRight(string([]rune(s)[:textLimit]), " ") + " …"
	}
	return s
}

// stamp is a moment for machines and for people, both in UTC, and its age at the time of the page, which does not pass while
// the file lies about. The zero value is never.
type stamp struct{ Machine, Human, Full, Age string }

func (d drawer) stamp(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	t = t.UTC()
	s := stamp{Machine: t.Format(time.RFC3339), Human: t.Format("2 Jan, 15:04 UTC"), Full: t.Format("2 Jan 2006, 15:04 UTC")}
	if t.Year() != d.now.UTC().Year() {
		s.Human = s.Full
	}
	switch age := d.now.Sub(t); {
	case age < 0:
	case age < time.Minute:
		s.Age = "under 1\u00a0min"
	default:
		s.Age = span(age)
	}
	return s
}

// sentence begins with a capital letter.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// span is a time in its largest unit or two, as "3 h 20 min".
func span(t time.Duration) string {
	day := 24 * time.Hour
	switch {
	case t <= 0:
		return "0 s"
	case t < time.Minute:
		return fmt.Sprintf("%d\u00a0s", t/time.Second)
	case t < time.Hour:
		return fmt.Sprintf("%d\u00a0min", t/time.Minute)
	case t < day && t%time.Hour >= time.Minute:
		return fmt.Sprintf("%d\u00a0h %d\u00a0min", t/time.Hour, t%time.Hour/time.Minute)
	case t < day:
		return fmt.Sprintf("%d\u00a0h", t/time.Hour)
	case t < 60*day:
		return strings.Replace(markdown.Count(int(t/day), "day"), " ", "\u00a0", 1)
	}
	return fmt.Sprintf("%d\u00a0months", t/(30*day))
}

// short is a head's first characters, as git shows it.
func short(sha string) string {
	r := []rune(clean(sha))
	return string(r[:min(len(r), 10)])
}

// money is a cost in US dollars.
func money(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

// words makes one of our names readable.
func words(name string) string { return strings.ReplaceAll(clean(name), "_", " ") }
