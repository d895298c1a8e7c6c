package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"go.yaml.in/yaml/v3"
)

var secretName = regexp.MustCompile(`(?i)\b(secrets|vars)\.([a-z_]\w*)`)

// secrets checks that every secret that a workflow of ours names is stored, and so is the App's id. GitHub gives an empty text for one
// that is not. https://docs.github.com/en/actions/reference/security/secrets
func secrets(e *exam) {
	stored, unseen := 0, map[string]bool{}
	for _, w := range e.ours() {
		named := namings(w)
		for _, n := range named {
			known, of := e.Hub.Secrets, "secret"
			if n.variable {
				known, of = e.Hub.Variables, "variable"
			}
			switch {
			case slices.Contains(known.All, n.name):
				stored++
			case known.Why == "":
				others := slices.DeleteFunc(slices.Clone(known.All), func(name string) bool {
					return slices.ContainsFunc(named, func(n naming) bool { return n.name == name })
				})
				e.unstored(workflow.Place(w.Path, n.line), n.name, of, others)
			case !unseen[of]:
				e.unchecked("%s: whether the %s %s is stored was not checked: %s", workflow.Place(w.Path, n.line), of, n.name, known.Why)
				unseen[of] = true
			}
		}
	}
	if stored > 0 {
		e.otherwise("%s: the secrets and variables that it names are stored", e.files())
	}
}

// unstored reports a secret or a variable that is named and not stored.
func (e *exam) unstored(at, name, of string, stored []string) {
	if name == signingName {
		e.warn(makeKey, "%s: the %s %s is not stored, so that a comment by another workflow could be taken for one of MergeXO%s", at, of, name, hint(name, stored))
		return
	}
	e.problem(fmt.Sprintf("gh %s set %s --repo %s", of, name, e.repo()), "%s: the %s %s is not stored%s", at, of, name, hint(name, stored))
}

// naming is a place where a workflow names a secret or a variable.
type naming struct {
	name     string
	line     int
	variable bool
}

// namings are the secrets that a workflow names, and the variables for an App, each at its first place. Jobs with an environment are left
// out, which has secrets of its own.
func namings(w *workflow.Workflow) (out []naming) {
	var walk func(key string, n *yaml.Node)
	walk = func(key string, n *yaml.Node) {
		if slices.ContainsFunc(w.Jobs, func(j *workflow.Job) bool { return j.Environment && j.Node == n }) {
			return
		}
		for _, found := range secretName.FindAllStringSubmatch(n.Value, -1) {
			one := naming{strings.ToUpper(found[2]), n.Line, strings.EqualFold(found[1], "vars")}
			other := one.name == "GITHUB_TOKEN" || one.variable && key != "app-id"
			if !other && !slices.ContainsFunc(out, func(o naming) bool { return o.name == one.name }) {
				out = append(out, one)
			}
		}
		for i, kid := range n.Content {
			walk(n.Content[max(i-1, 0)].Value, kid) // which is the key, in a mapping
		}
	}
	walk("", w.Node)
	return out
}

// versions checks that the version of MergeXO that a workflow names exists.
func versions(e *exam) {
	for _, name := range Versions(e.Workflows) {
		first := e.uses[slices.IndexFunc(e.uses, func(u use) bool { return u.s.Uses.Value == name })]
		at := first.at(first.s.Uses.Line)
		switch version, asked := e.Hub.Versions[name]; {
		case !asked:
		case version.Why != "":
			e.unchecked("%s: whether %s exists was not checked: %s", at, quote(name), version.Why)
		case !version.There:
			e.problem("name a release of it, as in the workflow that mergexo init writes", "%s: %s does not exist: every run fails", at, quote(name))
		}
	}
}

// Versions are the versions of MergeXO that workflows name: "owner/name@ref".
func Versions(files []workflow.File) (all []string) {
	for _, w := range workflow.ReadAll(files) {
		for _, u := range usesOf(w) {
			all = append(all, u.s.Uses.Value)
		}
	}
	return sorted(all)
}
