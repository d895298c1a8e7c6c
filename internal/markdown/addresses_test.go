package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	htmltree "golang.org/x/net/html"

	"github.com/mergexo/mergexo/internal/markdown"
)

// addresses are those of the links on a page.
func addresses(n *htmltree.Node) (found []string) {
	for d := range n.Descendants() {
		for _, a := range d.Attr {
			if a.Key == "href" {
				found = append(found, a.Val)
			}
		}
	}
	return found
}

func TestWhatLeadsElsewhereIsText(t *testing.T) {
	t.Parallel()
	here := func(host string) bool { return host == "here.example" }
	for _, said := range []string{
		"[a](https://here.example/b) and [c](d/e.md)", "see https://here.example/x?y=z.", "`curl https://evil.example`", "```\nhttps://evil.example\n```", "ann@evil.example", "<https://here.example>", "std::vector and a/b",
	} {
		assert.Equal(t, said, markdown.Unlinked(said, here), "what leads nowhere else stays")
	}
	for said, want := range map[string]string{
		"see https://evil.example/?d=1.":                   "see https\u200b://evil.example/?d=1.",
		"www.evil.example":                                 "www\u200b.evil.example",
		"[a](https://evil.example/x \"y\") [b](c)":         "[a]\u200b(https\u200b://evil.example/x \"y\") [b](c)",
		"[a](<https://evil.example>) https://here.example": "[a]\u200b(&lt;https\u200b://evil.example>) https://here.example",
		"<https://evil.example>":                           "&lt;https\u200b://evil.example>",
		"[a](//evil.example)":                              "```text\n[a](//evil.example)\n```",
		"[a](https:evil.example)":                          "[a]\u200b(https\u200b:evil.example)",
		"[a](https&colon;//evil.example)":                  "```text\n[a](https&colon;//evil.example)\n```",
		`[a](https:\/\/evil.example)`:                      `[a]` + "\u200b" + `(https` + "\u200b" + `:\/\/evil.example)`,
		"https://here.example@evil.example/":               "",
		"HTTPS://EVIL.EXAMPLE":                             "",
		"[a](https://evil.example:443/)":                   "",
	} {
		got := markdown.Unlinked(said, here)
		if want != "" {
			assert.Equal(t, want, got, "%q", said)
		}
		page := shownAs(t, got)
		for _, address := range addresses(page) {
			assert.Truef(t, !strings.Contains(strings.ToLower(address), "evil"), "%q leads to %s", said, address)
		}
		assert.Equal(t, got, markdown.Unlinked(got, here), "again it stays as it is")
	}
	for i, said := range swallowers {
		got := markdown.Unlinked(markdown.Contain(said+"\n"+swallowers[(i*7+3)%len(swallowers)], alice), here)
		holds(t, got)
		for _, address := range addresses(shownAs(t, got)) {
			assert.NotContains(t, address, "evil", "%q", said)
		}
	}
}
