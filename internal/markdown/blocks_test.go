package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/markdown"
)

func TestABlockIsOneThatThePageShowsAsCode(t *testing.T) {
	x := []markdown.Block{{Lines: []string{"x"}, Closed: true}}
	for body, want := range map[string][]markdown.Block{
		"```suggestion\nx\n```":                               x,
		"Hm.\r\n```suggestion\r\nx\r\n```\r\nOr not.":         x,
		"1. Hm.\n\n   ```suggestion\n   x\n   ```":            x,
		"<details>\n\n```suggestion\nx\n```\n</details>":      x,
		"<!-- a -->\n```suggestion\nx\n```\n<!-- b -->":       x,
		"```suggestion\nx":                                    {{Lines: []string{"x"}}},
		"```suggestion":                                       {{}},
		"```suggestion\n```":                                  {{Closed: true}},
		"```suggestion\n<!-- x -->\n```":                      {{Lines: []string{"<!-- x -->"}, Closed: true}},
		"```suggestion\n<b\ta>\n```":                          {{Lines: []string{"<b\ta>"}, Closed: true}},
		"~~~ suggestion\n```\n\n~~~~":                         {{Lines: []string{"```", ""}, Closed: true}},
		"```suggestion\nx\n```\n\n```diff\ny\n```":            x,
		"<!--\n```suggestion\nx\n```\n-->\nRename it.":        nil,
		"<!--\n\n```suggestion\nx\n```":                       nil,
		"Hm. <!--\n```suggestion\nx\n```\n-->":                x, // a fence ends the paragraph, and so the comment
		"<!-- a -->```suggestion\nx\n```":                     nil,
		"`<!-- a`--> ```suggestion\nx\n```":                   nil,
		"<details>\n```suggestion\nx\n```\n</details>":        nil,
		"<div title=\"\n\n```suggestion\nx\n```\n\">":         nil,
		"<ruby>a<rp>(\n\n```suggestion\nx\n```\n</rp></ruby>": nil,
		"[^a]: Hm.\n\n    ```suggestion\n    x\n    ```":      nil,
		"> ```suggestion\n> x\n> ```":                         nil,
		"- > ```suggestion\n  > x\n  > ```":                   nil,
		"    ```suggestion\n    x\n    ```":                   nil,
		"````\n```suggestion\nx\n```\n````":                   nil,
	} {
		assert.Equal(t, want, markdown.Blocks(body, "suggestion"), body)
	}
	assert.Len(t, markdown.Blocks("```diff\na\n```\n```go\nb\n```\n```patch\nc\n```", "diff", "patch"), 2)
}

func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{"```suggestion\nx\n```", "~~~~ suggestion y\r\n```\r\n~~~~", "````\n```suggestion\n```\n````", "  ```suggestion\n   x", "```suggestion\n", "``` a`b\n```suggestion", "a\n-->\n\t b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, b := range markdown.Blocks(body, "suggestion") {
			for _, line := range b.Lines {
				assert.NotContains(t, line, "\n")
			}
		}
		if strings.ContainsAny(body, "\r\x00") || strings.ToValidUTF8(body, "") != body {
			return
		}
		fence := strings.Repeat("~", 3+strings.Count(body, "~"))
		whole := markdown.Blocks(fence+"suggestion\n"+body+"\n"+fence, "suggestion")
		assert.Equal(t, []markdown.Block{{Lines: strings.Split(body, "\n"), Closed: true}}, whole, "whatever stands in a longer fence is only text")
		assert.Empty(t, markdown.Blocks("<!--\n"+strings.ReplaceAll(body, ">", "")+"\n-->", "suggestion"), "whatever stands in an HTML comment is hidden")
	})
}
