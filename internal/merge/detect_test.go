package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
)

func TestTestsAreFoundByTheFilesOfAProject(t *testing.T) {
	t.Parallel()
	type root map[string]string
	goTest, npm, pytest, tox := []string{"go", "test", "./..."}, []string{"npm", "test"}, []string{"python3", "-m", "pytest"}, []string{"python3", "-m", "tox"}
	cargo, maven := []string{"cargo", "test"}, []string{"mvn", "--batch-mode", "test"}
	for name, tt := range map[string]struct {
		files root
		want  []string
		said  string
	}{
		"nothing":               {root{"README.md": "# x"}, nil, ""},
		"go":                    {root{"go.mod": "module x"}, goTest, "detected from go.mod"},
		"go and make":           {root{"go.mod": "module x", "Makefile": "test:\n\tgo test"}, goTest, "detected from go.mod"},
		"node":                  {root{"package.json": `{"scripts": {"test": "jest"}}`}, npm, "detected from package.json"},
		"node with a mark":      {root{"package.json": "\ufeff" + `{"scripts": {"test": "jest"}}`}, npm, "detected from package.json"},
		"npm's own script":      {root{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil, ""},
		"node without a script": {root{"package.json": `{"scripts": {"test": "  "}}`}, nil, ""},
		"a script of no text":   {root{"package.json": `{"scripts": {"test": 3}}`}, nil, ""},
		"a broken file":         {root{"package.json": `{"scripts": `, "Makefile": "check: all\n"}, []string{"make", "check"}, "detected from Makefile"},
		"pytest.ini":            {root{"pytest.ini": ""}, pytest, "detected from pytest.ini"},
		"pyproject":             {root{"pyproject.toml": "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n"}, pytest, "detected from pyproject.toml"},
		"pyproject of pytest 9": {root{"pyproject.toml": "[tool.pytest]\n"}, pytest, "detected from pyproject.toml"},
		"pyproject without":     {root{"pyproject.toml": "[tool.pytester]\n# [tool.pytest]\n[tool.toxic]\n", "tox.ini": "[other]"}, nil, ""},
		"tox":                   {root{"tox.ini": "[testenv:py312]\n[testenv]\n", "setup.py": "", "tests/": "a.py\n"}, tox, "detected from tox.ini"},
		"tox of pyproject":      {root{"pyproject.toml": "[tool.tox]\n"}, tox, "detected from pyproject.toml"},
		"tox with pytest":       {root{"tox.ini": "[tox]\n", "pytest.ini": ""}, pytest, "detected from pytest.ini"},
		"setup.py, tests":       {root{"setup.py": "", "tests/": "__init__.py\nunit\n"}, pytest, "detected from setup.py and tests/"},
		"pyproject, test":       {root{"pyproject.toml": "[project]\n", "test/": "test_x.py\n"}, pytest, "detected from pyproject.toml and test/"},
		"setup.cfg, a file":     {root{"setup.cfg": "[metadata]\n", "./": "README\nsetup.cfg\ntest_greet.py\n"}, pytest, "detected from setup.cfg and test_greet.py"},
		"requirements, a file":  {root{"requirements.txt": "requests\n", "./": "greet_test.py\n"}, pytest, "detected from requirements.txt and greet_test.py"},
		"tests of no Python":    {root{"pyproject.toml": "[tool.ruff]\n", "tests/": "a.spec.ts\n", "./": "test_x.pyc\nlatest.py\n"}, nil, ""},
		"Python without tests":  {root{"setup.py": "", "./": "setup.py\n"}, nil, ""},
		"tests without project": {root{"tests/": "test_x.py\n", "./": "test_x.py\n"}, nil, ""},
		"setup.cfg":             {root{"setup.cfg": "[tool:pytest]\n"}, pytest, "detected from setup.cfg"},
		"tox.ini, pytest":       {root{"tox.ini": "[tox]\n[pytest]\n"}, pytest, "detected from tox.ini"},
		"conftest":              {root{"conftest.py": ""}, pytest, "detected from conftest.py"},
		"make":                  {root{"Makefile": ".PHONY: all test\nall test: build\n"}, []string{"make", "test"}, "detected from Makefile"},
		"make, double colon":    {root{"makefile": "test::\n\ttrue\n", "Makefile": "check:"}, []string{"make", "test"}, "detected from makefile"},
		"make before check":     {root{"Makefile": "check:\ntest:\n"}, []string{"make", "test"}, "detected from Makefile"},
		"make without":          {root{"Makefile": ".PHONY: test\ntest := 3\ntest ::= 3\ncheck = a:b\n# test: x\n\ttest: y\ntests:\n"}, nil, ""},
		"only what make reads":  {root{"GNUmakefile": "all:\n", "Makefile": "test:\n"}, nil, ""},
		"maven":                 {root{"pom.xml": "<project/>"}, maven, "detected from pom.xml"},
		"cargo":                 {root{"Cargo.toml": "[package]\n"}, cargo, "detected from Cargo.toml"},
		"go, nested": {root{"go.mod": "module x", "go.work": "use ./tools", "**/": "go.mod\ntools/go.mod\nvendor/y/go.mod\na/testdata/go.mod\n.hidden/go.mod\nrung\r/go.mod\nweb/package.json\na/b/go.mod\n"},
			goTest, "detected from go.mod; not tested: a/b/go.mod, tools/go.mod"},
		"go, many nested": {root{"go.mod": "", "**/": "a/go.mod\nb/go.mod\nc/go.mod\nd/go.mod\ne/go.mod\nf/go.mod\ng/go.mod\nh/go.mod\ni/go.mod\nj/go.mod\nk/go.mod\nl/go.mod\n"},
			goTest, "detected from go.mod; not tested: a/go.mod, b/go.mod, c/go.mod, d/go.mod, e/go.mod, f/go.mod, g/go.mod, h/go.mod, i/go.mod, j/go.mod, and more"},
		"node, nested": {root{"package.json": `{"scripts": {"test": "jest && cd told && npm test"}}`, "web/package.json": `{"scripts": {"test": "jest"}}`, "told/package.json": `{"scripts": {"test": "jest"}}`, "lib/package.json": "{}",
			"**/": "lib/package.json\nnode_modules/x/package.json\npackage.json\ntold/package.json\nweb/package.json"}, npm, "detected from package.json; not tested: web/package.json"},
		"node, workspaces":      {root{"package.json": `{"workspaces": ["web"], "scripts": {"test": "jest"}}`, "web/package.json": `{"scripts": {"test": "jest"}}`, "**/": "web/package.json"}, npm, "detected from package.json"},
		"node, pnpm":            {root{"package.json": `{"scripts": {"test": "jest"}}`, "pnpm-workspace.yaml": "", "web/package.json": `{"scripts": {"test": "jest"}}`, "**/": "web/package.json"}, npm, "detected from package.json"},
		"cargo, nested":         {root{"Cargo.toml": "[package]\n", "**/": "Cargo.toml\nfuzz/Cargo.toml\ntarget/package/Cargo.toml"}, cargo, "detected from Cargo.toml; not tested: fuzz/Cargo.toml"},
		"cargo, a workspace":    {root{"Cargo.toml": "[package]\n[workspace]\n", "**/": "a/Cargo.toml"}, append(cargo, "--workspace"), "detected from Cargo.toml"},
		"maven, nested":         {root{"pom.xml": "<modules><module>core</module></modules>", "**/": "core/pom.xml\ncore/api/pom.xml\nscore/pom.xml"}, maven, "detected from pom.xml; not tested: score/pom.xml"},
		"two languages, nested": {root{"go.mod": "", "Cargo.toml": "", "**/": "tools/go.mod\nx/Cargo.toml"}, goTest, "detected from go.mod; not tested: Cargo.toml, tools/go.mod"},
		"make, nested":          {root{"Makefile": "test:\n", "**/": "a/go.mod"}, []string{"make", "test"}, "detected from Makefile"},
		"two languages":         {root{"go.mod": "", "pytest.ini": "", "package.json": `{"scripts": {"test": "jest"}}`}, goTest, "detected from go.mod; not tested: pytest.ini, package.json"},
		"two languages, make":   {root{"go.mod": "", "pytest.ini": "", "Makefile": "check:\n"}, []string{"make", "check"}, "detected from Makefile, since there is more than one language: go.mod, pytest.ini"},
	} {
		argv, said, ok := merge.DetectTests(func(file string) (string, bool) { text, ok := tt.files[file]; return text, ok })
		assert.Equal(t, tt.want, argv, name)
		assert.Equal(t, tt.said, said, name)
		assert.Equal(t, tt.want != nil, ok, name)
	}
}
