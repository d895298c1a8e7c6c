package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/golden"
)

const nodeCI = `name: CI
on: [push, pull_request]
env: {NODE: "22"}
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/setup-node@v3
      - run: npm run lint
  test:
    runs-on: ubuntu-latest
    services:
      postgres: {image: "postgres:16"}
    steps:
      - uses: actions/checkout@v4
      - uses: pnpm/action-setup@a7487c7e89a18df4991f7f222e4898a00d66ddda # v4.1.0
        with: {version: 10, run_install: true}
      - uses: actions/setup-node@v4
        with:
          node-version: ${{ env.NODE }}
          cache: pnpm
          registry-url: https://npm.example.com
        env: {NODE_AUTH_TOKEN: "${{ secrets.NPM_TOKEN }}"}
      - uses: actions/cache@v4
        with: {path: node_modules, key: x}
      - uses: docker/setup-buildx-action@v3
      - run: sudo apt-get update && sudo apt-get install -y libpq-dev
      - run: pnpm install --frozen-lockfile
      - run: pnpm test
      - uses: codecov/setup-something@v1
`

const matrixCI = `on: pull_request
jobs:
  test:
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        python: &versions ["3.11", "3.12", "3.13"]
        include: [{extra: "yes"}]
    runs-on: ${{ matrix.os }}
    steps:
      - uses: actions/checkout@v4
      - &setup
        uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python }}
          cache: pip
          architecture: ${{ needs.x.outputs.arch }}
          token: ${{ secrets.PYTHONS }}
      - run: |
          # what tests need
          python -m pip install --upgrade tox
          sudo apt-get install -y libxml2
      - uses: astral-sh/setup-uv@v6
        if: matrix.extra == 'yes'
      - run: pip install -e . uv
      - run: python -m tox
  again:
    runs-on: ubuntu-latest
    steps:
      - *setup
      - run: tox
`

// tenWorkflows are workflows of which the seventh tests pull requests as the project does.
func tenWorkflows() map[string]string {
	files := map[string]string{}
	for i := range 10 {
		on, run := "schedule", "go test ./..."
		if i == 6 {
			on = "pull_request"
		} else if i > 6 {
			on, run = "push", "go vet ./..."
		}
		files[fmt.Sprintf(".github/workflows/%d.yml", i)] = fmt.Sprintf("on: %s\njobs: {t: {runs-on: ubuntu-latest, steps: [{uses: actions/setup-go@v%d}, {run: %s}]}}\n", on, i, run)
	}
	return files
}

// setups are projects, by the golden file of the action that is made for them.
var setups = map[string]struct {
	files    map[string]string // workflows are read as such
	tests    string
	noCaches bool
}{
	"nothing":       {nil, "", false},
	"go":            {map[string]string{"go.mod": "module x\n", ".github/workflows/deploy.yml": "on: push\njobs: {deploy: {runs-on: x, steps: [{uses: actions/setup-go@v5}, {run: ./deploy}]}}\n"}, "go test ./...", false},
	"go_no_caches":  {map[string]string{"go.mod": "module x\n"}, "go test ./...", true},
	"node_npm":      {map[string]string{"package.json": `{"engines": {"node": "20"}}`, "package-lock.json": "{}"}, "npm test", false},
	"node_pnpm":     {map[string]string{"package.json": "{}", "pnpm-lock.yaml": "x", ".nvmrc": "22"}, "pnpm test", false},
	"node_yarn":     {map[string]string{"package.json": "{}", "yarn.lock": "__metadata:\n"}, "yarn test", false},
	"node_yarn_1":   {map[string]string{"package.json": "{}", "yarn.lock": "# yarn lockfile v1\n"}, "yarn test", false},
	"python_uv":     {map[string]string{"pyproject.toml": "x", "uv.lock": "x"}, "uv run python -m pytest", false},
	"python_poetry": {map[string]string{"pyproject.toml": "[tool.poetry.dependencies]\npython = \"^3.12\"\n", "poetry.lock": "x"}, "python3 -m pytest", false},
	"python_pip":    {map[string]string{"requirements.txt": "x", ".python-version": "3.12"}, "python3 -m pytest", false},
	"rust":          {map[string]string{"Cargo.toml": "x", "rust-toolchain.toml": "x"}, "cargo test", false},
	"java":          {map[string]string{"pom.xml": "<maven.compiler.release>25</maven.compiler.release>"}, "mvn --batch-mode test", false},
	"java_gradle":   {map[string]string{"build.gradle.kts": "x"}, "", false},
	"ruby":          {map[string]string{"Gemfile.lock": "x", ".ruby-version": "3.4"}, "", false},
	"dotnet":        {map[string]string{"global.json": "{}"}, "", false},
	"php":           {map[string]string{"composer.json": `{"require": {"php": "^8.3"}}`, "composer.lock": "x"}, "", false},
	"monorepo":      {map[string]string{"api/go.mod": "x", "web/package.json": "{}", "web/pnpm-lock.yaml": "x", "ml/pyproject.toml": "requires-python = \">=3.12\"\n", "ml/deep/uv.lock": "x"}, "", false},
	"ci_node":       {map[string]string{".github/workflows/ci.yml": nodeCI, "pnpm-lock.yaml": "x"}, "pnpm test", false},
	"ci_no_caches":  {map[string]string{".github/workflows/ci.yml": nodeCI}, "pnpm test", true},
	"ci_matrix":     {map[string]string{".github/workflows/ci.yml": matrixCI}, "python3 -m tox", false},
	"ci_three_languages": {map[string]string{"Makefile": "test:\n", "go.mod": "x", ".github/workflows/ci.yml": "on: push\njobs:\n" +
		"  api: {runs-on: ubuntu-latest, steps: [{uses: actions/checkout@v4}, {uses: actions/setup-go@v5, with: {go-version: '1.25'}}, {run: go test ./...}]}\n" +
		"  web: {runs-on: ubuntu-latest, steps: [{run: corepack enable}, {uses: actions/setup-node@v4, with: {node-version: 24}}, {run: pnpm test}]}\n" +
		"  web-e2e: {runs-on: ubuntu-latest, steps: [{run: corepack enable}, {uses: actions/setup-node@v4, with: {node-version: 22}}, {run: pnpm run test --e2e}]}\n" +
		"  ml: {runs-on: ubuntu-latest, steps: [{uses: astral-sh/setup-uv@v6}, {run: uv run pytest}]}\n" +
		"  win: {runs-on: windows-latest, steps: [{uses: actions/setup-dotnet@v4}, {run: dotnet test}]}\n"}, "make test", false},
	"ci_ten_workflows": {tenWorkflows(), "go test ./...", false},
	"ci_no_tests":      {map[string]string{".github/workflows/ci.yml": "on: push\njobs: {a: {runs-on: x, steps: [{uses: actions/setup-go@v5}]}}\n"}, "", false},
	"ci_broken":        {map[string]string{".github/workflows/ci.yml": "on: [push\n", ".github/workflows/b.yml": "on: push\njobs: []\n", "go.mod": "x"}, "go test ./...", false},
	"ci_reusable": {map[string]string{
		".github/workflows/ci.yml":   "on: pull_request\njobs: {test: {uses: ./.github/workflows/test.yml, secrets: inherit}}\n",
		".github/workflows/test.yml": "on: {workflow_call: {inputs: {go: {type: string}}}}\njobs:\n  go:\n    runs-on: ubuntu-latest\n    container: golang:1\n    steps:\n      - {uses: actions/setup-go@v5, with: {go-version: '${{ inputs.go }}', cache: true}}\n      - run: go test ./...\n",
	}, "go test ./...", false},
	"ci_local_action": {map[string]string{
		".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: ./.github/actions/setup\n        with: {ruby: '3.3'}\n      - run: bundle exec rspec\n",
		".github/actions/setup/action.yml": "inputs: {ruby: {default: '3.2'}, bundler: {default: '2'}}\nruns:\n  using: composite\n  steps:\n    - uses: ruby/setup-ruby@v1\n      with: {ruby-version: '${{ inputs.ruby }}', bundler: '${{ inputs.bundler }}', bundler-cache: true}\n" +
			"    - {run: npm ci, shell: bash}\n    - {run: npm install -g yarn@1.22, shell: bash}\n    - uses: ./.github/actions/setup\n",
	}, "", false},
}

func TestTheSetupActionOfAProject(t *testing.T) {
	t.Parallel()
	for name, c := range setups {
		p := Project{Read: func(file string) string { return c.files[file] }, Tests: strings.Fields(c.tests), NoCaches: c.noCaches}
		for _, file := range slices.Sorted(maps.Keys(c.files)) {
			if strings.HasPrefix(file, ".github/workflows/") {
				p.Workflows = append(p.Workflows, ReadAll([]File{{Path: file, Text: c.files[file]}})...)
			} else {
				p.Paths = append(p.Paths, file)
			}
		}
		text := p.Setup()
		golden.File(t, "setup/"+name+".yml", text[strings.Index(text, "  steps:\n")+len("  steps:\n"):])
		var action struct {
			Runs struct {
				Using string
				Steps []struct {
					Uses, Run, Shell string
					With             map[string]string
				}
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(text), &action), name)
		assert.NotEmpty(t, action.Runs.Steps, name)
		for _, s := range action.Runs.Steps {
			assert.Equal(t, s.Run != "", s.Shell == "bash", "a local action has to name the shell")
			said := fmt.Sprint(s)
			for _, code := range []string{"npm ci", "pip install -e", "bundler-cache", "run_install", "secrets.", "matrix.", "env.", "inputs."} {
				assert.NotContains(t, said, code, name)
			}
			assert.False(t, c.noCaches && strings.Contains(said, "cache:pnpm"), name)
		}
	}
}

// What the agent needs comes last, and not for a push.
func TestTheSetupActionInstallsTheAgent(t *testing.T) {
	t.Parallel()
	read := func(string) string { return "" }
	nothing := strings.TrimSuffix(Project{Read: read}.Setup(), "    - run: echo nothing to install\n      shell: bash\n")
	text := Project{Agent: []string{"npm install -g x"}, Pushes: true, Read: read}.Setup()
	assert.Equal(t, nothing+"    - run: npm install -g x\n      shell: bash\n      if: github.event_name != 'push' && github.event_name != 'delete'\n", text)
}

// A script is taken over only if all that it does is to install programs by name.
func TestScriptsThatInstall(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]bool{
		"sudo apt-get update && sudo apt-get install -y libpq-dev=15.1": true, "npm i -g pnpm@10 @scope/x@^1.2": true, "corepack enable": true, "pipx install poetry==1.8.3": true,
		"python -m pip install -U tox uv": true, "rustup toolchain install 1.80": true, "go install gotest.tools/gotestsum@v1.12.0": true, "gem install bundler -v 2.5.1": true, "cargo install --locked cargo-nextest": true,
		"": false, "npm ci": false, "npm install": false, "npm install -g .": false, "npm install -g ./x": false, "pip install -r requirements.txt": false, "pip install -e. uv": false, "sudo apt-get install ./x.deb": false,
		"go install ./...": false, "cargo install --path .": false, "rustup run stable x": false, "apt-get update; ./x": false, "apt-get update\n./x": false, "apt-get update | sh": false, "npm i -g $(cat x)": false, "gem install x.gem": false,
		"npm i -g ${{ github.head_ref }}": false, "apt-get install `x`": false,
	} {
		assert.Equal(t, want, isInstall(run), run)
	}
}
