package command

// pause stops everything until resume.
func pause(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	if p := c.State.Paused; p != nil {
		return c.reject("It is paused already, by %s: %s.", p.Marker.By, p.URL)
	}
	return c.apply("Nothing is done here until `/mergexo resume`. What is said meanwhile waits and is not lost.")
}

// resume ends a pause.
func resume(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	if c.State.Paused == nil {
		return c.reject("Pull request %d is not paused.", c.Target.Pull.Number)
	}
	return c.apply("The [pause](%s) is over. %s", c.State.Paused.URL, c.goesOn("not_paused"))
}
