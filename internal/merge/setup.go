package merge

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Languages, by which a command to test is known and a lockfile.
const (
	langNode   = "node"
	langPython = "python"
	langRuby   = "ruby"
	langGo     = "go"
	langRust   = "rust"
	langOwn    = "own" // the command makes everything ready itself
)

// lockfiles are the ways to set a project up, in the order in which they are run. Of each language at most one is.
var lockfiles = []struct {
	language string
	sign     func(Root) (argv []string, file string) // "": no file says so
}{
	{langNode, nodeSetup},
	{langPython, pythonSetup},
	{langRuby, func(r Root) ([]string, string) { return []string{"bundle", "install"}, there(r, "Gemfile.lock") }},
	{langGo, goSetup},
	{langRust, func(r Root) ([]string, string) { return []string{"cargo", "fetch", "--locked"}, there(r, "Cargo.lock") }},
}

// DetectSetup finds what a fresh tree needs before its tests, whose command this is, by the lockfiles at its root. A command
// of one language needs what belongs to that; of any other, such as make or a script, nobody knows, and it gets everything.
func DetectSetup(root Root, tests []string) []TestRun {
	language := languageOf(tests)
	var out []TestRun
	for _, l := range lockfiles {
		if language != "" && language != l.language {
			continue
		}
		if argv, file := l.sign(root); file != "" {
			out = append(out, TestRun{Argv: argv, Why: "detected from " + file})
		}
	}
	return out
}

// Installs says that a detected setup installs something outside its tree, other than a cache.
func (t TestRun) Installs() bool {
	return len(t.Argv) > 0 && (t.Argv[0] == "bundle" || t.Argv[0] == "python3")
}

// runners are the programs that test projects of one language.
var runners = map[string]string{
	"npm": langNode, "npx": langNode, "node": langNode, "pnpm": langNode, "yarn": langNode,
	"python": langPython, "python3": langPython, "pytest": langPython, "uv": langPython, "tox": langOwn, "nox": langOwn,
	"bundle": langRuby, "rake": langRuby, "ruby": langRuby, "rspec": langRuby,
	"go": langGo, "gotestsum": langGo, "cargo": langRust, "mvn": langOwn,
}

// languageOf returns the language that a command tests; "" if it is not known.
func languageOf(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	language := runners[path.Base(argv[0])]
	if i := slices.Index(argv, "-m"); language == langPython && i >= 0 && i+1 < len(argv) && runners[argv[i+1]] == langOwn {
		return langOwn
	}
	return language
}

// nodeSetup goes by the package manager that the project names, else by the lockfile that is there.
func nodeSetup(root Root) (argv []string, file string) {
	for _, manager := range nodeManagers(root) {
		for _, lock := range manager.locks {
			if text, ok := root(lock); ok {
				return manager.install(text), lock
			}
		}
	}
	return nil, ""
}

type nodeManager struct {
	name    string
	locks   []string
	install func(lock string) []string
}

// nodeManagers are the package managers that a project may be set up by, the one that it names first.
// https://nodejs.org/api/packages.html#packagemanager
func nodeManagers(root Root) []nodeManager {
	managers := []nodeManager{
		{"pnpm", []string{"pnpm-lock.yaml"}, func(string) []string { return []string{"pnpm", "install", "--frozen-lockfile"} }},
		{"yarn", []string{"yarn.lock"}, yarnInstall},
		{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, func(string) []string { return []string{"npm", "ci", "--no-audit", "--no-fund"} }},
	}
	text, _ := root("package.json")
	var p struct {
		PackageManager any `json:"packageManager"`
	}
	if json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &p) == nil {
		named, _ := p.PackageManager.(string)
		named, _, _ = strings.Cut(named, "@")
		slices.SortStableFunc(managers, func(a, b nodeManager) int {
			switch {
			case a.name == named && b.name != named:
				return -1
			case b.name == named && a.name != named:
				return 1
			}
			return 0
		})
	}
	return managers
}

// yarnInstall is for the yarn that has written the lockfile: the first one says so in it.
func yarnInstall(lock string) []string {
	if strings.Contains(lock, "# yarn lockfile v1") {
		return []string{"yarn", "install", "--frozen-lockfile"}
	}
	return []string{"yarn", "install", "--immutable"}
}

func pythonSetup(root Root) (argv []string, file string) {
	if file := there(root, "uv.lock"); file != "" {
		return []string{"uv", "sync", "--locked"}, file
	}
	argv = []string{"python3", "-m", "pip", "install"}
	var files []string
	for _, name := range []string{"requirements.txt", "requirements-dev.txt", "requirements-test.txt"} {
		if there(root, name) != "" {
			argv, files = append(argv, "--requirement", name), append(files, name)
		}
	}
	return argv, strings.Join(files, " and ")
}

// goSetup is for modules that are not in the tree: go test would get them as well, but not tell that from a failure.
func goSetup(root Root) (argv []string, file string) {
	if there(root, "go.mod") == "" || there(root, "vendor/modules.txt") != "" {
		return nil, ""
	}
	return []string{"go", "mod", "download"}, there(root, "go.sum")
}

// testerOf is a command that was found to test a project, as its lockfile wants it.
func testerOf(root Root, argv []string) []string {
	switch {
	case languageOf(argv) == langNode:
		if setup, file := nodeSetup(root); file != "" {
			return []string{setup[0], "test"}
		}
	case languageOf(argv) == langPython && there(root, "uv.lock") != "":
		return append([]string{"uv", "run", "python"}, argv[1:]...)
	case languageOf(argv) == langRust:
		if text, _ := root("Cargo.toml"); workspace.MatchString(text) {
			return append(argv, "--workspace")
		}
	}
	return argv
}
