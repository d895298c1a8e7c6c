package markdown_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	htmltree "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/must"
)

// swallowers are texts that take in what stands below them, or name somebody, in some way.
var swallowers = []string{
	"```\nx", "~~~~\nx", "````md\n```\nx\n```", "- a\n  ```\n  x", "> ```\n> x", "1. a\n\n   ~~~\n   x", "   ```\nx", "```\nx\n``", "\t```\n",
	"<details>", "<details><summary>x\n\n", "a <b>", "<table>", "<table><tr><td>\n\n", "<pre>", "<script>", "<style>\n", "<textarea>", "<!--", "<!-- x", "<![CDATA[", "<?php", "<!DOCTYPE x", "<div",
	"<div>\n```\n", "</details>", "<details>\n\n> </details>\n\n<b>", "<kbd><details></kbd></details>", "<a href='\n", "`<b title=\"` <pre>", "<b title='`'> `<pre>`",
	"| a | b |\n| --- | --- |\n| c |", "| a |\n|---|", "> quote", "- list", "- list\n\n  - nested", "    code", "Setext\n===", "text\n---", "[reply]: https://evil.example 'x'", "[^1]: note\n\n    more", "[a\nb]:\n/x",
	"$$\nx", "\\", "x  ", "*a", "**a _b", "![", "[x](", "`", "``` `", "\x1b[2J```\x00", "\u202e", "```\r\nx\r\n", "&lt;pre>",
	"@octo/team", "@everyone", "hi @mallory.", "&#64;mallory", "&commat;mallory", "&#x0040;mallory", `\@mallory`, "**a**@mallory", "_@mallory_", "[@mallory](x)", "é@mallory", "https://x/@mallory", "`a`@mallory",
	"<!-- x -->@mallory", "@alice/team", "@alice-x", "@alice<b></b>x", "@ali&#99;e2", "<details>\n@mallory\n</details>", "x<br>@mallory", "<details>\n</details>\n<https://a.b/@mallory>", "<br>\n<https://a.b>", "- @mallory", "> @mallory", "|@mallory|\n|---|", "http://@mallory", "<https://a.b/@mallory>",
	"![x](https://evil.example/?d=1)", "a![x](//evil.example)", "![x][y]\n\n[y]: https://evil.example", `<img src="https://evil.example">`, "[![x](https://evil.example/a)](https://evil.example/b)", "![a![b](c)](d)", `\![x](y)`,
	"[a]: <![x](http://evil.example/)>", "`a` ![x](y) `b", "$![x](y)$", "!\u200b[x](y)", "|![x](y)|\n|---|", "- ![x](y)", "&#33;[x](y)", "<!-- ![x](y)", "![x](y) -->", "[^1]: ![x](y)",
}

func alice(login string) bool { return strings.EqualFold(login, "alice") }

const ours = "| feedback | answer |\n| --- | --- |\n| [reply](https://x) | [reply] |\n\nCommits:\n\n- `abc` Say more"

// shownAs is the page that a browser makes of a text with ours below it.
func shownAs(t *testing.T, said string) *htmltree.Node {
	t.Helper()
	var page bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	require.NoError(t, md.Convert([]byte(said+"\n\n"+ours), &page))
	nodes := must.Get(htmltree.ParseFragment(&page, &htmltree.Node{Type: htmltree.ElementNode, Data: "body", DataAtom: atom.Body}))(t)
	root := &htmltree.Node{Type: htmltree.ElementNode, Data: "body"}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	return root
}

// mention is what GitHub takes for one in the text of a page, where it is no code and no link.
var mention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])@([A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?)`)

func mentions(n *htmltree.Node) []string {
	var found []string
	if n.Type == htmltree.TextNode {
		for _, m := range mention.FindAllStringSubmatch(n.Data, -1) {
			found = append(found, m[1])
		}
	}
	if n.Type == htmltree.ElementNode && (n.Data == "pre" || n.Data == "code" || n.Data == "a") {
		return nil
	}
	for c := range n.ChildNodes() {
		found = append(found, mentions(c)...)
	}
	return found
}

func images(n *htmltree.Node) (count int) {
	for d := range n.Descendants() {
		if d.Data == "img" && d.Type == htmltree.ElementNode {
			count++
		}
	}
	return count
}

func textOf(n *htmltree.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == htmltree.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// elements are the elements that are direct children of the page, the last first.
func elements(root *htmltree.Node) []*htmltree.Node {
	var list []*htmltree.Node
	for c := root.LastChild; c != nil; c = c.PrevSibling {
		if c.Type == htmltree.ElementNode {
			list = append(list, c)
		}
	}
	return list
}

// holds says that our table and list stand on the page by themselves, as we wrote them.
func holds(t *testing.T, said string) {
	t.Helper()
	page := shownAs(t, said)
	last := elements(page)
	require.GreaterOrEqual(t, len(last), 3, "%q", said)
	assert.Equal(t, []string{"ul", "p", "table"}, []string{last[0].Data, last[1].Data, last[2].Data}, "%q", said)
	assert.Equal(t, "abc Say more", strings.TrimSpace(textOf(last[0])), "%q", said)
	assert.Equal(t, "Commits:", textOf(last[1]), "%q", said)
	assert.Equal(t, []string{"feedback", "answer", "reply", "[reply]"}, strings.Fields(textOf(last[2])), "%q", said)
	assert.Zero(t, images(page), "%q", said)
	for _, who := range mentions(page) {
		assert.Equal(t, "alice", strings.ToLower(who), "%q", said)
	}
}

func TestNothingThatAnAgentSaysSwallowsWhatStandsBelow(t *testing.T) {
	t.Parallel()
	for i, said := range swallowers {
		got := markdown.Contain(said, alice)
		holds(t, got)
		assert.Equal(t, got, markdown.Contain(got, alice), "again it stays as it is")
		for k := range 12 {
			holds(t, markdown.Contain(said+"\n"+swallowers[(i*5+k*6+1)%len(swallowers)], alice))
		}
	}
}

func TestWhatAnAgentSaysReadsAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Hello.\n\n- a\n- b `<pre>` and `@mallory`\n\n```java\n@Override <T> x[0]: y\n```\n", "Thank you @alice, and @Alice.", "a < b && c > d", "alice@example.com", "actions/checkout@v4",
		"<details open><summary>More</summary>\n\n<kbd>x</kbd> <b>y</b>\n\n</details>", "line<br>break", "<https://a.b/c>", "[a](https://b.c)", "| a | b |\n| --- | --- |\n| c | d |", "> quote\n\n1. one",
	} {
		assert.Equal(t, said, markdown.Contain(said, alice))
	}
	assert.Equal(t, "https://npm.example/%40types/node, @\u200btypes/node", markdown.Contain("https://npm.example/@types/node, @types/node", alice))
	for _, said := range []string{"Vec<String> and <pre>", "</details>", "<!-- x -->"} {
		got := markdown.Contain(said, alice)
		assert.Equal(t, "<p>"+strings.ReplaceAll(html.EscapeString(said), "&#39;", "'")+"</p>", rendered(t, got), "as it was typed")
	}
}

func rendered(t *testing.T, said string) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, goldmark.New(goldmark.WithRendererOptions(renderer.WithUnsafe())).Convert([]byte(said), &page))
	return strings.TrimSpace(page.String())
}

func TestAPartOfALongTextIsWholeToo(t *testing.T) {
	t.Parallel()
	long := "<details><summary>x</summary>\n\n```\n" + strings.Repeat("line\n", 1000) + "```\n\n</details>"
	got := markdown.Part(markdown.Contain(long, alice), 1000)
	holds(t, got)
	assert.Less(t, len(got), 1200)
	assert.Contains(t, got, "*(cut here: what the agent says is longer)*")
	assert.Equal(t, "short", markdown.Part("short", 1000))
	holds(t, markdown.Part(markdown.Contain("`"+strings.Repeat("x", 1000)+" @mallory "+strings.Repeat("x", 1000)+"`", alice), 1500))
}

func TestATextIsTrimmedBeforeItIsContained(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"    @mallory", "\n \n\t@mallory <details>\n\nx", "    ```\n@mallory"} {
		holds(t, strings.TrimSpace(markdown.Contain(said, alice)))
	}
}

func FuzzContain(f *testing.F) {
	for i, s := range swallowers {
		f.Add(s + "\n\n" + swallowers[(i*7+3)%len(swallowers)])
	}
	f.Fuzz(func(t *testing.T, said string) {
		if len(said) > 4000 {
			return
		}
		holds(t, markdown.Contain(said, alice))
	})
}

func TestAnEndlessTextIsContainedAtOnce(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"[", "*a_", "> ", "- ", "`", "<", "<b>", "@a", "![", "x\n", "|\n|-\n", "1. ", "&#64;", "]:", "<details>"} {
		assert.True(t, strings.HasPrefix(markdown.Contain(strings.Repeat(part, 100_000), alice), "```"), "%q", part)
	}
}
