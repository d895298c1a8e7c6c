package markdown

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// A page fetches its images from any server. Their addresses can carry a text there.

// withoutImages makes links of images.
func withoutImages(said string) string {
	return outsideCode(said, func(prose, _ string) string { return strings.ReplaceAll(prose, "![", "!"+gap+"[") })
}

// leadsTo reports whether the page of a text has an image, or a link to an address that ok does not accept. nil accepts all links.
func leadsTo(said string, ok func(address *url.URL) bool) bool {
	source, found := []byte(said), false
	_ = ast.Walk(parseGFM(source), func(n ast.Node, _ bool) (ast.WalkStatus, error) { // the walk itself cannot fail
		var address []byte
		switch n := n.(type) {
		case *ast.Image:
			found = true
		case *ast.Link:
			address = n.Destination
		case *ast.AutoLink:
			address = n.URL(source)
		}
		if len(address) > 0 && ok != nil {
			u, err := url.Parse(html.UnescapeString(string(util.UnescapePunctuations(address))))
			found = found || err != nil || !ok(u)
		}
		return ast.WalkContinue, nil
	})
	return found
}

// linked matches an address that GitHub turns into a link, and the Markdown directly before it.
var linked = regexp.MustCompile(`(?i)(\]?\(?<?)((?:https?|ftp):|www\.)([^\s<>"'()\[\]]*)`)

// Unlinked turns links into text, except for links to hosts that reaches accepts. It takes a text of Contain's. If a link is left,
// the whole text becomes a code block.
func Unlinked(said string, reaches func(host string) bool) string {
	ok := func(u *url.URL) bool {
		return u.Scheme == "mailto" || u.Scheme == "" && u.Host == "" || u.Host != "" && reaches(strings.ToLower(u.Hostname()))
	}
	if !leadsTo(said, ok) {
		return said
	}
	said = outsideCode(said, func(prose, _ string) string { return Unaddressed(prose, reaches) })
	if leadsTo(said, ok) {
		return Fenced(said)
	}
	return said
}

// Unaddressed is Unlinked for a text that is no Markdown, in which GitHub makes links of addresses too.
func Unaddressed(text string, reaches func(host string) bool) string {
	return linked.ReplaceAllStringFunc(text, func(found string) string {
		m := linked.FindStringSubmatch(found)
		address := m[2] + m[3]
		if strings.EqualFold(m[2], "www.") {
			address = "http://" + address
		}
		if u, err := url.Parse(address); err == nil && u.Host != "" && reaches(strings.ToLower(u.Hostname())) {
			return found
		}
		end := len(m[2]) - 1
		return strings.NewReplacer("](", "]"+gap+"(", "<", "&lt;").Replace(m[1]) + m[2][:end] + gap + m[2][end:] + m[3]
	})
}
