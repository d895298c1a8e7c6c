package internal_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

var (
	blocks   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	spans    = regexp.MustCompile("`[^`\n]*`")
	linked   = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	headings = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// published begins a link to a file of this repository in a text that is also read elsewhere, such as that of a release.
const published = "https://github.com/mergexo/mergexo/blob/main/"

// anchors are the ids that GitHub gives the headings of a Markdown text: lower case, no punctuation, hyphens for spaces, and a
// number where a heading comes again.
func anchors(text string) map[string]bool {
	all, seen := map[string]bool{}, map[string]int{}
	for _, h := range headings.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1) {
		id := noAnchor.ReplaceAllString(strings.ToLower(linkText.ReplaceAllString(h[1], "$1")), "")
		id = strings.ReplaceAll(strings.TrimSpace(id), " ", "-")
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id]-1)
		}
		all[id] = true
	}
	return all
}

// brokenLinks are those of a file that lead to no file below the root, or to no heading of it.
func brokenLinks(root, name string) (broken []string, links int) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return []string{name + ": " + err.Error()}, 0
	}
	for _, found := range linked.FindAllStringSubmatch(spans.ReplaceAllString(blocks.ReplaceAllString(string(text), ""), ""), -1) {
		links++
		file, anchor, _ := strings.Cut(found[1], "#")
		target, ours := strings.CutPrefix(file, published)
		switch {
		case ours:
		case strings.HasPrefix(file, "https://"):
			continue
		case file == "":
			target = name
		default:
			target = path.Join(path.Dir(name), file)
		}
		there, err := os.ReadFile(filepath.Join(root, target))
		switch {
		case err != nil:
			broken = append(broken, fmt.Sprintf("%s: no file %s", name, found[1]))
		case anchor != "" && !anchors(string(there))[anchor]:
			broken = append(broken, fmt.Sprintf("%s: no heading %s", name, found[1]))
		}
	}
	return broken, links
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	pages := must.Get(filepath.Glob("manual/*.md"))(t)
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, p := range pages {
		names = append(names, "internal/"+p)
	}
	all := 0
	for _, name := range names {
		broken, links := brokenLinks("..", name)
		assert.Empty(t, broken)
		all += links
	}
	assert.Greater(t, all, 40)
}

func TestABrokenLinkIsFound(t *testing.T) {
	dir := t.TempDir()
	text := "# A page\n\n[here](#a-page) [there](other.md#two-words-1) `[no](link.md)` [out](https://example.com/x) [ours](" + published + "other.md#two-words)\n[a](gone.md) [b](#gone) [c](other.md#gone) [d](" + published + "gone.md)\n\n```\n[no](link.md)\n```\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page.md"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.md"), []byte("## Two words\n\n## `Two` words\n"), 0o600))
	broken, links := brokenLinks(dir, "page.md")
	assert.Equal(t, []string{"page.md: no file gone.md", "page.md: no heading #gone", "page.md: no heading other.md#gone", "page.md: no file " + published + "gone.md"}, broken)
	assert.Equal(t, 8, links)
}
