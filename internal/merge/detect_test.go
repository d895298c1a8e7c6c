package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
)

func TestTestsAreFoundByTheFilesOfAProject(t *testing.T) {
	t.Parallel()
	type root map[string]string
	goTest, npm, pytest := []string{"go", "test", "./..."}, []string{"npm", "test"}, []string{"python3", "-m", "pytest"}
	for name, tt := range map[string]struct {
		files root
		want  []string
		said  string
	}{
		"nothing":               {root{"README.md": "# x"}, nil, ""},
		"go":                    {root{"go.mod": "module x"}, goTest, "found by go.mod"},
		"go and make":           {root{"go.mod": "module x", "Makefile": "test:\n\tgo test"}, goTest, "found by go.mod"},
		"node":                  {root{"package.json": `{"scripts": {"test": "jest"}}`}, npm, "found by package.json"},
		"node with a mark":      {root{"package.json": "\ufeff" + `{"scripts": {"test": "jest"}}`}, npm, "found by package.json"},
		"npm's own script":      {root{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil, ""},
		"node without a script": {root{"package.json": `{"scripts": {"test": "  "}}`}, nil, ""},
		"a script of no text":   {root{"package.json": `{"scripts": {"test": 3}}`}, nil, ""},
		"a broken file":         {root{"package.json": `{"scripts": `, "Makefile": "check: all\n"}, []string{"make", "check"}, "found by Makefile"},
		"pytest.ini":            {root{"pytest.ini": ""}, pytest, "found by pytest.ini"},
		"pyproject":             {root{"pyproject.toml": "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n"}, pytest, "found by pyproject.toml"},
		"pyproject of pytest 9": {root{"pyproject.toml": "[tool.pytest]\n"}, pytest, "found by pyproject.toml"},
		"pyproject without":     {root{"pyproject.toml": "[tool.pytester]\n# [tool.pytest]\n", "tox.ini": "[tox]"}, nil, ""},
		"setup.cfg":             {root{"setup.cfg": "[tool:pytest]\n"}, pytest, "found by setup.cfg"},
		"tox.ini":               {root{"tox.ini": "[tox]\n[pytest]\n"}, pytest, "found by tox.ini"},
		"conftest":              {root{"conftest.py": ""}, pytest, "found by conftest.py"},
		"make":                  {root{"Makefile": ".PHONY: all test\nall test: build\n"}, []string{"make", "test"}, "found by Makefile"},
		"make, double colon":    {root{"makefile": "test::\n\ttrue\n", "Makefile": "check:"}, []string{"make", "test"}, "found by makefile"},
		"make before check":     {root{"Makefile": "check:\ntest:\n"}, []string{"make", "test"}, "found by Makefile"},
		"make without":          {root{"Makefile": ".PHONY: test\ntest := 3\ntest ::= 3\ncheck = a:b\n# test: x\n\ttest: y\ntests:\n"}, nil, ""},
		"only what make reads":  {root{"GNUmakefile": "all:\n", "Makefile": "test:\n"}, nil, ""},
		"two languages":         {root{"go.mod": "", "pytest.ini": "", "package.json": `{"scripts": {"test": "jest"}}`}, goTest, "found by go.mod; not tested is what belongs to pytest.ini, package.json"},
		"two languages, make":   {root{"go.mod": "", "pytest.ini": "", "Makefile": "check:\n"}, []string{"make", "check"}, "found by Makefile, since there is more than one language: go.mod, pytest.ini"},
	} {
		argv, said, ok := merge.DetectTests(func(file string) (string, bool) { text, ok := tt.files[file]; return text, ok })
		assert.Equal(t, tt.want, argv, name)
		assert.Equal(t, tt.said, said, name)
		assert.Equal(t, tt.want != nil, ok, name)
	}
}
