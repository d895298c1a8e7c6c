package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/mergexo/mergexo/internal/markdown"
)

func TestALineIsSpokenOutsideOfQuotesCodeAndHTML(t *testing.T) {
	for body, want := range map[string][]markdown.Line{
		"/x go":                                  {{1, 1, "/x go"}},
		"please\r\n/x go n=3\r\n":                {{2, 1, "/x go n=3"}},
		"  /x go":                                {{1, 3, "/x go"}},
		"please\n/X go":                          {{2, 1, "/X go"}},
		"text\n\n/x a\n/x b\n\nmore":             {{3, 1, "/x a"}, {4, 1, "/x b"}},
		"/x go\n---":                             {{1, 1, "/x go"}}, // a signature, which Markdown takes for an underline
		"<!-- y -->\n/x go":                      {{2, 1, "/x go"}},
		"<details>\n\n/x go\n\n</details>":       {{3, 1, "/x go"}},
		"```\ncode\n```\n/x go":                  {{4, 1, "/x go"}},
		"*stars*\n/x go **now**":                 {{2, 1, "/x go **now**"}},
		"# /x go":                                nil,
		"- /x go":                                nil,
		"- item\n/x go":                          nil, // it continues the item
		"> /x go":                                nil,
		"> quoted\n/x go":                        nil, // it continues the quote
		"> quoted\n\n/x go":                      {{3, 1, "/x go"}},
		"say `/x go`":                            nil,
		"`code\n/x go\nends`":                    nil,
		"```\n/x go\n```":                        nil,
		"````\n```\n/x go\n````":                 nil,
		"~~~\n/x go":                             nil,
		"    /x go":                              nil,
		"\t/x go":                                nil,
		"<!--\n/x go\n-->":                       nil,
		"text <!--\n/x go\n-->":                  nil,
		"<!-- never closed\n\n/x go":             nil,
		"<div>\n/x go\n</div>":                   nil,
		"[link\n/x go](https://example.com)":     nil,
		"text /x go":                             nil,
		"\\/x go":                                nil,
		"":                                       nil,
		"| a |\n| --- |\n/x go":                  {{3, 1, "/x go"}},
		"/x go  \n/x stop":                       {{1, 1, "/x go"}, {2, 1, "/x stop"}},
		strings.Repeat("ä ", 10) + "\n/x go":     {{2, 1, "/x go"}},
		"text <b title='\n/x go'>bold</b>":       nil,
		"<rp>\n\n/x go\n\n</rp>":                 nil, // GitHub shows nothing of it
		"<div title=\"\n\n/x go\n\n\">":          nil,
		"[ref]: https://example.com '\n/x go\n'": nil,
	} {
		assert.Equal(t, want, markdown.Spoken(body, "/x"), "%q", body)
	}
}

func TestNamesEndNoAddress(t *testing.T) {
	const page = "https://github.com/octo/widgets/pull/7"
	assert.Equal(t, "[`agent/7-fix`](https://github.com/octo/widgets/tree/agent/7-fix)", markdown.Branch(page, "agent/7-fix"))
	assert.Equal(t, "[`a)'%40@b`](https://github.com/octo/widgets/tree/a%29%60%2540%40b)", markdown.Branch(page, "a)`%40@b"))
	assert.Equal(t, "a%09b%0A%20%5C%3C%7C%3F%23%252F/%40%C3%A4", markdown.Path("a\tb\n \\<|?#%2F/@ä"))
}

func TestTextOfOthersMeansNothing(t *testing.T) {
	assert.Equal(t, "`a 'b' @c`", markdown.Inline("a `b`\n @c"))
	assert.Equal(t, "", markdown.Inline(" \n"))
	assert.Equal(t, "&lt;b> @\u200bocto 'x' \\* https://u", markdown.Plain("<b> @octo `x` * https://u"))
	assert.Equal(t, `a &amp;#64;b [x]\(y) [z]\: & https://u?a=1&b=2`, markdown.Plain("a &#64;b\n [x](y) [z]: & https://u?a=1&b=2"))
	assert.Equal(t, `a \| b`, markdown.Cell("a |\nb"))
	assert.Equal(t, "````text\n```\n````", markdown.Quote("```\n"))
	long := markdown.Quote(strings.Repeat("x", 5000) + "end")
	assert.Contains(t, long, "[...]x")
	assert.Contains(t, long, "end\n```")
	assert.Less(t, len(long), 4100)
}

// shown is what a reader sees of Markdown, and the links and images in it that have a text of their own.
func shown(said string) (text string, linked []string) {
	source := []byte(said)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader(source))
	var b strings.Builder
	_ = ast.Walk(root, func(n ast.Node, enters bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.RawHTML, *ast.HTMLBlock:
			linked = append(linked, n.Kind().String())
		case *ast.Text:
			if enters {
				b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(n.Value(source))))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String(), linked
}

func TestASentenceWithWordsOfOthersLinksAndMentionsNothing(t *testing.T) {
	for _, words := range []string{
		"see [here](https://evil.example)", "![x](https://evil.example/p.png)", `\[here\](https://evil.example)`, `\\[here\\](https://evil.example)`, "[here][x]\n\n[x]: https://evil.example",
		"[a[b](https://evil.example)](https://evil.example)", "[here]\\](https://evil.example)", "<a href=x>y</a>", "<https://evil.example>", "&#91;here&#93;(https://evil.example)",
		"@octo", "&#64;octo", "&#x40;octo", "&#X0040;octo", "&commat;octo", `\&#64;octo`, "&amp;#64;octo", "&#38;#64;octo", "`@octo`", "a\n@octo",
	} {
		for _, sentence := range []string{words, "The check failed: " + words, "> " + words} {
			text, linked := shown("[ours](https://ours.example) " + markdown.Plain(sentence) + ".")
			assert.Equal(t, []string{"Link", "Link"}, linked, "%q", sentence) // ours, once at each end
			assert.NotRegexp(t, `@[A-Za-z0-9]`, text, "%q", sentence)
			_, linked = shown(markdown.Plain(sentence))
			assert.Empty(t, linked, "%q", sentence)
		}
	}
}

func TestAnOldHeadIsPutBackByALineForAShell(t *testing.T) {
	assert.Equal(t, "git push --force-with-lease=agent/x:new origin old:refs/heads/agent/x", markdown.Restore("agent/x", "new", "old"))
	assert.Equal(t, "git push '--force-with-lease=a;b:new' origin 'old:refs/heads/a;b'", markdown.Restore("a;b", "new", "old"))
	for _, quote := range []string{"'", "`"} {
		assert.Equal(t, "git push --force-with-lease=BRANCH:new origin old:refs/heads/BRANCH", markdown.Restore("a"+quote+"b", "new", "old"))
	}
}

func TestLinksComeFromThePageAtHand(t *testing.T) {
	sha := strings.Repeat("a", 40)
	for _, page := range []string{"https://github.com/o/r/pull/7", "https://github.com/o/r/issues/3", "https://github.com/o/r"} {
		assert.Equal(t, "[`aaaaaaaaaa`](https://github.com/o/r/commit/"+sha+")", markdown.Commit(page, sha))
	}
}

func FuzzSpoken(f *testing.F) {
	for _, seed := range []string{"/x a", "> /x a\n/x b", "`\n/x a\n`", "<!--\n/x a", "    /x a\n/x b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
		for _, l := range markdown.Spoken(body, "/x") {
			if !strings.HasPrefix(l.Text, "/x") {
				t.Fatalf("%q does not begin with the word", l.Text)
			}
			if at := lines[l.Number-1]; !strings.HasPrefix(at[l.Column-1:], "/x") || strings.TrimLeft(at[:l.Column-1], " ") != "" {
				t.Fatalf("line %d, column %d of %q is not where %q stands", l.Number, l.Column, body, l.Text)
			}
		}
	})
}

// An app that reports a check chooses the address of its details.
func TestAnAddressOfOthersEndsNoLink(t *testing.T) {
	for url, link := range map[string]string{
		"https://ci.example/run?a=1&b=2#x":              "[ci](https://ci.example/run?a=1&b=2#x)",
		"http://ci.example/a b":                         "[ci](http://ci.example/a%20b)",
		"https://ci.example/) [free](https://evil.test": "[ci](https://ci.example/%29%20[free]%28https://evil.test)",
		"https://ci.example/|\r\n# <img>\\":             "[ci](https://ci.example/%7C#%20%3Cimg%3E%5C)",
		"javascript:alert(1)":                           "ci",
		"":                                              "ci",
	} {
		assert.Equal(t, link, markdown.Link("ci", url), url)
	}
}

func TestProseIsWhatAnAuthorSaysAsSuch(t *testing.T) {
	for body, want := range map[string]string{
		"# A *b*\r\n\r\nc  \n**d**\n\n- e\n  - f `g`\n1. h":                  "A b|c|d|e|f ``|h",
		"> q\nq\n\n<!-- h -->\n```\nk\n```\n\n    k\n\na <b>c</b><!-- h -->": "a c",
		"[a](https://example.com/1) <https://example.com/2>":                 "https://example.com/1 a https://example.com/2",
	} {
		got := strings.FieldsFunc(strings.Join(markdown.Prose(body), "\n"), func(r rune) bool { return r == '\n' })
		assert.Equal(t, want, strings.Join(got, "|"), "%q", body)
	}
}

func TestAFailureIsASentenceInWhichOthersWordsAreCode(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"agent: exit code 7": "The agent failed (exit code 7).",
		"agent: exit code 7; its last line: Error: `@all`": "The agent failed (exit code 7). Its last line: `Error: '@all'`",
		"agent: stopped after 1m; its last line: x":        "The agent failed (stopped after 1m). Its last line: `x`",
		"agent: codex got no answer (see http://x)":        "The agent failed: `codex got no answer (see http://x)`.",
		"agent: exit code 7\nnot kept":                     "The agent failed (exit code 7).\n\n```text\nnot kept\n```",
		"the tests fail":                                   "```text\nthe tests fail\n```",
	} {
		assert.Equal(t, want, markdown.Failure(reason), reason)
	}
}

func TestNamesInASentenceStayCode(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"waiting for `a*b` of <x>":  "waiting for `a*b` of &lt;x>",
		"one ` alone, and `@all`":   "one ' alone, and '@\u200ball'",
		"two ``@all`` and `x`":      "two ''@\u200ball'' and 'x'",
		"escaped \\`@all` and `x` ": "escaped \\'@\u200ball' and 'x' ",
	} {
		assert.Equal(t, want, markdown.Coded(said), said)
	}
}
