package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var secretName = regexp.MustCompile(`(?i)\b(secrets|vars)\.([a-z_]\w*)`)

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

// names are the secrets that a workflow names, and the variables for an App, each at its first place. Jobs with an environment are left
// out, which has secrets of its own.
func (w *workflow) names() (out []naming) {
	for i, line := range strings.Split(w.text, "\n") {
		line, _, _ = strings.Cut(" "+line, " #")
		if slices.ContainsFunc(w.jobs, func(j *job) bool { return j.environment && j == w.jobAt(i+1) }) {
			continue
		}
		for _, found := range secretName.FindAllStringSubmatch(line, -1) {
			n := naming{name: strings.ToUpper(found[2]), variable: strings.EqualFold(found[1], "vars")}
			known := n.name == "GITHUB_TOKEN" || n.variable && !strings.Contains(line, "app-id:") || slices.ContainsFunc(out, func(o naming) bool { return o.name == n.name })
			if n.line = i + 1; !known {
				out = append(out, n)
			}
		}
	}
	return out
}

// jobAt is the job that a line is of; nil: it is above them all.
func (w *workflow) jobAt(line int) (found *job) {
	for _, j := range w.jobs {
		if j.line <= line && (found == nil || found.line < j.line) {
			found = j
		}
	}
	return found
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
