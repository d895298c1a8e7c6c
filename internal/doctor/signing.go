package doctor

import "cmp"

// signingName is the environment variable for the signing key, an alternative to the action's input.
const signingName = "MERGEXO_SIGNING_KEY"

// makeKey is how people make a signing key.
const makeKey = "store the output of `openssl rand -hex 32` in the repository's secret " + signingName

// signing checks that our markers can be told from what other workflows of the repository post: with the workflow's own
// token, all of them are github-actions[bot].
func signing(e *exam) {
	var bare []string
	first, asked := "", false
	for _, u := range e.allSteps() {
		if u.phase == agentPhase || u.ownToken() {
			continue
		}
		asked = true
		if u.s.With["signing-key"] == "" && !u.gives(signingName) {
			first, bare = cmp.Or(first, u.at(u.s.Line)), append(bare, "jobs."+u.j.ID)
		}
	}
	switch {
	case len(bare) > 0:
		e.warn("pass the input signing-key: ${{ secrets."+signingName+" }}, and "+makeKey,
			"%s: no signing key in %s: a comment posted by another workflow could be mistaken for MergeXO's, because both use the same token", first, list(sorted(bare)))
	case asked && e.InActions && !e.Signed:
		e.warn(makeKey, "%s: the signing key that the workflow names is empty", e.files())
	case asked:
		e.compared("markers are signed")
	default:
		e.compared("no other workflow comments with the same token")
	}
}
