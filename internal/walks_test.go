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

// walked is a line of a walk, in Markdown or in a comment: the function that it passes, and what that does.
var walked = regexp.MustCompile(`^(?:    |//\t)([a-z]+\.[A-Za-z.]+) {2,}\S`)

// walksIn lists the functions of each walk in a text. A line that is none ends a walk.
func walksIn(text string) (walks [][]string) {
	var walk []string
	for line := range strings.Lines(text + "\n\n") {
		if m := walked.FindStringSubmatch(line); m != nil {
			walk = append(walk, m[1])
		} else if walk != nil {
			walks, walk = append(walks, walk), nil
		}
	}
	return walks
}

// TestTheWalksGoInOneDirection: each function of a walk is reached from the first one, and none leads back to it.
func TestTheWalksGoInOneDirection(t *testing.T) {
	c := callsOfTheEngine(t)
	named := map[string]string{} // by the names in the walks
	for from, all := range c {
		for f := range all {
			named[path.Base(plain.Replace(f))] = f
		}
		named[path.Base(plain.Replace(from))] = from
	}
	var walks [][]string
	for _, path := range append(must.Get(filepath.Glob("engine/*/*.go"))(t), "../CONTRIBUTING.md") {
		walks = append(walks, walksIn(string(must.Get(os.ReadFile(path))(t)))...)
	}
	assert.Len(t, walks, 4)
	for _, walk := range walks {
		assert.Greater(t, len(walk), 8)
		first := named[walk[0]]
		for _, step := range walk[1:] {
			if f := named[step]; assert.NotEmpty(t, f, "a walk names %s", step) {
				assert.NotEmpty(t, c.path(first, f), "from %s to %s", first, f)
				assert.Empty(t, c.path(f, first), "%s leads back", step)
			}
		}
	}
}

func TestWalksAreFoundInTextsAndComments(t *testing.T) {
	assert.Equal(t, [][]string{{"a.B", "a.C.d"}, {"b.E"}}, walksIn("A way:\n\n    a.B      begins\n    a.C.d  ends\n    no walk\n\n//\tb.E  begins"))
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
