package doctor

import "strings"

// externalLabel checks that the label that admits a fork's pull request exists.
func externalLabel(e *exam) []Finding {
	label := e.Settings.External
	switch {
	case !e.readable() || label == "":
		return nil
	case e.Hub.State != HubRead:
		return []Finding{unchecked("pull requests of forks: label %s not checked", quote(label))}
	case e.Hub.Labels[label].Why != "":
		return []Finding{unchecked("pull requests of forks: label %s not checked: %s", quote(label), e.Hub.Labels[label].Why)}
	case !e.Hub.Labels[label].There:
		return []Finding{problem(e.makeLabel(label), "pull requests of forks: label %s does not exist, so none can be accepted", quote(label))}
	}
	return []Finding{ok("pull requests of forks: accepted by the label %s", quote(label))}
}

// startingLabels checks that the labels exist by which people start something.
func startingLabels(e *exam) []Finding {
	if !e.readable() || len(e.Settings.Labels) == 0 || e.Hub.State != HubRead {
		return nil // the token's own finding says what was not asked
	}
	var out []Finding
	var missing, fixes []string
	for _, name := range e.Settings.Labels {
		switch label := e.Hub.Labels[name]; {
		case label.Why != "":
			out = append(out, unchecked("labels: %s not checked: %s", quote(name), label.Why))
		case !label.There:
			missing, fixes = append(missing, name), append(fixes, e.makeLabel(name))
		}
	}
	if len(missing) > 0 {
		out = append(out, problem(strings.Join(fixes, " && "), "labels: %s missing: nobody can start anything with them", isAre(missing)))
	}
	return orOK(out, "labels: %s set up", isAre(e.Settings.Labels))
}

// makeLabel is the command that makes a label.
func (e *exam) makeLabel(name string) string {
	return "gh label create " + quote(name) + " --repo " + e.repo()
}
