// Package branchfilter matches branch names against GitHub's branch filter patterns. So a setting of MergeXO means what the same
// line means in a workflow.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
package branchfilter

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Match says that a list of patterns names a branch. The patterns are asked in their order, and the last one that matches
// decides: one that begins with ! takes back what those before it matched. A pattern that Check refuses matches nothing.
func Match(patterns []string, branch string) bool {
	named := false
	for _, p := range patterns {
		rest, negative := strings.CutPrefix(p, "!")
		if re, err := compile(rest); err == nil && re.MatchString(branch) {
			named = !negative
		}
	}
	return named
}

// Check says what is wrong with a pattern; nil where it is one of a branch filter.
func Check(pattern string) error {
	_, err := compile(strings.TrimPrefix(pattern, "!"))
	return err
}

// Negative says that a pattern only takes back what others before it matched.
func Negative(pattern string) bool { return strings.HasPrefix(pattern, "!") }

// piece is what a pattern begins with: stars, a set of letters and digits, or a character, which may be escaped.
var piece = regexp.MustCompile(`^(?s:\*+|\[(?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9A-Za-z_.])+\]|\\?.)`)

// compile translates a pattern without its ! into a regular expression over the whole name.
func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	var out strings.Builder
	within, single := false, false // whether a name of the path has begun, and whether ? and + may follow
	for rest := pattern; rest != ""; {
		part := piece.FindString(rest)
		rest = rest[len(part):]
		meaning, err := literal(part)
		switch part[0] {
		case '*': // between two / and at the beginning ** may also stand for no name at all: **/docs is docs, too
			whole := len(part) > 1 && !within && strings.HasPrefix(rest, "/")
			switch {
			case whole:
				meaning, rest = `(?:.*/)?`, rest[1:]
			case len(part) > 1:
				meaning = `.*`
			default:
				meaning = `[^/]*`
			}
			within, single = !whole, false
		case '?', '+':
			if !single {
				err = fmt.Errorf("%s stands for a repetition of the character before it, and there is none", part)
			}
			meaning, single = part, false
		default:
			within, single = meaning != "/", true
		}
		if err != nil {
			return nil, err
		}
		out.WriteString(meaning)
	}
	return regexp.Compile(`\A(?s:` + out.String() + `)\z`)
}

// literal translates a piece that stands for one character.
func literal(part string) (string, error) {
	switch {
	case part == "[":
		return "", errors.New("[ begins a set of letters, digits and their ranges, as in [a-z0-9]")
	case part[0] == '[':
		if _, err := regexp.Compile(part); err != nil {
			return "", fmt.Errorf("%s: a range goes from the lower to the higher", part)
		}
		return part, nil
	case part == "{" || part == "}":
		return "", errors.New("a branch filter knows no {a,b}: write two patterns, or \\{ for the character itself")
	case part == `\`:
		return "", errors.New("nothing follows the \\")
	}
	r := []rune(strings.TrimPrefix(part, `\`))[0]
	if r <= ' ' || strings.ContainsRune("~^:\x7f", r) {
		return "", fmt.Errorf("no branch has %q in its name", r)
	}
	return regexp.QuoteMeta(string(r)), nil
}
