package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/markdown"
)

func TestWhatThePageDoesNotShowIsLeftOut(t *testing.T) {
	for body, want := range map[string]string{
		"text":      "text",
		"":          "",
		"a\r\nb\rc": "a\nb\nc",
		"`__init__` and *args, a < b && c > d, x<y": "`__init__` and *args, a < b && c > d, x<y",

		// HTML comments
		"a <!-- x --> b":                     "a  b",
		"a <!-- x\ny --> b":                  "a  b",
		"<!-- x\n\ny -->\nb":                 "\nb",
		"a <!--> b <!---> c":                 "a  b  c",
		"a <!-- x <!-- y --> b -->":          "a  b -->",
		"a <!-<!-- x -->- b -->":             "a <!- - b -->",
		"a <<!-- x -->!-- b -->":             "a < !-- b -->",
		"a <!-- x\n\nb":                      "a [left out: an HTML comment without an end]\n\nb",
		"a <!-- x `code` y":                  "a [left out: an HTML comment without an end]`code` y",
		"a\n\n<!-- x\n\ny":                   "a\n\n[left out: the page shows nothing of what follows here]",
		"> <!-- x\n\ny":                      "> [left out: the page shows nothing of what follows here]",
		"- a\n  <!-- x\n  y -->\n- b":        "- a\n  \n- b",
		"a\\<!-- x -->":                      "a\\",
		"<?php x > a ?>":                     " a ?>", // a browser's end of it, not PHP's
		"a <?x?> b <!X y> c <![CDATA[z]]> d": "a  b  c  d",

		// code, where the page shows them
		"```html\n<!-- x -->\n```\n<!-- y -->":       "```html\n<!-- x -->\n```\n",
		"````\n```\n<!-- x -->\n````":                "````\n```\n<!-- x -->\n````",
		"~~~\n<!-- x":                                "~~~\n<!-- x",
		"say `<!-- x -->` <!-- y -->":                "say `<!-- x -->` ",
		"``a ` <!-- x --> ``":                        "``a ` <!-- x --> ``",
		"`a <!-- x -->":                              "`a ",
		"> ```\n> <b title='x'>\n> ```":              "> ```\n> <b title='x'>\n> ```",
		"- ```\n<!-- x -->":                          "- ```\n",
		"    <!-- x --> a":                           "     a", // by indentation alone: what reads otherwise there would hide it
		"```suggestion:-0+1\na\n```":                 "```suggestion:-0+1\na\n```",
		"```go obey me\na\n```":                      "```go\na\n```",
		"``` you must obey every word of me\na\n```": "``` you\na\n```",
		"```obey-me-and-nobody-else\na\n```":         "```\na\n```",

		// HTML
		"<b title=\"x\">a</b>":                             "<b>a</b>",
		"a <IMG alt='x' SRC=https://u/a.png> b":            "a <img src=\"https://u/a.png\"> b",
		"<a href=\"https://u\" title=\"x\">a</a>":          "<a href=\"https://u\">a</a>",
		"<a href=\"obey me\">a</a>":                        "<a>a</a>",
		"a <obey me=\"x\"> b </obey>":                      "a  b ",
		"a <obey-me> b":                                    "a  b",
		"<details><summary>s</summary>\n\na\n\n</details>": "<details><summary>s</summary>\n\na\n\n</details>",
		"<div title=\"x\n\na":                              "[left out: the page shows nothing of what follows here]",
		"<div\ttitle='x'>\na":                              "<div>\na",
		"<div\tx\n\na":                                     "[left out: the page shows nothing of what follows here]",
		"> <b\n> title='x'>a</b>":                          "> <b>a</b>",
		"<p>a <!-- x --> b < c & d</p>":                    "<p>a  b < c & d</p>",
		"<p></ x>a</p>":                                    "<p>a</p>",
		"<script>alert(1)</script>":                        "<script>alert(1)</script>", // GitHub shows it as it is
		"<ruby>a<rp>x</rp><rt>b</rt></ruby>":               "<ruby>a<rt>b</rt></ruby>",
		"</pre>\n```\n<b title='x'>\n```":                  "</pre>\n```\n<b>\n```", // a block of HTML, and no code
		"<textarea>[a](u 'x')":                             "<textarea>[a](u)",
		"<textarea>\n[a](u 'x')":                           "<textarea>\n[a](u 'x')",
		"<p>\n<rp>x</rp>b</p>":                             "<p>\nb</p>",
		"<https://u> <me@u.org>":                           "<https://u> <me@u.org>",

		// links
		"[a](https://u \"x\")":            "[a](https://u)",
		"[a](<https://u> 'x') b":          "[a](https://u) b",
		"[**a** `b`](u (x)) c":            "[**a** `b`](u) c",
		"[a](<obey me>)":                  "[a](...)",
		"[a]()":                           "[a]()",
		"[](https://u \"x\")":             "[](https://u)",
		"![x](https://u/a.png \"x\") b":   "![](https://u/a.png) b",
		"![x *y* `z` [v](w)](u)":          "![](u)",
		"[![x](u \"x\")](v 'x')":          "[![](u)](v)",
		"[a][x y]\n\n[x y]: https://u":    "[a](https://u)\n\n",
		"[a][] [a]\n\n[a]: u \"x\"":       "[a](u) [a](u)\n\n",
		"[//]: # (obey me)\na":            "\na",
		"[x]: <obey me>\na":               "\na",
		"> [x]: u\n> 'obey\n> me'\n\na":   "> \n> \n> \n\na",
		"[x]: u\n[y]: v\na [x] b\n[z]: w": "\n\na [x](u) b\n[z]: w",
		"[a](b [c] ]( d":                  "[a](b [c] ]( d",
		"- [ ] a\n- [x] b":                "- [ ] a\n- [x] b",
		"a[0] and b[i][j]":                "a[0] and b[i][j]",

		// footnotes
		"a[^1]\n\n[^1]: b":                 "a[^1]\n\n[^1]: b",
		"a\n\n[^1]: obey\n\n    me\n\nb":   "a\n\n\n\nb",
		"a\n\n[^1]: obey\n    [x]: u\n\nb": "a\n\n\n\nb",

		// tables
		"| a |\n|---|\n| b | x |":            "| a |\n|---|\n| b |",
		"a | b\n--|--\nc | d | x\ne | f":     "a | b\n--|--\nc | d |\ne | f",
		"| a |\n|---|\n| `b | <!-- x -->` |": "| a |\n|---|\n| `b |",
		"| a |\n|---|\n| `b \\| c` |":        "| a |\n|---|\n| `b \\| c` |",

		// entities
		"a&#8203;b&#x202e;c&shy;d&#xE0041;e&zwnj;":      "abcde",
		"a&nbsp;b &lt;!-- x --&gt; `&shy;` &amp; &x; &": "a&nbsp;b &lt;!-- x --&gt; `&shy;` &amp; &x; &",
		"<p>a&shy;b&amp;</p>":                           "<p>ab&amp;</p>",
	} {
		assert.Equal(t, want, markdown.Shown(body), "%q", body)
	}
}

func TestWhatIsInvisible(t *testing.T) {
	for _, r := range "\u00ad\u200b\u200d\u200e\u202a\u202e\u2060\u2066\u2028\u2029\ufeff\ufe0f\u034f\u061c\u115f\u180e\u2065\u2800\u3164\uffa0\ufff9\ue000\x00\x1b\x7f\u0085\r\U000e0001\U000e0041\U000e0100\U000e0fff\U000f0000\U0001d159\U0001d173" {
		assert.True(t, markdown.Invisible(r), "%U", r)
	}
	for _, r := range "\n\t a\u00a0\u3000é漢🙂\uFFFD\u0301" {
		assert.False(t, markdown.Invisible(r), "%U", r)
	}
}

func TestWhatACommentSays(t *testing.T) {
	for _, body := range []string{
		"", " \n", "\u200b\u2060", "\u3164", "\ufe0f", "&#8203;", "&nbsp;", "<!-- x -->", "<!-- x -->\n<!-- y -->\n\n<!--\n\nz -->", "<!-- x", "> <!-- x -->", "- <!-- x -->",
		"# <!-- x -->", "[//]: # (x)", "[a]: https://u\n<!-- x -->", "[^1]: x", "[](https://u)", "<a href='https://u'></a>", "<br>", "<p title='x'></p>", "<x-y z='x'>", "<?x?>", "<rp>x</rp>",
		"<details><summary></summary></details>",
	} {
		assert.False(t, markdown.Says(body), "%q", body)
	}
	for _, body := range []string{
		"a", "é", "1", "<!-- x --> a", "\u200ba", "?", "...", "+1", "\U0001F44D", "\u2764\ufe0f", "![](https://u/a.png)", "<img src='https://u/a.png'>", "<kbd>a</kbd>", "<script>a</script>",
		"`<!-- x -->`", "```\n<!-- x -->\n```", "```suggestion\n```", "\\<!-- x -->", "&amp;", "@bot", "/x go", "<https://u>", "[a](https://u)", "> a", "- [ ] a", "| a |\n| - |",
	} {
		assert.True(t, markdown.Says(body), "%q", body)
	}
}

func FuzzShown(f *testing.F) {
	for _, seed := range []string{"a <!-- x --> b", "[a](b \"c\")\n\n[x]: y", "> <div\n>\n[^1]: a", "| a |\n|-|\n|b|c|", "```go x\n<!--\n```", "![a](b)<rp>x", "&shy;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := markdown.Shown(body)
		if !utf8.ValidString(got) {
			t.Fatalf("%q of %q is not UTF-8", got, body)
		}
		if !strings.ContainsAny(body, "<[&`~|!\r") && utf8.ValidString(body) && got != body {
			t.Fatalf("%q became %q", body, got)
		}
	})
}
