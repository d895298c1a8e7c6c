package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
)

// span shows untrusted text on one line of markdown as a code span, where neither markup nor HTML nor a mention means
// anything.
//
// https://github.github.com/gfm/#code-spans
func span(s string, limit int) string {
	s = cut(oneLine(s), limit)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell is a span in a table, where a bar would end the cell even in code.
//
// https://github.github.com/gfm/#tables-extension-
func cell(s string) string { return strings.ReplaceAll(span(s, cellLimit), "|", "\\|") }

// block shows untrusted text as a fenced block whose fence the text cannot contain.
func block(s string, limit int) string {
	return markdown.Fenced(cut(plain(s), limit)) + "\n"
}

// page links to a page of the repository. path and label must be ours.
func page(repoURL, path, label string) string {
	if repoURL == "" {
		return label
	}
	return fmt.Sprintf("[%s](%s/%s)", label, strings.TrimRight(repoURL, "/"), path)
}

// isSHA is what may stand in a link: a full or abbreviated object name.
var isSHA = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// commit shows a head, shortened where it is one, and links to it.
func commit(repoURL, sha string) string {
	if !isSHA.MatchString(sha) {
		return cell(sha)
	}
	return page(repoURL, "commit/"+sha, span(short(sha), cellLimit))
}

// head is commit with the whole object name to read and copy.
func head(repoURL, sha string) string {
	if !isSHA.MatchString(sha) {
		return cell(sha)
	}
	return page(repoURL, "commit/"+sha, span(sha, cellLimit))
}
