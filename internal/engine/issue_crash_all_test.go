//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnclearAnswersOnTheWayToAPullRequest(t *testing.T) {
	w := worked(t, smallJob)
	want := w.showsIssue()
	unsure(t, writes(1, 7), func(t *testing.T, n int, f fate) {
		w, ev := labelled(t, smallJob)
		w.gate.only(n, f)
		w.handle(ev)
		w.gate.at = nil
		w.handle(ev)
		assert.Equal(t, want, w.showsIssue())
		assert.Equal(t, 1, w.calls())
	})
}
