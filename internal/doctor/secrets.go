package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	secretName   = regexp.MustCompile(`(?i)\bsecrets\.([a-z_]\w*)`)
	variableName = regexp.MustCompile(`(?i)\bvars\.([a-z_]\w*)`)
)

// secrets checks that every secret that a workflow of ours names is stored, and so is the App's id. GitHub gives an empty text for one
// that is not. https://docs.github.com/en/actions/reference/security/secrets
func secrets(e *exam) []Finding {
	var out []Finding
	stored := 0
	unseen := map[string]bool{}
	for _, w := range e.ours() {
		for _, named := range w.names() {
			known, of := e.Hub.Secrets, "secret"
			if named.variable {
				known, of = e.Hub.Variables, "variable"
			}
			switch {
			case e.Hub.State != HubRead:
			case known.Why != "":
				if !unseen[of] {
					out = append(out, unchecked("%s: whether the %s %s is stored was not checked: %s", place(w.path, named.line), of, named.name, known.Why))
				}
				unseen[of] = true
			case slices.Contains(known.All, named.name):
				stored++
			default:
				other := slices.DeleteFunc(slices.Clone(known.All), func(name string) bool {
					return slices.ContainsFunc(w.names(), func(n naming) bool { return n.name == name })
				})
				out = append(out, e.unstored(w, named, of, other))
			}
		}
	}
	if stored > 0 && len(out) == 0 {
		out = append(out, ok("%s: the secrets and variables that it names are stored", e.files()))
	}
	return out
}

// unstored is the finding for a secret or a variable that is named and not stored.
func (e *exam) unstored(w *workflow, n naming, of string, stored []string) Finding {
	f := problem(fmt.Sprintf("gh %s set %s --repo %s", of, n.name, e.repo()), "%s: the %s %s is not stored", place(w.path, n.line), of, n.name)
	if n.name == signingName {
		f.Level, f.Text, f.Fix = Warning, f.Text+", so that a comment by another workflow could be taken for one of MergeXO", makeKey
	}
	f.Text += hint(n.name, stored)
	return f
}

// naming is a place where a workflow names a secret or a variable.
type naming struct {
	name     string
	line     int
	variable bool
}

// names are the secrets that the jobs of a workflow need, and the variables for an App, each at its first place. Jobs with an environment
// are left out, which has secrets of its own.
func (w *workflow) names() []naming {
	var out []naming
	var walk func(n *yaml.Node)
	seen := map[*yaml.Node]bool{} // aliases may lead to one node many times
	add := func(n *yaml.Node, of *regexp.Regexp, variable bool) {
		for _, found := range of.FindAllStringSubmatch(n.Value, -1) {
			name := strings.ToUpper(found[1])
			if name != "GITHUB_TOKEN" && !slices.ContainsFunc(out, func(o naming) bool { return o.name == name && o.variable == variable }) {
				out = append(out, naming{name, n.Line, variable})
			}
		}
	}
	walk = func(n *yaml.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Kind == yaml.ScalarNode {
			add(n, secretName, false)
		}
		for _, p := range pairs(n) {
			if p.key == "app-id" {
				add(p.value, variableName, true)
			}
			walk(p.value)
		}
		if n.Kind == yaml.SequenceNode {
			for _, one := range n.Content {
				walk(follow(one))
			}
		}
	}
	for _, p := range pairs(w.node) {
		if p.key != "jobs" {
			walk(p.value)
		}
	}
	for _, j := range w.jobs {
		if !j.environment && slices.ContainsFunc(usesOf(w), func(u use) bool { return u.j == j }) {
			walk(j.node)
		}
	}
	return out
}

// versions checks that the version of MergeXO that a workflow names exists.
func versions(e *exam) []Finding {
	var out []Finding
	for _, name := range Versions(e.Workflows) {
		first := e.uses[slices.IndexFunc(e.uses, func(u use) bool { return u.s.uses.value == name })]
		at := first.at(first.s.uses.line)
		switch version, asked := e.Hub.Versions[name]; {
		case !asked:
		case version.Why != "":
			out = append(out, unchecked("%s: whether %s exists was not checked: %s", at, quote(name), version.Why))
		case !version.There:
			out = append(out, problem("name a release of it, as in the workflow that mergexo init writes", "%s: %s does not exist: every run fails", at, quote(name)))
		}
	}
	return out
}

// Versions are the versions of MergeXO that workflows name: "owner/name@ref".
func Versions(files []File) (all []string) {
	for _, f := range files {
		if w, err := readWorkflow(f); err == nil {
			for _, u := range usesOf(w) {
				all = append(all, u.s.uses.value)
			}
		}
	}
	return sorted(all)
}
