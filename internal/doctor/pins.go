package doctor

import (
	"regexp"
	"strings"
)

var (
	fullSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)
	digest  = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	release = regexp.MustCompile(`^v\d`)
)

// pins checks the actions that share a job with the token: a tag or a branch can be moved.
// https://docs.github.com/en/actions/reference/security/secure-use#using-third-party-actions
func pins(e *exam) {
	for _, u := range e.jobs() {
		for _, s := range u.j.Steps {
			uses := s.Uses.Value
			name, ref, _ := strings.Cut(uses, "@")
			switch {
			case uses == "", strings.HasPrefix(uses, "./"), fullSHA.MatchString(ref), digest.MatchString(uses):
			case isAction(uses) && release.MatchString(ref):
			case isAction(uses):
				e.warn("use a release: "+name+"@v0, or a full commit SHA", "%s: %s can change with every push to it", u.at(s.Uses.Line), quote(uses))
			default:
				e.warn("pin it to a full commit SHA, with the version in a comment", "%s: %s can be moved to other code, which would run in the agent's job with its token", u.at(s.Uses.Line), quote(uses))
			}
		}
	}
	e.compared("the other actions are pinned")
}
