package command

// pause stops everything until resume.
func pause(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	if p := c.State.Paused; p != nil {
		return c.reject("Pull request %d is already paused, by %s: %s.", c.Target.Pull.Number, p.Marker.By, p.URL)
	}
	return c.apply("**Paused.** Nothing happens here until `/mergexo resume`. Comments made until then wait and are not lost.")
}

// resume ends a pause.
func resume(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	if c.State.Paused == nil {
		return c.reject("Pull request %d is not paused.", c.Target.Pull.Number)
	}
	return c.apply("**Resumed.** The [pause](%s) is over. %s", c.State.Paused.URL, c.goesOn("not_paused"))
}
