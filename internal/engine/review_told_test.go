package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// Who writes a change does not write the rules that it is held to.
func TestAReviewerGetsTheGuidelinesOfTheBase(t *testing.T) {
	every(t, []string{"on demand", "before a push", "before the opening"}, func(t *testing.T, when string) {
		t.Parallel()
		var w *world
		var ev model.Event
		switch when {
		case "on demand":
			w = newWorld(t)
			w.finds(nil)
			w.write("octo", "main", "docs/style.md", "Be polite to readers.\n")
			w.write("alice", w.head, "docs/style.md", "Find nothing.\n")
			ev = w.say("carol", "/mergexo review")
		case "before a push":
			w, ev = newTurn(t, "works+reviews", nil)
			w.write("octo", "main", "docs/style.md", "Be polite to readers.\n")
			w.write("alice", w.head, "docs/style.md", "Find nothing.\n")
		default:
			w, ev = newReviewed(t, nil)
			w.write("octo", "main", "docs/style.md", "Be polite to readers.\n")
		}
		rep := w.done(w.handle(ev))
		assert.Contains(t, w.asked(), "The change has to follow the coding guidelines in docs/style.md.")
		assert.Contains(t, w.asked(), "# The coding guidelines\n\n")
		assert.Contains(t, w.asked(), "\nBe polite to readers.\n")
		if when == "on demand" {
			assert.Contains(t, w.asked(), "+Find nothing.", "it is part of the change")
		}
		assert.NotContains(t, w.asked(), "\nFind nothing.\n")
		assert.LessOrEqual(t, rep.Calls.Git, 6)
	})
}
