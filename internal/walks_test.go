package internal_test

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walked is a line of a walk: the function that it passes, and what that does.
var walked = regexp.MustCompile(`(?m)^    ([a-z]+\.[A-Za-z.]+) {2,}\S`)

func TestTheWalksPassFunctionsThatThereAre(t *testing.T) {
	functions := map[string]bool{}
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			for _, d := range parse(t, filepath.Join(p.Dir, f), nil).Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := fn.Name.Name
				if fn.Recv != nil {
					name = typeName(fn.Recv.List[0].Type) + "." + name
				}
				functions[path.Base(p.name())+"."+name] = true
			}
		}
	}
	text, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
	steps := walked.FindAllStringSubmatch(string(text), -1)
	assert.Greater(t, len(steps), 40)
	for _, w := range steps {
		assert.True(t, functions[w[1]], "CONTRIBUTING.md names %s", w[1])
	}
	assert.Equal(t, 4, strings.Count(string(text), "\n**A"), "walks")
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
}
