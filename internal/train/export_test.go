package train

import "time"

// Steps is how often a fold applies a rule that changes something.
func Steps(m Manifest, facts Facts, s Settings, now time.Time) int {
	return folded(m, facts, s, now).steps
}
