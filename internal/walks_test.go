package internal_test

import (
	"fmt"
	"io/fs"
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

// plain leaves of a method's full name the package, the type and the method.
var plain = strings.NewReplacer("(*", "", "(", "", ")", "")

// walked is a line of a walk: the function that it passes, and what that does.
var walked = regexp.MustCompile(`(?m)^    ([a-z]+\.[A-Za-z.]+) {2,}\S`)

// TestTheWalksGoInOneDirection: each function of a walk is reached from the first one, and none leads back to it.
func TestTheWalksGoInOneDirection(t *testing.T) {
	text := must.Get(os.ReadFile("../CONTRIBUTING.md"))(t)
	c := callsOfTheEngine(t)
	named := map[string]string{} // by the names in CONTRIBUTING.md
	for from, all := range c {
		for f := range all {
			named[path.Base(plain.Replace(f))] = f
		}
		named[path.Base(plain.Replace(from))] = from
	}
	walks := strings.Split(string(text), "\n**A")[1:]
	assert.Len(t, walks, 4)
	for _, walk := range walks {
		steps := walked.FindAllStringSubmatch(walk, -1)
		assert.Greater(t, len(steps), 8)
		first := named[steps[0][1]]
		for _, w := range steps[1:] {
			if f := named[w[1]]; assert.NotEmpty(t, f, "CONTRIBUTING.md names %s", w[1]) {
				assert.NotEmpty(t, c.path(first, f), "from %s to %s", first, f)
				assert.Empty(t, c.path(f, first), "%s leads back", w[1])
			}
		}
	}
}

func TestTheTableOfFloorsNamesEveryPackage(t *testing.T) {
	text := must.Get(os.ReadFile("../CONTRIBUTING.md"))(t)
	for pkg, floor := range floors {
		row := fmt.Sprintf("(?m)^\\| %d[^|]*\\| [^|]*`%s`", floor, path.Base(pkg))
		if strings.HasPrefix(pkg, "internal/") {
			assert.Regexp(t, row, string(text), pkg)
		}
	}
	for room := range rooms {
		if own, _ := house(room); own == "internal/engine" && room != own {
			assert.Regexp(t, fmt.Sprintf("(?m)^\\| 2 \\| `[^|]*\\b%s`", path.Base(room)), string(text), room)
		}
	}
}

// A promise is held by its tests for as long as there are some of these names.
func TestEveryPromiseNamesItsTests(t *testing.T) {
	page := must.Get(os.ReadFile("../CONTRIBUTING.md"))(t)
	_, table, _ := strings.Cut(string(page), "## Promises and their tests\n")
	table, _, _ = strings.Cut(table, "\n## ")
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)`).FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	}))
	rows := 0
	for row := range strings.Lines(table) {
		names := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(row, -1)
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| ---") && !strings.HasPrefix(row, "| promise") {
			rows++
			assert.NotEmpty(t, names, row)
		}
		for _, m := range names {
			assert.True(t, there[m[1]], "CONTRIBUTING.md names %s", m[1])
		}
	}
	assert.Greater(t, rows, 10)
}
