package pages_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// drawn is what a page makes of a comment.
func drawn(t *testing.T, body string) string {
	t.Helper()
	s := newPages(t)
	got := s.ask(http.MethodPost, "/octo/widgets/1/comment", url.Values{"as": {"alice"}, "body": {body}})
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	page := s.page("/octo/widgets/issues/1")
	at := regexp.MustCompile(`(?s)<div class="text">(.*?)\n</div>`).FindAllStringSubmatch(page, -1)
	require.Len(t, at, 2)
	return strings.NewReplacer("><rect", ">\n<rect", "><text", ">\n<text", "><path", ">\n<path", "><g", ">\n<g").Replace(at[1][1])
}

// TestWhatMergeXODrawsIsDrawn holds the pages to what MergeXO writes of roadmaps and trains.
func TestWhatMergeXODrawsIsDrawn(t *testing.T) {
	fence := regexp.MustCompile("(?s)```mermaid\n.*?```")
	for name, path := range map[string]string{"roadmap": "roadmap/swept.md", "cars": "train/summary.md"} {
		raw := must.Get(os.ReadFile(filepath.Join("..", "..", "engine", "testdata", filepath.FromSlash(path))))(t)
		golden.File(t, name+".svg", drawn(t, fence.FindString(string(raw)))+"\n")
	}
}

func TestOtherDrawingsStayText(t *testing.T) {
	for name, text := range map[string]string{
		"another kind":   "gitGraph\n  commit",
		"no kind":        "  a[\"x\"]",
		"another form":   "flowchart LR\n  a{\"x\"}",
		"click":          "flowchart LR\n  a[\"x\"]\n  click a \"javascript:alert(1)\"",
		"an unknown box": "flowchart LR\n  a[\"x\"]\n  a --> b",
		"nothing":        "flowchart LR",
		"too many":       "flowchart LR\n" + strings.Repeat("  a[\"x\"]\n", 201),
	} {
		got := drawn(t, "```mermaid\n"+text+"\n```\n")
		assert.NotContains(t, got, "<svg", name)
		assert.Contains(t, got, `<pre><code class="language-mermaid">`, name)
	}
	crossed := drawn(t, "```mermaid\nflowchart LR\n  a[\"A\"]\n  b[\"B\"]\n  c[\"C\"]\n  d[\"D\"]\n  a --> d\n  b --> c\n```\n")
	assert.Regexp(t, `(?s)y="25">A.*y="67">B.*y="67">C.*y="25">D`, crossed, "its arrows do not cross")
	circle := drawn(t, "```mermaid\nflowchart LR\n  a[\"</text><script>\"]:::x\n  b[\"B\"]\n  a --> b\n  b --> a\n  a --> a\n```\n")
	assert.Contains(t, circle, "&lt;/text&gt;&lt;script&gt;")
	assert.NotContains(t, circle, "<script")
}
