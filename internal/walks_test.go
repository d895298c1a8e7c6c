package internal_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plain leaves of a method's full name the package, the type and the method.
var plain = strings.NewReplacer("(*", "", "(", "", ")", "")

// walked is a line of a walk: the function that it passes, and what that does.
var walked = regexp.MustCompile(`(?m)^    ([a-z]+\.[A-Za-z.]+) {2,}\S`)

// TestTheWalksGoInOneDirection: each function of a walk is reached from the first one, and none leads back to it.
func TestTheWalksGoInOneDirection(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
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
	text, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
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
