package command

// review answers a request for a review of the pull request's head.
func review(c Case) Answer {
	if a, ok := Early(c); ok {
		return a
	}
	return c.found("MergeXO could not determine whether this pull request can be reviewed")
}
