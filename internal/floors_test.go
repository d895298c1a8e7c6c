// Package internal_test holds the house rules that span packages: which may import which, who may read the environment
// and end the process, and what lies at the top of the repository. Each rule is a pure function over what go list or
// the parser tells, so that the tests can also show that it fails when it is broken.
package internal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

const module = "github.com/mergexo/mergexo"

// floors says how high each package stands. A package imports only lower ones; a package below another one's directory
// belongs to it. A new package gets its line here.
var floors = map[string]int{
	"internal/model": 0, "internal/clock": 0, "internal/markdown": 0, "internal/strictjson": 0, "internal/frontmatter": 0, "internal/treepath": 0, "internal/loopback": 0, "internal/branchfilter": 0, "internal/scratch": 0, "internal/credential": 0, "internal/nearest": 0, "internal/manual": 0, "internal/skipci": 0,

	"internal/golden": 0, "internal/must": -1, // tests

	"internal/turn": 1, "internal/flow": 1, "internal/journal": 1, "internal/lineage": 1, "internal/merge": 1, "internal/command": 1, "internal/leak": 1, "internal/external": 1, "internal/sweep": 1, "internal/needs": 1, "internal/train": 1, "internal/review": 1, "internal/roadmap": 1, // pure
	"internal/github": 1, "internal/git": 1, "internal/agent": 1, "internal/config": 1, "internal/report": 1, "internal/handoff": 1, "internal/dashboard": 1, // I/O
	"internal/transcript": 1, // pure but for the randomness of what it encrypts
	"internal/sandbox":    1, // tests and offline runs

	"internal/engine": 2,
	"internal/doctor": 2, // pure
	"internal/cli":    3,
	"cmd/mergexo":     4,
}

// rooms says how high each room of a house stands in it. A room imports only lower ones; rooms of one height are siblings, and
// what two of them need goes down. Tests from outside of a room may use all rooms of their house to set a scene.
var rooms = map[string]int{
	"internal/engine/effect": 0, "internal/engine/thread": 1, "internal/engine/redact": 2,
	"internal/engine/work": 3, "internal/engine/reviewing": 4, "internal/engine/turns": 5, // of an agent, whatever it is for
	// topics
	"internal/engine/landing": 6, "internal/engine/sweeping": 6, "internal/engine/planning": 6,
	"internal/engine/forks": 7, // it asks for a merge
	"internal/engine":       8,

	"internal/git/syntax":  0, // names and answers
	"internal/git/relay":   1, // knows no repository
	"internal/git":         2, // the handle
	"internal/git/history": 3,
	"internal/git/merging": 4, "internal/git/transport": 4,
	"internal/git/checkout": 5,
	// for tests only
	"internal/git/gittest": 6,
}

// checkRooms lists the imports that go up or sideways within a house.
func checkRooms(pkgs []listed) []string {
	var wrong []string
	for _, p := range pkgs {
		own, _ := house(p.name())
		at, split := rooms[p.name()]
		if _, isSplit := rooms[own]; isSplit && !split {
			wrong = append(wrong, p.name()+" is not in the rooms table")
			continue
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports) {
			target := strings.TrimPrefix(i, module+"/")
			other, isRoom := rooms[target]
			elsewhere, _ := house(target)
			switch {
			case !isRoom:
			case elsewhere == own && other >= at:
				wrong = append(wrong, fmt.Sprintf("%s (room %d) imports %s (room %d)", p.name(), at, target, other))
			case strings.HasSuffix(target, "/gittest") && slices.Contains(p.Imports, i):
				wrong = append(wrong, p.name()+" imports "+target+", which is for tests")
			}
		}
	}
	return wrong
}

// reserved are imports that only some packages may have, so that a library stops at one place.
var reserved = map[string][]string{
	"github.com/google/go-github/v60/github": {"internal/github"},
	"github.com/BurntSushi/toml":             {"internal/config", "internal/leak"},
	"github.com/zricethezav/gitleaks":        {"internal/leak"},
	"os/exec":                                {"internal/git", "internal/agent", "internal/sandbox"},
	"github.com/graph-gophers/graphql-go":    {"internal/sandbox"},
	"github.com/urfave/cli/v2":               {"internal/cli"},
	"github.com/yuin/goldmark":               {"internal/markdown", "internal/sandbox"},
	"go.yaml.in/yaml/v3":                     {"internal/doctor", "internal/github", "internal/flow", "internal/frontmatter", "internal/roadmap", "internal/sandbox"},
	"github.com/rhysd/actionlint":            {"internal/doctor", "internal/sandbox"}, // the syntax of expressions
	"filippo.io/age":                         {"internal/transcript"},
	"github.com/golang-jwt/jwt":              {"internal/github", "internal/sandbox"},
	"golang.org/x/crypto":                    {"internal/github", "internal/sandbox"}, // sealed boxes, for secrets
	"golang.org/x/net":                       {"internal/git", "internal/agent"},
	"github.com/jonboulle/clockwork":         {"internal/clock"},
	"github.com/aclements/go-moremath":       {"internal/dashboard"},
	"github.com/mattn/go-isatty":             {"internal/report"},
	"golang.org/x/sys":                       {"internal/report"}, // how wide a terminal is
}

// unlinked are modules that serve tests and scripts only and must not be in the binary.
var unlinked = []string{"github.com/getkin/kin-openapi", "github.com/stretchr/testify", "github.com/chromedp/chromedp", "github.com/chromedp/cdproto",
	"github.com/santhosh-tekuri/jsonschema", "github.com/creack/pty"}

// listed is what go list says of a package.
type listed struct {
	ImportPath   string
	Dir          string
	Doc          string
	GoFiles      []string
	IgnoredFiles []string `json:"IgnoredGoFiles"`
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// name is the package's path in this repository.
func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// house gives the package of the floors table that pkg is or belongs to; ok is false for none.
func house(pkg string) (string, bool) {
	for p := pkg; p != "."; p = filepath.Dir(p) {
		if _, ok := floors[p]; ok {
			return p, true
		}
	}
	return "", false
}

// checkFloors lists the imports that go up or sideways. Tests may, beyond that, use the sandbox.
func checkFloors(pkgs []listed) []string {
	var wrong []string
	for _, p := range pkgs {
		own, ok := house(p.name())
		switch {
		case ok:
		case p.name() == "internal", strings.HasPrefix(p.name(), "scripts/"):
			continue
		default:
			wrong = append(wrong, p.name()+" has no floor: give it a line in the floors table")
			continue
		}
		check := func(imports []string, test bool) {
			for _, i := range imports {
				target, ours := strings.CutPrefix(i, module+"/")
				if !ours {
					continue
				}
				at, known := house(target)
				if at == own || known && floors[at] < floors[own] || test && (at == "internal/sandbox" || at == "internal/needs") {
					continue
				}
				wrong = append(wrong, fmt.Sprintf("%s (floor %d) imports %s (floor %d)", p.name(), floors[own], target, floors[at]))
			}
		}
		check(p.Imports, strings.HasSuffix(p.name(), "/gittest"))
		check(p.TestImports, true)
		check(p.XTestImports, true)
	}
	return wrong
}

// checkReserved lists imports of a reserved library from elsewhere. Tests may import what they like.
func checkReserved(pkgs []listed) []string {
	var wrong []string
	for _, p := range pkgs {
		if strings.HasPrefix(p.name(), "scripts/") {
			continue
		}
		own, _ := house(p.name())
		for _, i := range p.Imports {
			for library, allowed := range reserved {
				if (i == library || strings.HasPrefix(i, library+"/")) && !slices.Contains(allowed, own) {
					wrong = append(wrong, fmt.Sprintf("%s imports %s, which is for %s only", p.name(), i, strings.Join(allowed, ", ")))
				}
			}
		}
	}
	return wrong
}

// checkLinked lists what the binary holds and should not.
func checkLinked(deps []string) []string {
	var wrong []string
	for _, d := range deps {
		for _, m := range unlinked {
			if d == m || strings.HasPrefix(d, m+"/") {
				wrong = append(wrong, "the binary links "+d)
			}
		}
	}
	return wrong
}

// checkDocs lists packages whose comment is missing or does not begin with what the package does.
func checkDocs(pkgs []listed) []string {
	var wrong []string
	for _, p := range pkgs {
		name := path.Base(p.name())
		says, ok := strings.CutPrefix(p.Doc, "Package "+name+" ")
		if !ok {
			says, ok = strings.CutPrefix(p.Doc, "Command "+name+" ")
		}
		if len(p.GoFiles) > 0 && (!ok || strings.HasPrefix(says, "is ")) {
			wrong = append(wrong, fmt.Sprintf("%s has the package comment %q: begin with what it does", p.name(), p.Doc))
		}
	}
	return wrong
}

// goList runs go list at the top of the repository. Code that does not build is for the compiler to tell: -e goes on.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-tags=" + strings.Join(circles, ",")}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		require.NoError(t, err, "go list %v: %s", args, exit.Stderr)
	}
	require.NoError(t, err)
	return out
}

// packages are all packages of this repository.
func packages(t *testing.T) []listed {
	t.Helper()
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(goList(t, "-json", "./..."))))
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

func TestImportsGoDown(t *testing.T) {
	pkgs := packages(t)
	assert.Empty(t, checkFloors(pkgs))
	assert.Empty(t, checkRooms(pkgs))
	assert.Empty(t, checkReserved(pkgs))
	assert.Empty(t, checkDocs(pkgs))
}

func TestTheBinaryHoldsOnlyWhatItNeeds(t *testing.T) {
	assert.Empty(t, checkLinked(strings.Fields(string(goList(t, "-deps", "./cmd/mergexo")))))
}

func TestCheckFloorsSeesWhatIsWrong(t *testing.T) {
	at := func(names ...string) []string {
		for i, n := range names {
			names[i] = module + "/" + n
		}
		return names
	}
	type row struct {
		pkg  listed
		want string
	}
	must.Each(t, map[string]row{
		"down":                       {listed{ImportPath: module + "/internal/engine", Imports: at("internal/turn", "internal/model")}, ""},
		"up":                         {listed{ImportPath: module + "/internal/turn", Imports: at("internal/engine")}, "internal/turn (floor 1) imports internal/engine (floor 2)"},
		"sideways":                   {listed{ImportPath: module + "/internal/turn", Imports: at("internal/github")}, "internal/turn (floor 1) imports internal/github (floor 1)"},
		"sideways from a subpackage": {listed{ImportPath: module + "/internal/sandbox/conform", Imports: at("internal/github")}, "internal/sandbox/conform (floor 1) imports internal/github (floor 1)"},
		"within one house":           {listed{ImportPath: module + "/internal/sandbox/conform", Imports: at("internal/sandbox")}, ""},
		"the sandbox in a test":      {listed{ImportPath: module + "/internal/github", TestImports: at("internal/sandbox"), XTestImports: at("internal/github")}, ""},
		"the sandbox in code":        {listed{ImportPath: module + "/internal/github", Imports: at("internal/sandbox")}, "internal/github (floor 1) imports internal/sandbox (floor 1)"},
		"up in a test":               {listed{ImportPath: module + "/internal/git", TestImports: at("internal/engine")}, "internal/git (floor 1) imports internal/engine (floor 2)"},
		"a package without a floor":  {listed{ImportPath: module + "/internal/util"}, "internal/util has no floor: give it a line in the floors table"},
		"an import without a floor":  {listed{ImportPath: module + "/internal/engine", Imports: at("internal/util")}, "internal/engine (floor 2) imports internal/util (floor 0)"},
		"the library's own":          {listed{ImportPath: module + "/internal/model", Imports: []string{"fmt", "github.com/x/y"}}, ""},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.want, strings.Join(checkFloors([]listed{c.pkg}), "\n"))
	})
}

func TestCheckRoomsSeesWhatIsWrong(t *testing.T) {
	const git = module + "/internal/git"
	type row struct {
		pkg  listed
		want string
	}
	must.Each(t, map[string]row{
		"down":      {listed{ImportPath: git + "/merging", Imports: []string{git, git + "/history"}}, ""},
		"a sibling": {listed{ImportPath: git + "/merging", Imports: []string{git + "/transport"}}, "internal/git/merging (room 4) imports internal/git/transport (room 4)"},
		"a sibling in a test of the same package": {listed{ImportPath: git + "/merging", TestImports: []string{git + "/transport"}}, "internal/git/merging (room 4) imports internal/git/transport (room 4)"},
		"a sibling in a test from outside":        {listed{ImportPath: git + "/merging", XTestImports: []string{git + "/transport"}}, ""},
		"up":                                      {listed{ImportPath: git, Imports: []string{git + "/history"}}, "internal/git (room 2) imports internal/git/history (room 3)"},
		"from another house":                      {listed{ImportPath: module + "/internal/engine", Imports: []string{git, git + "/transport"}}, ""},
		"what is for tests":                       {listed{ImportPath: module + "/internal/engine", Imports: []string{git + "/gittest"}}, "internal/engine imports internal/git/gittest, which is for tests"},
		"no room":                                 {listed{ImportPath: git + "/attic"}, "internal/git/attic is not in the rooms table"},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.want, strings.Join(checkRooms([]listed{c.pkg}), "\n"))
	})
}

func TestTheOtherChecksSeeWhatIsWrong(t *testing.T) {
	turn := listed{ImportPath: module + "/internal/turn", GoFiles: []string{"turn.go"}, Imports: []string{"os/exec", "github.com/google/go-github/v60/github"}}
	assert.Len(t, checkReserved([]listed{turn}), 2)
	assert.Len(t, checkReserved([]listed{{ImportPath: module + "/internal/engine", Imports: []string{"github.com/BurntSushi/toml"}}}), 1)
	assert.Empty(t, checkReserved([]listed{{ImportPath: module + "/internal/git", Imports: []string{"os/exec"}, TestImports: []string{"github.com/BurntSushi/toml"}}}))
	assert.Len(t, checkLinked([]string{"fmt", "github.com/getkin/kin-openapi/openapi3"}), 1)
	for doc, wrong := range map[string]int{"": 1, "Package turns decides.": 1, "Package turn is a decision.": 1, "Package turn decides.": 0, "Command turn decides.": 0} {
		turn.Doc = doc
		assert.Len(t, checkDocs([]listed{turn}), wrong, doc)
	}
}
