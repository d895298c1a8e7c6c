package doctor

// externalLabel checks that the label that admits a fork's pull request exists.
func externalLabel(e *exam) []Finding {
	label := e.Settings.External
	switch {
	case !e.readable() || label == "":
		return nil
	case e.Hub.State != HubRead:
		return []Finding{unchecked("pull requests of forks: whether there is a label %s was not checked", quote(label))}
	case e.Hub.Label.Why != "":
		return []Finding{unchecked("pull requests of forks: whether there is a label %s was not checked: %s", quote(label), e.Hub.Label.Why)}
	case !e.Hub.Label.There:
		return []Finding{warn("make it: gh label create "+quote(label)+" --repo "+e.repo(), "pull requests of forks: there is no label %s, by which they are let in", quote(label))}
	}
	return []Finding{ok("pull requests of forks: let in by the label %s", quote(label))}
}
