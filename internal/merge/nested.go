package merge

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Nested is what a Root knows the paths of all Manifests by.
const Nested = "**/"

// Manifests are the names of files that begin a module, in whatever directory.
var Manifests = []string{"go.mod", "package.json", "Cargo.toml", "pom.xml"}

// passedOver are directories of others' modules, and those that go test passes over: see go help packages.
var passedOver = regexp.MustCompile(`(^|/)(vendor|node_modules|testdata|target|[._][^/]*)/`)

// PassedOver reports whether a path is in such a directory.
func PassedOver(file string) bool { return passedOver.MatchString(file) }

// nested are the modules below the root that the command for this manifest at the root does not test, the first ten.
func nested(root Root, manifest string) (list []string) {
	const most = 10
	told, all := covered(root, manifest)
	paths, _ := root(Nested)
	for _, file := range slices.Sorted(strings.SplitSeq(paths, "\n")) {
		dir := path.Dir(file)
		if all || path.Base(file) != manifest || dir == "." || passedOver.MatchString(file) || strings.ContainsFunc(file, unicode.IsControl) || mentions(told, dir) {
			continue
		}
		inside := func(name string) (string, bool) { return root(path.Join(dir, name)) }
		if manifest == "package.json" && node(inside) == "" {
			continue
		}
		if len(list) == most {
			return append(list, "and more")
		}
		list = append(list, file)
	}
	return list
}

// covered is the text that names what the command tests besides the module at the root; all: it can be every module. Go never leaves
// its module, not even in a workspace. Cargo tests the whole workspace, where testerOf asks for it. Maven tests the modules of its
// project. What npm does is in the scripts, and those of a workspace can do anything.
func covered(root Root, manifest string) (told string, all bool) {
	text, _ := root(manifest)
	switch manifest {
	case "pom.xml":
		return text, false
	case "Cargo.toml":
		return "", workspace.MatchString(text)
	case "package.json":
		var p struct{ Scripts, Workspaces any }
		_ = json.Unmarshal([]byte(text), &p)
		scripts, _ := json.Marshal(p.Scripts)
		ours := func(file string) bool { return there(root, file) != "" }
		return string(scripts), p.Workspaces != nil || slices.ContainsFunc([]string{"pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json"}, ours)
	}
	return "", false
}

// mentions reports whether a text names a directory, or one that it is in.
func mentions(text, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(dir) + `($|[^\w-])`).MatchString(text) {
			return true
		}
	}
	return false
}

// workspace is the table by which a Cargo.toml begins one: https://doc.rust-lang.org/cargo/reference/workspaces.html
var workspace = regexp.MustCompile(`(?m)^\s*\[workspace[\].]`)
