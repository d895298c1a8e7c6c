package manual_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/manual"
	"github.com/mergexo/mergexo/internal/must"
)

func TestEveryPageIsATopic(t *testing.T) {
	files := must.Get(filepath.Glob("*.md"))(t)
	var names []string
	for _, topic := range manual.Topics {
		names = append(names, topic.Name+".md")
		page, ok := manual.Page(topic.Name)
		require.True(t, ok, topic.Name)
		assert.True(t, strings.HasPrefix(page, "# "), "%s begins with its title", topic.Name)
		assert.NotContains(t, manual.Plain(page), "](", "%s: keep a link on one line", topic.Name)
	}
	slices.Sort(names)
	assert.Equal(t, files, names)
	_, ok := manual.Page("nothing")
	assert.False(t, ok)
}

func TestPlain(t *testing.T) {
	assert.Equal(t, "See agents (mergexo help agents), below, the schema (mergexo help run.json), the rules (https://github.com/mergexo/mergexo/blob/main/CONTRIBUTING.md)\nand act (https://github.com/nektos/act).\n",
		manual.Plain("![A picture](demo.png)\n\nSee [agents](agents.md#codex), [below](#here), [the schema](schemas/run.json), [the rules](../../CONTRIBUTING.md)\nand [act](https://github.com/nektos/act).\n"))
}

func TestPlainTables(t *testing.T) {
	assert.Equal(t, "  NAME   WHAT\n  `a`    one | two\n  `bcd`\n\nText\n", manual.Plain("| name | what |\n| --- | ---: |\n| `a` | one \\| two |\n| `bcd` | |\n\nText\n"))
	long := strings.Repeat("word ", 20) + "end"
	assert.Equal(t, "  a\n      "+long+"\n", manual.Plain("| x | y |\n| --- | --- |\n| a | "+long+" |\n"), "a list where columns are too wide")
	assert.Equal(t, "  X  Y\n  a\n", manual.Plain("| x | y |\n| --- | --- |\n| a |\n"), "a row that is too short")
	assert.Equal(t, "  a\n      y: "+long+"\n      see agents (mergexo help agents)\n", manual.Plain("| x | y | |\n| --- | --- | --- |\n| a | "+long+" | see [agents](agents.md) |"))
}

func TestPlainBlocks(t *testing.T) {
	assert.Equal(t, "A\n\n    | no | table |\n\n    [no](link)\n\nB\n", manual.Plain("A\n\n```text\n| no | table |\n\n[no](link)\n```\n\nB\n"))
}
