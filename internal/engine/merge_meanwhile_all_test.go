//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeLooksOnceMoreAfterItsTests(t *testing.T) {
	type row struct {
		call func(w *world) (method, path, body string)
		ends string // how the request ends; "" where that is not what counts
	}
	each(t, map[string]row{
		"closed": {func(w *world) (string, string, string) { return "PATCH", w.pull(""), `{"state":"closed"}` }, "merge_failed CLOSED"},
		"frozen": {func(w *world) (string, string, string) {
			return "POST", w.path(fmt.Sprintf("/issues/%d/labels", w.number)), `{"labels":["mergexo:freeze"]}`
		}, "in_approval FROZEN"},
		"approval dismissed": {func(w *world) (string, string, string) {
			review := w.list("octo", w.pull("/reviews"))[0].id()
			return "PUT", w.pull(fmt.Sprintf("/reviews/%d/dismissals", review)), `{"message":"on second thought"}`
		}, "in_approval APPROVAL_MISSING"},
		"changes requested": {func(w *world) (string, string, string) {
			return "POST", w.pull("/reviews"), `{"event":"REQUEST_CHANGES","body":"not like this"}`
		}, ""}, // the words are answered in the same run, which moves the head
		"head moved": {func(w *world) (string, string, string) {
			return "PUT", w.path("/contents/late.txt"), fmt.Sprintf(`{"branch":%q,"message":"late","content":"bGF0ZQo="}`, w.head)
		}, "merge_failed HEAD_MOVED"},
		"branch deleted": {func(w *world) (string, string, string) {
			return "DELETE", w.path("/git/refs/heads/" + w.head), ""
		}, "merge_failed CLOSED"},
		"retargeted": {func(w *world) (string, string, string) {
			w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/other", "sha": w.at("main")})
			return "PATCH", w.pull(""), `{"base":"other"}`
		}, "merge_failed RETARGETED"},
	}, func(t *testing.T, name string, c row) {
		who := "octo"
		if name == "changes requested" { // nobody requests changes of themselves
			who = "bob"
		}
		w := whileTested(t, who, c.call)
		before := w.at("main")
		rep := w.command("carol", "/mergexo merge")
		require.Len(t, w.merges(), 1)
		if c.ends != "" {
			assert.Equal(t, c.ends, w.merges()[0], rep.Reason)
		}
		assert.NotEqual(t, "done", w.merges()[0])
		assert.Equal(t, before, w.at("main"))
		assert.NotEqual(t, "merged", w.badge())
		assert.Empty(t, w.stages())
	})
}
