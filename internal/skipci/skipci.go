// Package skipci knows the words in a commit message for which GitHub starts no workflow when the commit is pushed.
// https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
package skipci

import (
	"regexp"
	"strings"
)

var (
	// words match more spellings than GitHub does.
	words = regexp.MustCompile(`(?i)\[[ \t]*((?:skip|no)[ \t_-]*(?:ci|actions?|checks?)|(?:ci|actions?)[ \t_-]*skip)[ \t]*\]`)
	exact = regexp.MustCompile(`(?i)\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]`)
	// Trailer begins the trailer that has the same effect.
	Trailer = regexp.MustCompile(`(?i)^[ \t]*skip-checks[ \t]*:`)
	isOn    = regexp.MustCompile(`(?im)^skip-checks:[ \t]*true[ \t]*$`)
)

// Disarmed is a text without these words; their meaning stays readable. Trailers are left alone.
func Disarmed(text string) string { return words.ReplaceAllString(text, "($1)") }

// In returns what a commit message says to start no workflow, as it says it; "" if it does not.
func In(message string) string {
	if said := exact.FindString(message); said != "" {
		return said
	}
	return strings.TrimSpace(isOn.FindString(message))
}
