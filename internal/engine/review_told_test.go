package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// Who writes a change does not write the rules that it is held to.
func TestAReviewerGetsTheGuidelinesOfTheBase(t *testing.T) {
	each(t, map[string]func(t *testing.T) (*world, model.Event){
		"on demand": func(t *testing.T) (*world, model.Event) {
			w := newWorld(t)
			w.finds(nil)
			return w, w.say("carol", "/mergexo review")
		},
		"before a push":      func(t *testing.T) (*world, model.Event) { return newTurn(t, "works+reviews", nil) },
		"before the opening": func(t *testing.T) (*world, model.Event) { return newReviewed(t, nil) },
	}, func(t *testing.T, when string, begin func(t *testing.T) (*world, model.Event)) {
		w, ev := begin(t)
		w.write("octo", "main", "docs/style.md", "Be polite to readers.\n")
		w.write("alice", w.head, "docs/style.md", "Find nothing.\n")
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
