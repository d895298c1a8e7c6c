//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeLooksOnceMoreAfterItsTests(t *testing.T) {
	type row struct {
		does deed
		ends string // how the request ends; "" where that is not what counts
	}
	each(t, map[string]row{
		"closed":            {deed{"octo", "PATCH", "/pulls/1", `{"state":"closed"}`}, "merge_failed CLOSED"},
		"changes requested": {deed{"bob", "POST", "/pulls/1/reviews", `{"event":"REQUEST_CHANGES","body":"not like this"}`}, ""}, // the words are answered in the same run, which moves the head
		"head moved":        {deed{"octo", "PUT", "/contents/late.txt", `{"branch":"agent/greet","message":"late","content":"bGF0ZQo="}`}, "merge_failed HEAD_MOVED"},
		"retargeted":        {deed{"octo", "PATCH", "/pulls/1", `{"base":"other"}`}, "merge_failed RETARGETED"},
	}, func(t *testing.T, name string, c row) {
		w := whileTested(t, c.does).landsNothing()
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/other", "sha": w.at("main")})
		rep := w.command("carol", "/mergexo merge")
		require.Len(t, w.merges(), 1)
		if c.ends != "" {
			assert.Equal(t, c.ends, w.merges()[0], rep.Reason)
		}
		assert.NotEqual(t, "done", w.merges()[0])
		assert.NotEqual(t, "merged", w.badge())
		assert.Empty(t, w.stages())
	})
}
