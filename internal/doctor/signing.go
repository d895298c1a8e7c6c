package doctor

// signingName is the environment variable for the signing key, an alternative to the action's input.
const signingName = "MERGEXO_SIGNING_KEY"

// makeKey is how people make a signing key.
const makeKey = "store the output of `openssl rand -hex 32` in the repository's secret " + signingName

// signing checks that our markers can be told from what other workflows of the repository post: with the workflow's own
// token, all of them are github-actions[bot].
func signing(e *exam) []Finding {
	var out []Finding
	asked := 0
	for _, u := range e.uses {
		if u.phase == agentPhase || u.ownToken() {
			continue
		}
		asked++
		if u.s.with["signing-key"] == "" && !u.gives(signingName) {
			out = append(out, warn("pass the input signing-key: ${{ secrets."+signingName+" }}, and "+makeKey,
				"%s: jobs.%s uses the workflow's own token without a signing key: a comment posted by another workflow could be mistaken for MergeXO's, because both use the same token", u.at(u.s.line), u.j.id))
		}
	}
	switch {
	case len(e.uses) == 0:
		return nil
	case asked == 0:
		return []Finding{ok("%s: no other workflow comments with the same token", e.files())}
	case len(out) > 0:
		return out
	case e.InActions && !e.Signed:
		return []Finding{warn(makeKey, "%s: the signing key that the workflow names is empty", e.files())}
	case e.InActions:
		return []Finding{ok("%s: markers are signed", e.files())}
	}
	return []Finding{ok("%s: markers are signed, once the secret of signing-key is set", e.files())}
}
