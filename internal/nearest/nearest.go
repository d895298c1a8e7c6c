// Package nearest finds the word that somebody meant who mistyped it.
package nearest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest is how many characters of a word are compared: the comparison takes quadratic time.
const longest = 100

// Distance counts the characters in which two words differ, without regard to case.
func Distance(word, known string) int {
	if r := []rune(word); len(r) > longest {
		word = string(r[:longest])
	}
	return levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(known))
}

// telling is the length from which a word can be told from others by a part of it.
const telling = 4

// To is the one of the known words that a mistyped one resembles, if any does: one with few other characters, or one that is a part
// of the other, such as title and pr_title.
func To(word string, known []string) (near string, ok bool) {
	if near = Least(word, known); word == "" || near == "" {
		return "", false
	}
	d, alike := Distance(word, near), strings.EqualFold(word[:1], near[:1])
	if 2*d < len(near) && d <= 1+len(near)/5 || alike && len(near) >= telling && d <= len(near)/2 {
		return near, true
	}
	near = Least(word, slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return min(len(word), len(k)) < telling || !strings.Contains(k, word) && !strings.Contains(word, k)
	}))
	return near, near != ""
}

// Least is the word with the least distance; "" if there is none.
func Least(word string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return slices.MinFunc(known, func(a, b string) int { return cmp.Compare(Distance(word, a), Distance(word, b)) })
}

// Hint is the end of a message about an unknown word: the one that was meant, or else all.
func Hint(word string, known []string) string {
	if near, ok := To(word, known); ok {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return OneOf(known)
}

// OneOf is the end of a message about a word that is none of those that are known.
func OneOf(known []string) string {
	if len(known) == 1 {
		return "; use " + known[0]
	}
	return "; use one of " + strings.Join(known, ", ")
}
