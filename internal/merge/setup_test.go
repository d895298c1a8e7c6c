package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
)

func TestASetupIsFoundByTheLockfilesOfAProject(t *testing.T) {
	t.Parallel()
	type root map[string]string
	npm := merge.TestRun{Argv: []string{"npm", "ci", "--no-audit", "--no-fund"}, Why: "detected from package-lock.json"}
	pnpm := merge.TestRun{Argv: []string{"pnpm", "install", "--frozen-lockfile"}, Why: "detected from pnpm-lock.yaml"}
	yarn := merge.TestRun{Argv: []string{"yarn", "install", "--immutable"}, Why: "detected from yarn.lock"}
	uv := merge.TestRun{Argv: []string{"uv", "sync", "--locked"}, Why: "detected from uv.lock"}
	pip := merge.TestRun{Argv: []string{"python3", "-m", "pip", "install", "--requirement", "requirements.txt"}, Why: "detected from requirements.txt"}
	bundle := merge.TestRun{Argv: []string{"bundle", "install"}, Why: "detected from Gemfile.lock"}
	download := merge.TestRun{Argv: []string{"go", "mod", "download"}, Why: "detected from go.sum"}
	cargo := merge.TestRun{Argv: []string{"cargo", "fetch", "--locked"}, Why: "detected from Cargo.lock"}
	everything := root{"package-lock.json": "{}", "uv.lock": "", "Gemfile.lock": "", "go.mod": "", "go.sum": "", "Cargo.lock": ""}
	for name, tt := range map[string]struct {
		files root
		tests string
		want  []merge.TestRun
	}{
		"nothing":                      {root{"README.md": ""}, "make", nil},
		"npm":                          {root{"package.json": "{}", "package-lock.json": "{}"}, "npm", []merge.TestRun{npm}},
		"npm without a lockfile":       {root{"package.json": "{}"}, "npm", nil},
		"npm, shrink-wrapped":          {root{"npm-shrinkwrap.json": "{}"}, "npm", []merge.TestRun{{Argv: npm.Argv, Why: "detected from npm-shrinkwrap.json"}}},
		"pnpm":                         {root{"pnpm-lock.yaml": ""}, "pnpm", []merge.TestRun{pnpm}},
		"yarn":                         {root{"yarn.lock": "__metadata:\n"}, "yarn", []merge.TestRun{yarn}},
		"the first yarn":               {root{"yarn.lock": "# yarn lockfile v1\n"}, "yarn", []merge.TestRun{{Argv: []string{"yarn", "install", "--frozen-lockfile"}, Why: "detected from yarn.lock"}}},
		"the one that the project has": {root{"package.json": `{"packageManager": "npm@10.1.0"}`, "pnpm-lock.yaml": "", "package-lock.json": "{}"}, "npm", []merge.TestRun{npm}},
		"one that it does not have":    {root{"package.json": `{"packageManager": "yarn@4"}`, "pnpm-lock.yaml": ""}, "npm", []merge.TestRun{pnpm}},
		"a broken package.json":        {root{"package.json": `{"packageManager": `, "package-lock.json": "{}"}, "npm", []merge.TestRun{npm}},
		"uv before pip":                {root{"uv.lock": "", "requirements.txt": ""}, "uv", []merge.TestRun{uv}},
		"pip":                          {root{"requirements.txt": ""}, "python3", []merge.TestRun{pip}},
		"pip, of two files": {root{"requirements.txt": "", "requirements-dev.txt": ""}, "pytest", []merge.TestRun{
			{Argv: append(append([]string{}, pip.Argv...), "--requirement", "requirements-dev.txt"), Why: "detected from requirements.txt and requirements-dev.txt"},
		}},
		"bundler":               {root{"Gemfile.lock": ""}, "bundle", []merge.TestRun{bundle}},
		"go":                    {root{"go.mod": "", "go.sum": ""}, "go", []merge.TestRun{download}},
		"go without modules":    {root{"go.mod": ""}, "go", nil},
		"go with all in it":     {root{"go.mod": "", "go.sum": "", "vendor/modules.txt": ""}, "go", nil},
		"cargo":                 {root{"Cargo.lock": ""}, "cargo", []merge.TestRun{cargo}},
		"a script, of anything": {everything, "scripts/test", []merge.TestRun{npm, uv, bundle, download, cargo}},
		"one of many":           {everything, "/usr/local/bin/go", []merge.TestRun{download}},
		"tox makes its own":     {everything, "tox", nil},
	} {
		got := merge.DetectSetup(func(file string) (string, bool) { text, ok := tt.files[file]; return text, ok }, []string{tt.tests, "test"})
		assert.Equal(t, tt.want, got, name)
	}
	for _, s := range []merge.TestRun{npm, pnpm, yarn, uv, download, cargo} {
		assert.False(t, s.Installs(), s.Why)
	}
	assert.True(t, pip.Installs())
	assert.True(t, bundle.Installs())
	assert.Nil(t, merge.DetectSetup(func(string) (string, bool) { return "", true }, []string{"python3", "-m", "tox"}))
}

func TestTestsAreRunByWhatHasSetThemUp(t *testing.T) {
	t.Parallel()
	scripts := `{"scripts": {"test": "jest"}}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"npm":  {map[string]string{"package.json": scripts, "package-lock.json": "{}"}, []string{"npm", "test"}},
		"pnpm": {map[string]string{"package.json": scripts, "pnpm-lock.yaml": ""}, []string{"pnpm", "test"}},
		"yarn": {map[string]string{"package.json": scripts, "yarn.lock": ""}, []string{"yarn", "test"}},
		"uv":   {map[string]string{"pytest.ini": "", "uv.lock": ""}, []string{"uv", "run", "python", "-m", "pytest"}},
		"tox":  {map[string]string{"tox.ini": "[tox]", "uv.lock": ""}, []string{"python3", "-m", "tox"}},
	} {
		argv, _, ok := merge.DetectTests(func(file string) (string, bool) { text, ok := tt.files[file]; return text, ok })
		assert.True(t, ok, name)
		assert.Equal(t, tt.want, argv, name)
	}
}
