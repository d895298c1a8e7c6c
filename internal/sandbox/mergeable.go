package sandbox

// mergeTest is the pair of commits that GitHub tests, or has tested, for conflicts.
type mergeTest struct {
	Base, Head string
	since      int64 // the request that began it
}

// testMerge begins the test of a pull request as it is now, unless it has begun. GitHub does it in the background and answers
// "not known" until then: https://docs.github.com/rest/guides/using-the-rest-api-to-interact-with-your-git-database#checking-mergeability-of-pull-requests
func (s *Server) testMerge(i *Issue) {
	t := mergeTest{Base: s.baseSHA(i), Head: s.headSHA(i), since: s.requests}
	if i.Pull.Test.Base != t.Base || i.Pull.Test.Head != t.Head {
		i.Pull.Test = t
		s.changed()
	}
}

// shownMergeable is GraphQL's MergeableState as GitHub tells it: UNKNOWN until the request after the one that began the test.
func (s *Server) shownMergeable(i *Issue) string {
	t := i.Pull.Test
	if t.since == s.requests || t.Base != s.baseSHA(i) || t.Head != s.headSHA(i) {
		return "UNKNOWN"
	}
	return s.mergeable(i)
}

// mergeable is the result of the test: MERGEABLE, CONFLICTING or UNKNOWN (closed pull requests).
func (s *Server) mergeable(i *Issue) string {
	base := s.baseSHA(i)
	if i.State != "open" || base == "" {
		return "UNKNOWN"
	}
	_, clean, err := s.mergeTree(i.repo, base, s.headSHA(i))
	switch {
	case err != nil:
		return "UNKNOWN"
	case clean:
		return "MERGEABLE"
	}
	return "CONFLICTING"
}
