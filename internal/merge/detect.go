package merge

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Root reads the root of a tree for DetectTests: the text of a file by its name, or the names in a directory with a final
// slash, one per line; "./" is the root itself, and Nested the paths of all Manifests. ok is false for a missing one.
type Root func(name string) (text string, ok bool)

// lookedFor tells people what DetectTests looks for.
const lookedFor = "go.mod, a configuration of pytest or tox, a Python project with tests, a test script in package.json, Cargo.toml, pom.xml, and a target test or check in a Makefile"

// tools are the ways to find tests, in order of preference: a language's own tool before make, whose targets can mean
// anything.
var tools = []struct {
	argv []string
	sign func(Root) string // the file that shows it; "": none
}{
	{[]string{"go", "test", "./..."}, func(r Root) string { return there(r, "go.mod") }},
	{[]string{"python3", "-m", "pytest"}, pytest},
	{[]string{"python3", "-m", "tox"}, tox},
	{[]string{"npm", "test"}, node},
	{[]string{"cargo", "test"}, func(r Root) string { return there(r, "Cargo.toml") }},
	{[]string{"mvn", "--batch-mode", "test"}, func(r Root) string { return there(r, "pom.xml") }},
}

// DetectTests finds the command that tests a project, and the file that shows it. For several languages it prefers a make
// target, which may cover all of them; else it takes the first one, and names the others. It also names the modules below the root
// that the command leaves out. ok is false if nothing is found.
func DetectTests(root Root) (argv []string, said string, ok bool) {
	var signs []string
	for _, tool := range tools {
		if sign := tool.sign(root); sign != "" {
			if signs = append(signs, sign); argv == nil {
				argv = testerOf(root, slices.Clone(tool.argv))
			}
		}
	}
	target, file := makeTarget(root)
	switch {
	case len(signs) == 1:
		return argv, "detected from " + signs[0] + untested(nested(root, signs[0])), true
	case target != "" && len(signs) > 1:
		return []string{"make", target}, "detected from " + file + ", since there is more than one language: " + strings.Join(signs, ", "), true
	case target != "":
		return []string{"make", target}, "detected from " + file, true
	case len(signs) > 1:
		return argv, "detected from " + signs[0] + untested(append(signs[1:], nested(root, signs[0])...)), true
	}
	return nil, "", false
}

func untested(list []string) string {
	return either(len(list) > 0, "; not tested: "+strings.Join(list, ", "), "")
}

func there(root Root, name string) string {
	if _, ok := root(name); ok {
		return name
	}
	return ""
}

// pytest looks for the configuration of pytest in the files that pytest itself looks in:
// https://docs.pytest.org/en/stable/reference/customize.html
// Without one, and without tox, it is taken for what looks like a Python project that has tests: it runs those of unittest
// as well, and fails where it finds none.
func pytest(root Root) string {
	if file := configured(root); file != "" || tox(root) != "" {
		return file
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt", "Pipfile"} {
		if there(root, name) == "" {
			continue
		}
		if where := pythonTests(root); where != "" {
			return name + " and " + where
		}
	}
	return ""
}

// testFile is what pytest takes for a file with tests:
// https://docs.pytest.org/en/stable/explanation/goodpractices.html#conventions-for-python-test-discovery
var testFile = regexp.MustCompile(`(?m)^(test_.*|.*_test)\.py$`)

// script is any file of Python: tests may be in directories below it.
var script = regexp.MustCompile(`(?m)\.py$`)

// pythonTests is where a Python project has its tests; "" if it has none.
func pythonTests(root Root) string {
	for _, dir := range []string{"tests/", "test/"} {
		if names, ok := root(dir); ok && script.MatchString(names) {
			return dir
		}
	}
	names, _ := root("./")
	return testFile.FindString(names)
}

// tox looks for what tox is configured by: https://tox.wiki/en/latest/config.html#discovery-and-file-types
func tox(root Root) string {
	for _, f := range []struct{ name, section string }{{"tox.ini", `\[(tox|testenv)\]`}, {"setup.cfg", `\[tox:tox\]`}, {"pyproject.toml", `\[tool\.tox(\.|\])`}, {"tox.toml", ""}} {
		text, ok := root(f.name)
		if ok && regexp.MustCompile(`(?m)^[ \t]*`+f.section).MatchString(text) && configured(root) == "" {
			return f.name
		}
	}
	return ""
}

// configured is the file that configures pytest; "" if there is none.
func configured(root Root) string {
	for _, f := range []struct{ name, section string }{
		{"pytest.ini", ""}, {".pytest.ini", ""}, {"pyproject.toml", `\[tool\.pytest(\.|\])`}, {"tox.ini", `\[pytest\]`}, {"setup.cfg", `\[tool:pytest\]`}, {"conftest.py", ""},
	} {
		text, ok := root(f.name)
		if ok && (f.section == "" || regexp.MustCompile(`(?m)^[ \t]*`+f.section).MatchString(text)) {
			return f.name
		}
	}
	return ""
}

// node finds a custom test script: the one of npm init only fails.
func node(root Root) string {
	text, ok := root("package.json")
	var p struct{ Scripts map[string]any }
	if !ok || json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &p) != nil {
		return ""
	}
	script, _ := p.Scripts["test"].(string)
	if strings.TrimSpace(script) == "" || strings.Contains(script, "no test specified") {
		return ""
	}
	return "package.json"
}

// makeTarget is the test target, and the file that make would read.
func makeTarget(root Root) (target, file string) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		text, ok := root(name)
		if !ok {
			continue
		}
		targets := targetsOf(text)
		for _, t := range []string{"test", "check"} {
			if slices.Contains(targets, t) {
				return t, name
			}
		}
		return "", "" // make reads only the first one
	}
	return "", ""
}

// targetsOf are the targets of the rules of a makefile.
func targetsOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, ":")
		after = strings.TrimLeft(after, ":") // a double-colon rule
		if !ok || strings.HasPrefix(line, "\t") || strings.ContainsAny(before, "=#") || strings.HasPrefix(after, "=") {
			continue
		}
		out = append(out, strings.Fields(before)...)
	}
	return out
}
