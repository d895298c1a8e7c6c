//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnclearAnswersOnTheWayToAPullRequest(t *testing.T) {
	w := newIssue(t)
	w.handle(w.label("alice", smallJob))
	want := w.showsIssue()
	for n := 1; n <= 7; n++ {
		for name, f := range map[string]fate{"unclear": unclear, "lost": lost} {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				w, ev := labelled(t, smallJob)
				w.gate.only(n, f)
				w.handle(ev)
				w.gate.at = nil
				w.handle(ev)
				assert.Equal(t, want, w.showsIssue())
				assert.Equal(t, 1, w.calls())
			})
		}
	}
}
