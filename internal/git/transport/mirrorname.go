package transport

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBranch is the maximum length of a branch's name in bytes: GitHub allows refs of 255 ("GH005: Sorry, refs longer than
// 255 bytes are not allowed"), including refs/heads/.
const maxBranch = 244

// mirrorTries limits the search for a free name.
const mirrorTries = 1000

// MirrorName is the branch that mirrors a fork's pull request, named after its branch: gh-pr-N/{branch}. It is valid on git
// and GitHub for any branch, and MirrorOf reads the number from it. If taken reports that the name is in use, it is
// gh-pr-N/{branch}-2, and so on; if gh-pr-N itself exists, which excludes gh-pr-N/..., it is gh-pr-N-mirror/{branch}.
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

// below reports whether a prefix of the name is an existing branch.
func below(rest, root string, taken func(string) bool) bool {
	for i := range rest {
		if rest[i] == '/' && taken(root+rest[:i]) {
			return true
		}
	}
	return false
}

// validName makes any text a valid name below a prefix, as in git-check-ref-format(1).
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

// clipped is as much of a text as fits into a number of bytes, in whole characters.
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

// MirrorOf is the number of the pull request that a branch mirrors, by its name: gh-pr-N, gh-pr-N/... and MirrorName's
// others. The slug is what follows the number, which is the name of the pull request's own branch as far as a mirror can have it.
func MirrorOf(branch string) (number int, slug string, ok bool) {
	m := mirrorPattern.FindStringSubmatch(branch)
	if m == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(m[1])
	if _, slug, _ = strings.Cut(branch, "/"); slug == "" {
		slug = branch
	}
	return number, slug, err == nil
}
