package transport

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBranch is how long a branch may be in bytes: GitHub takes refs of 255 ("GH005: Sorry, refs longer than 255 bytes are
// not allowed"), refs/heads/ among them.
const maxBranch = 244

// mirrorTries bounds the search for a name that is free.
const mirrorTries = 1000

// MirrorName is the branch that mirrors the pull request of a fork, which has it under this name: gh-pr-N/{branch}. It is a
// valid name whatever the branch is called, GitHub takes it, and MirrorOf reads the number from it. taken tells of a branch
// whether it is there already: then it is gh-pr-N/{branch}-2, and so on; and where gh-pr-N itself is, next to which no
// gh-pr-N/... can be, gh-pr-N-mirror/{branch}.
func MirrorName(number int, branch string, taken func(string) bool) string {
	root := "gh-pr-" + strconv.Itoa(number)
	for k, plain := 2, root; taken(root) && k < mirrorTries; k++ {
		if root = plain + "-mirror"; k > 2 {
			root += "-" + strconv.Itoa(k-1)
		}
	}
	branch = validName(branch)
	name := ""
	for k := 1; k < mirrorTries; k++ {
		end := ""
		if k > 1 {
			end = "-" + strconv.Itoa(k)
		}
		name = root + "/" + validName(clipped(branch, maxBranch-len(root)-1-len(end))) + end
		if !taken(name) && !below(name[len(root)+1:], root+"/", taken) {
			return name
		}
		if below(name[len(root)+1:], root+"/", taken) {
			branch = strings.ReplaceAll(branch, "/", "-")
		}
	}
	return name
}

// below reports whether a part of the name at its beginning is a branch of its own.
func below(rest, root string, taken func(string) bool) bool {
	for i := range rest {
		if rest[i] == '/' && taken(root+rest[:i]) {
			return true
		}
	}
	return false
}

// validName makes a name out of any text, as git-check-ref-format(1) wants it below a prefix.
func validName(text string) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune(`:?*[\^~`, r) {
			return '-'
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "@{", "@-")
	var parts []string
	for part := range strings.SplitSeq(text, "/") {
		for strings.Contains(part, "..") {
			part = strings.ReplaceAll(part, "..", ".")
		}
		part = strings.Trim(part, ".")
		if before, ok := strings.CutSuffix(part, ".lock"); ok {
			part = before + "-lock"
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "head"
	}
	return strings.Join(parts, "/")
}

// clipped is as much of a text as has so many bytes, in whole characters.
func clipped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

var mirrorPattern = regexp.MustCompile(`^gh-pr-([1-9][0-9]{0,9})(?:$|(?:-mirror(?:-[1-9][0-9]*)?)?/.)`)

// MirrorOf is the number of the pull request that a branch is a mirror of, by its name alone: gh-pr-N, gh-pr-N/... and the
// others that MirrorName makes.
func MirrorOf(branch string) (number int, ok bool) {
	m := mirrorPattern.FindStringSubmatch(branch)
	if m == nil {
		return 0, false
	}
	number, err := strconv.Atoi(m[1])
	return number, err == nil
}
