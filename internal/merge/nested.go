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

// nested are the modules below the root that the command for this manifest at the root does not test.
func nested(root Root, manifest string) (list []string) {
	paths, _ := root(Nested)
	own, _ := root(manifest)
	covered := coveredBy(root, manifest, own)
	for _, file := range slices.Sorted(strings.SplitSeq(paths, "\n")) {
		dir := path.Dir(file)
		if len(list) > maxNested || path.Base(file) != manifest || dir == "." || passedOver.MatchString(file) || strings.ContainsFunc(file, unicode.IsControl) || covered(dir) {
			continue
		}
		inside := func(name string) (string, bool) { return root(path.Join(dir, name)) }
		if manifest != "package.json" || node(inside) != "" {
			list = append(list, file)
		}
	}
	if len(list) > maxNested {
		list = append(list[:maxNested], "and more")
	}
	return list
}

// maxNested is how many are named.
const maxNested = 10

// coveredBy tells which directories the command tests as well. Go never leaves the module, not even in a workspace. Cargo tests the
// whole workspace, where testerOf asks for it. Maven tests the modules that are named, and npm runs what the scripts say: those of a
// workspace can do anything.
func coveredBy(root Root, manifest, own string) func(dir string) bool {
	switch manifest {
	case "Cargo.toml":
		return func(string) bool { return workspace.MatchString(own) }
	case "package.json":
		var p struct{ Scripts, Workspaces any }
		_ = json.Unmarshal([]byte(own), &p)
		for _, file := range []string{"pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json"} {
			if p.Workspaces != nil || there(root, file) != "" {
				return func(string) bool { return true }
			}
		}
		scripts, _ := json.Marshal(p.Scripts)
		own = string(scripts)
	case "go.mod":
		own = ""
	}
	return func(dir string) bool {
		for ; dir != "."; dir = path.Dir(dir) {
			if regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(dir) + `($|[^\w-])`).MatchString(own) {
				return true
			}
		}
		return false
	}
}

// workspace is the table by which a Cargo.toml begins one: https://doc.rust-lang.org/cargo/reference/workspaces.html
var workspace = regexp.MustCompile(`(?m)^\s*\[workspace[\].]`)
