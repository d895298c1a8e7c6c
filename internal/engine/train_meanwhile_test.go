package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A run tests a car here and lands it then. What was said of its own pull request meanwhile counts as what is said of others does.
func TestALandingOfTheTrainLooksOnceMoreAfterItsTests(t *testing.T) {
	type row struct {
		who  string
		call func(w *world) (method, path, body string)
	}
	each(t, map[string]row{
		"approval dismissed": {"octo", func(w *world) (string, string, string) {
			review := w.list("octo", w.pull("/reviews"))[0].id()
			return "PUT", w.pull(fmt.Sprintf("/reviews/%d/dismissals", review)), `{"message":"on second thought"}`
		}},
		"frozen": {"octo", func(w *world) (string, string, string) {
			return "POST", w.path(fmt.Sprintf("/issues/%d/labels", w.number)), `{"labels":["mergexo:freeze"]}`
		}},
		"taken back": {"carol", func(w *world) (string, string, string) {
			return "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), `{"body":"/mergexo merge cancel"}`
		}},
		"paused": {"carol", func(w *world) (string, string, string) {
			return "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), `{"body":"/mergexo pause"}`
		}},
	}, func(t *testing.T, _ string, c row) {
		w := whileTested(t, c.who, c.call, `verify = "both"`)
		w.newApp()
		w.token = "sandbox-mergexo-app[bot]"
		w.number = 1
		before := w.at("main")
		rep := w.command("carol", "/mergexo merge")
		assert.Equal(t, "open", w.badge(), rep.Reason)
		assert.Equal(t, before, w.at("main"), "%s", w.request())
	})
}
