package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSuggestTests(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		want, found string
	}{
		"nothing":          {nil, "", ""},
		"go":               {map[string]string{"go.mod": "", "Makefile": "test:\n"}, "go test ./...", "go.mod"},
		"python":           {map[string]string{"tox.ini": "", "package.json": `{"scripts": {"test": "x"}}`}, "python -m pytest", "tox.ini"},
		"node":             {map[string]string{"package.json": `{"scripts": {"test": "jest"}}`}, "npm test", "package.json"},
		"node without":     {map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, "", ""},
		"node with others": {map[string]string{"package.json": `{"scripts": {"build": "x"}}`}, "", ""},
		"not JSON":         {map[string]string{"package.json": `{`, "GNUmakefile": "all:\ntest: all\n"}, "make test", "GNUmakefile"},
		"make":             {map[string]string{"Makefile": "all: test\ntest :\n\tx\n"}, "make test", "Makefile"},
		"make without":     {map[string]string{"Makefile": "test:=1\ntests:\n test:\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			argv, found := SuggestTests(func(path string) (string, bool) { text, ok := c.files[path]; return text, ok })
			assert.Equal(t, c.want, strings.Join(argv, " "))
			assert.Equal(t, c.found, found)
		})
	}
}
