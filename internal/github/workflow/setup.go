package workflow

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"text/template"

	_ "embed"

	"github.com/mergexo/mergexo/internal/markdown"
)

// SetupPath is the local action that installs what agents and tests need. The workflow uses it by UsesSetup.
const (
	SetupPath = ".github/mergexo/setup/action.yml"
	UsesSetup = "./.github/mergexo/setup"
)

// Project describes a repository for which a setup action is made.
type Project struct {
	Workflows []*Workflow                     // its own
	Paths     []string                        // of its files, as far as Signs name them
	Read      func(name string) (text string) // a file of it; "" if there is none
	Tests     []string                        // the command that tests it; nil: none was found
	Agent     []string                        // commands that install the agent's own program
	Pushes    bool                            // the workflow also runs on pushes, on which no agent works
	NoCaches  bool                            // an agent could write to a cache that a job with more rights reads
}

// toolStep is a step that installs something.
type toolStep struct {
	Uses string // the action, and the comment with its version
	With map[string]string
	Run  string
}

// IsPlain reports whether YAML takes the script for a text as it is.
func (s toolStep) IsPlain() bool { return plainRun.MatchString(s.Run) }

var plainRun = regexp.MustCompile(`^\w[\w@./=&^~ -]*$`)

// Lines are those of the script.
func (s toolStep) Lines() []string { return each(strings.Split(s.Run, "\n"), strings.TrimSpace) }

// Setup is the local action: the steps of the CI job with the same tests, else what the files of the project ask for.
func (p Project) Setup() string {
	made := struct {
		Project
		FromCI bool
		From   string
		Steps  []toolStep
		Notes  []string
	}{Project: p}
	made.From, made.Steps, made.Notes = p.fromCI()
	if made.FromCI = len(made.Steps) > 0; !made.FromCI {
		made.Steps = p.fromFiles()
	}
	var b strings.Builder
	_ = setupTemplate.Execute(&b, made) // whose fields tests try
	return b.String()
}

//go:embed setup.yml.tmpl
var setupText string

var setupTemplate = template.Must(template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"scalar": Scalar, "oneline": inOneLine}).Parse(setupText))

// inOneLine is a text for a comment of YAML.
func inOneLine(s string) string { return markdown.Title(strings.Join(strings.Fields(s), " ")) }

// language is how one is set up: by which action, from which files, in which version.
type language struct {
	action string   // by commit, with its version
	signs  []string // the files that show it, the first one that is there
	// versions are the files that name its version, and the input that takes them; a file counts only if its text matches.
	versions []versionFile
	usual    [2]string         // the input and its value if no file names a version; none: the runner's own
	caches   map[string]string // the cache of a package manager, by the file that shows it
	tools    map[string]string // the command that installs a package manager, likewise
}

type versionFile struct {
	name, input string
	text        *regexp.Regexp // that has to be in it, with the version as its group if the input takes no file
}

// languages are set up by their files. What the runner brings itself, such as Rust, is left to it, unless a file names a version.
var languages = []language{
	{action: "actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0", signs: []string{"pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "package.json"},
		versions: []versionFile{{".nvmrc", "node-version-file", nil}, {".node-version", "node-version-file", nil}, {"package.json", "node-version-file", regexp.MustCompile(`"(engines|volta|devEngines)"\s*:`)}},
		usual:    [2]string{"node-version", "lts/*"}, caches: map[string]string{"pnpm-lock.yaml": "pnpm", "package-lock.json": "npm", "npm-shrinkwrap.json": "npm"},
		tools: map[string]string{"pnpm-lock.yaml": "npm install -g pnpm", "yarn.lock": "npm install -g corepack && corepack enable"}},
	{action: "astral-sh/setup-uv@20cfd1bf945f4377ade1205e4dbc17946fc9a30d # v10.0.1", signs: []string{"uv.lock"}},
	{action: "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0", signs: []string{"poetry.lock", "Pipfile.lock", "requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini"},
		versions: []versionFile{{".python-version", "python-version-file", nil}, {"pyproject.toml", "python-version-file", regexp.MustCompile(`(?m)^(requires-python|python) *=`)}},
		usual:    [2]string{"python-version", "3.x"}, caches: map[string]string{"requirements.txt": "pip"},
		tools: map[string]string{"poetry.lock": "pipx install poetry", "Pipfile.lock": "pipx install pipenv"}},
	{action: "actions/setup-go@4a3601121dd01d1626a1e23e37211e3254c1c06c # v6.4.0", signs: []string{"go.mod"}, versions: []versionFile{{"go.mod", "go-version-file", nil}}},
	{signs: []string{"rust-toolchain.toml", "rust-toolchain"}, tools: map[string]string{"rust-toolchain.toml": "rustup toolchain install", "rust-toolchain": "rustup toolchain install"}},
	{action: "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0", signs: []string{"pom.xml", "build.gradle", "build.gradle.kts"},
		versions: []versionFile{{".java-version", "java-version-file", nil},
			{"pom.xml", "java-version", regexp.MustCompile(`<(?:maven\.compiler\.release|maven\.compiler\.source|java\.version|release)>\s*(\d+)\s*<`)},
			{"build.gradle", "java-version", regexp.MustCompile(`JavaLanguageVersion\.of\((\d+)\)`)}, {"build.gradle.kts", "java-version", regexp.MustCompile(`JavaLanguageVersion\.of\((\d+)\)`)}},
		usual: [2]string{"java-version", "21"}, caches: map[string]string{"pom.xml": "maven", "build.gradle": "gradle", "build.gradle.kts": "gradle"}},
	{action: "ruby/setup-ruby@0dafeac902942906541bc140009cdbf32665b601 # v1.315.0", signs: []string{"Gemfile.lock", "Gemfile"}, versions: []versionFile{{".ruby-version", "", nil}, {".tool-versions", "", regexp.MustCompile(`(?m)^ruby `)}},
		usual: [2]string{"ruby-version", "ruby"}},
	{action: "actions/setup-dotnet@a98b56852c35b8e3190ac28c8c2271da59106c68 # v6.0.0", signs: []string{"global.json"}, versions: []versionFile{{"global.json", "global-json-file", nil}}},
	{action: "shivammathur/setup-php@f3e473d116dcccaddc5834248c87452386958240 # 2.37.2", signs: []string{"composer.lock", "composer.json"},
		versions: []versionFile{{"composer.json", "php-version", regexp.MustCompile(`"php"\s*:\s*"[^"\d]*(\d+\.\d+)`)}}, usual: [2]string{"php-version", "latest"}},
}

// Signs are the names of the files by which languages are known.
func Signs() (names []string) {
	for _, l := range languages {
		names = append(names, l.signs...)
	}
	return names
}

// fromFiles are the steps that the files of a project ask for.
func (p Project) fromFiles() (steps []toolStep) {
	python := false // uv brings its own
	for _, l := range languages {
		sign := p.nearest(l.signs)
		name := actionOf(l.action)
		if sign == "" || python && name == "actions/setup-python" {
			continue
		}
		python = python || name == "astral-sh/setup-uv"
		if run := l.tools[path.Base(sign)]; run != "" && !strings.Contains(p.Read(sign), "yarn lockfile v1") { // which the runner has
			steps = append(steps, toolStep{Run: run}) // first, since a cache may need it
		}
		if name != "" {
			steps = append(steps, toolStep{Uses: l.action, With: p.inputs(l, name, sign)})
		}
	}
	return steps
}

// nearest is the first of some files that the project has, nearest to its root.
func (p Project) nearest(names []string) string {
	best := ""
	for _, name := range names {
		for _, file := range p.Paths {
			if path.Base(file) == name && (best == "" || strings.Count(file, "/") < strings.Count(best, "/")) {
				best = file
			}
		}
	}
	return best
}

// inputs are those of the action of a language, whose file is sign.
func (p Project) inputs(l language, action, sign string) map[string]string {
	with, dir := map[string]string{}, path.Dir(sign)
	if cache := l.caches[path.Base(sign)]; cache != "" {
		with["cache"] = cache
		if dir != "." {
			with["cache-dependency-path"] = sign
		}
	}
	switch {
	case action == "actions/setup-java":
		with["distribution"] = "temurin"
	case action == "actions/setup-go" && dir != ".":
		with["cache-dependency-path"] = dir + "/go.sum"
	}
	if p.NoCaches {
		noCache(action, with)
	}
	for _, v := range l.versions {
		for _, file := range []string{path.Join(dir, v.name), v.name} {
			found := cmp.Or(v.text, anything).FindStringSubmatch(p.Read(file))
			if found == nil {
				continue
			}
			if strings.HasSuffix(v.input, "-file") {
				with[v.input] = file
			} else if v.input != "" {
				with[v.input] = found[1]
			}
			return with
		}
	}
	if l.usual[0] != "" {
		with[l.usual[0]] = l.usual[1]
	}
	return with
}

var anything = regexp.MustCompile(`(?s).`)

// noCache turns off the caches that an action has by itself.
func noCache(action string, with map[string]string) {
	for _, name := range []string{"cache", "cache-dependency-path", "enable-cache", "bundler-cache"} {
		delete(with, name)
	}
	off := map[string]string{"actions/setup-go": "cache", "actions/setup-node": "package-manager-cache", "astral-sh/setup-uv": "enable-cache"}[action]
	if off != "" {
		with[off] = "false"
	}
}
