package thread

import (
	"slices"

	"github.com/mergexo/mergexo/internal/turn"
)

// Failing says that GitHub's sum of all checks of the head is a failure.
func Failing(t *Thread) bool {
	return slices.Contains([]string{"FAILURE", "ERROR"}, t.Snap.Pull.Rollup)
}

// FailuresAreFeedback says that failures of CI are feedback here.
func FailuresAreFeedback(t *Thread) bool {
	return t.Settings.Feedback.CI != "never" && !t.Snap.Pull.CrossRepo
}

// CIPolicy says which workflow runs count.
func CIPolicy(t *Thread) turn.CIPolicy {
	return turn.CIPolicy{When: t.Settings.Feedback.CI, OwnPath: t.Run.Workflow, OwnRun: t.Run.ID}
}
