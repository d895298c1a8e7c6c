//go:build all

package engine_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/model"
)

func TestWordsThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []trouble{
		{how: "prose", says: `its output is not JSON (invalid character 'I' at start of value): it begins with "I have looked at it.`},
		{how: "after", says: `its output continues after the JSON object: "Anything else?"`},
		{how: "twice", says: `its output continues after the JSON object: "{\"general_comment\": \"Done.\"}"`},
		{how: "fences", says: "its output is not JSON (invalid character '`' at start of value)"},
		{how: "half", says: "its output is not JSON (it ends in the middle)"},
		{how: "binary", says: `it begins with "�::stop::\n"`},
	} {
		t.Run(c.how, func(t *testing.T) {
			w := newWorld(t)
			w.agent = c.how
			before := w.tip()
			ev := w.remark("alice", "Answer me.")
			c.result = model.ResultFailed
			w.shown(c, w.handle(ev), before)
			w.recovers(ev, false)
		})
	}
}
