package doctor

import "strings"

// externalLabel checks that the label that admits a fork's pull request exists.
func externalLabel(e *exam) {
	if label := e.Settings.External; label != "" {
		e.labels("pull requests of forks: label", "none can be accepted", label)
	}
}

// startingLabels checks that the labels exist by which people start something.
func startingLabels(e *exam) {
	if e.readable() && len(e.Settings.Labels) > 0 {
		e.labels("labels:", "nobody can start anything with them", e.Settings.Labels...)
	}
}

func (e *exam) labels(what, follows string, names ...string) {
	var missing, fixes []string
	for _, name := range names {
		switch label := e.Hub.Labels[name]; {
		case !e.asked():
			e.unchecked("%s %s not checked", what, quote(name))
		case label.Why != "":
			e.unchecked("%s %s not checked: %s", what, quote(name), label.Why)
		case !label.There:
			missing, fixes = append(missing, name), append(fixes, "gh label create "+quote(name)+" --repo "+e.repo())
		}
	}
	if len(missing) > 0 {
		e.problem(strings.Join(fixes, " && "), "%s %s missing: %s", what, isAre(missing), follows)
	}
	e.otherwise("%s %s set up", what, isAre(names))
}
