// Package branchfilter matches names of branches by the patterns of GitHub's own branch filters, so that a setting of
// MergeXO means what the same line means in a workflow.
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
		if named != negative { // it could not change the answer
			continue
		}
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

// compile translates a pattern without its ! into a regular expression over the whole name.
func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	t := translation{rest: pattern}
	for t.rest != "" {
		if err := t.step(); err != nil {
			return nil, err
		}
	}
	return regexp.Compile(`\A(?s:` + t.out.String() + `)\z`)
}

// translation is a pattern on its way to a regular expression.
type translation struct {
	rest string
	out  strings.Builder
	// within says that a name of the path has begun, and single that ? and + may follow: the character before is one.
	within, single bool
}

// step translates what the rest begins with.
func (t *translation) step() error {
	c := t.rest[0]
	switch c {
	case '*':
		t.stars()
		return nil
	case '?', '+':
		if !t.single {
			return fmt.Errorf("%c stands for a repetition of the character before it, and there is none", c)
		}
		t.out.WriteByte(c)
		t.rest, t.single = t.rest[1:], false
		return nil
	case '[':
		return t.class()
	case '{', '}':
		return errors.New("a branch filter knows no {a,b}: write two patterns, or \\{ for the character itself")
	case '\\':
		if t.rest = t.rest[1:]; t.rest == "" {
			return errors.New("nothing follows the \\")
		}
	}
	r := []rune(t.rest)[0]
	if r <= ' ' || strings.ContainsRune("~^:\x7f", r) {
		return fmt.Errorf("no branch has %q in its name", r)
	}
	t.out.WriteString(regexp.QuoteMeta(string(r)))
	t.rest, t.within, t.single = t.rest[len(string(r)):], r != '/', true
	return nil
}

// stars translates * (anything but /) and ** (anything). Between two / and at the beginning ** may also stand for no name
// at all: **/docs is docs, too.
func (t *translation) stars() {
	rest := strings.TrimLeft(t.rest, "*")
	several := len(t.rest)-len(rest) > 1
	whole := several && !t.within && strings.HasPrefix(rest, "/")
	switch {
	case whole:
		t.out.WriteString(`(?:.*/)?`)
		rest = rest[1:]
	case several:
		t.out.WriteString(`.*`)
	default:
		t.out.WriteString(`[^/]*`)
	}
	t.rest, t.within, t.single = rest, !whole, false
}

var classShape = regexp.MustCompile(`^\[(?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9A-Za-z_.])+\]`)

// class translates [...], which GitHub gives for single letters and digits and their ranges only.
func (t *translation) class() error {
	set := classShape.FindString(t.rest)
	if set == "" {
		return errors.New("[ begins a set of letters, digits and their ranges, as in [a-z0-9]")
	}
	if _, err := regexp.Compile(set); err != nil {
		return fmt.Errorf("%s: a range goes from the lower to the higher", set)
	}
	t.out.WriteString(set)
	t.rest, t.within, t.single = t.rest[len(set):], true, true
	return nil
}
