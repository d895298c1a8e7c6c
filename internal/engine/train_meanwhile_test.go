package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A run tests a car here and lands it then. What was said of its own pull request meanwhile counts as what is said of others does.
func TestALandingOfTheTrainLooksOnceMoreAfterItsTests(t *testing.T) {
	each(t, map[string]deed{
		"approval dismissed": {"octo", "PUT", "/pulls/1/reviews/REVIEW/dismissals", `{"message":"on second thought"}`},
		"taken back":         {"carol", "POST", "/issues/1/comments", `{"body":"/mergexo merge cancel"}`},
	}, func(t *testing.T, _ string, d deed) {
		w := whileTested(t, d, `verify = "both"`).landsNothing()
		w.newApp()
		w.token = "sandbox-mergexo-app[bot]"
		w.number = 1
		rep := w.command("carol", "/mergexo merge")
		assert.Equal(t, "open", w.badge(), rep.Reason)
	})
}
