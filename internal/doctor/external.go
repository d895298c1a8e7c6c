package doctor

import "strings"

// externalLabel checks that the label that admits a fork's pull request exists.
func externalLabel(e *exam) []Finding {
	if !e.readable() || e.Settings.External == "" {
		return nil
	}
	return e.labels("pull requests of forks: label", "none can be accepted", e.Settings.External)
}

// startingLabels checks that the labels exist by which people start something.
func startingLabels(e *exam) []Finding {
	if !e.readable() || len(e.Settings.Labels) == 0 || e.Hub.State != HubRead {
		return nil // the token's own finding says what was not asked
	}
	return e.labels("labels:", "nobody can start anything with them", e.Settings.Labels...)
}

func (e *exam) labels(what, follows string, names ...string) []Finding {
	var out []Finding
	var missing, fixes []string
	for _, name := range names {
		switch label := e.Hub.Labels[name]; {
		case e.Hub.State != HubRead:
			out = append(out, unchecked("%s %s not checked", what, quote(name)))
		case label.Why != "":
			out = append(out, unchecked("%s %s not checked: %s", what, quote(name), label.Why))
		case !label.There:
			missing, fixes = append(missing, name), append(fixes, "gh label create "+quote(name)+" --repo "+e.repo())
		}
	}
	if len(missing) > 0 {
		out = append(out, problem(strings.Join(fixes, " && "), "%s %s missing: %s", what, isAre(missing), follows))
	}
	return orOK(out, "%s %s set up", what, isAre(names))
}
