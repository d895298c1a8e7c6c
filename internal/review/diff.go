package review

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Diff is which lines of which files a pull request shows: GitHub takes comments on these only.
// https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request
type Diff map[string][]span

// span is a run of lines of the new version.
type span struct{ from, to int64 }

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// ReadDiff reads a diff as git prints it, with a/ and b/ before the names.
func ReadDiff(text string) Diff {
	d := Diff{}
	name, left, right := "", int64(0), int64(0) // lines that the hunk at hand still has
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if left > 0 || right > 0 { // in a hunk anything may stand
			switch {
			case strings.HasPrefix(line, "+"):
				right--
			case strings.HasPrefix(line, "-"):
				left--
			case strings.HasPrefix(line, `\`):
			default:
				left, right = left-1, right-1
			}
			continue
		}
		switch m := hunk.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "diff --git "):
			name = ""
		case strings.HasPrefix(line, "+++ "):
			name = newName(strings.TrimPrefix(line, "+++ "))
		case m != nil && name != "":
			from, _ := strconv.ParseInt(m[2], 10, 64)
			left, right = length(m[1]), length(m[3])
			if right > 0 {
				d[name] = append(d[name], span{from, from + right - 1})
			}
		}
	}
	return d
}

// length is how many lines a hunk says that it has; it leaves out a 1.
func length(text string) int64 {
	if text == "" {
		return 1
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// newName is the path in a +++ line; "" for a file that is deleted. Git quotes what is not plain, and ends a name with spaces in
// it with a tab.
func newName(text string) string {
	if strings.HasPrefix(text, `"`) {
		plain, err := strconv.Unquote(text)
		if err != nil {
			return ""
		}
		text = plain
	} else {
		text = strings.TrimSuffix(text, "\t")
	}
	name, ok := strings.CutPrefix(text, "b/")
	if !ok {
		return ""
	}
	return name
}

// Add adds a line that is shown.
func (d Diff) Add(path string, line int64) { d[path] = append(d[path], span{line, line}) }

// Has reports whether a line of the new version is shown.
func (d Diff) Has(path string, line int64) bool {
	return slices.ContainsFunc(d[path], func(s span) bool { return s.from <= line && line <= s.to })
}
