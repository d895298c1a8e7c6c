package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/mergexo/internal/golden"
)

// TestFirstContactsAndRefusals holds the comments that people read first, and those that tell them no.
func TestFirstContactsAndRefusals(t *testing.T) {
	line := func(w *world, text string) { w.handle(w.remark("alice", text)) }
	agent := func(settings ...string) func(t *testing.T) *world {
		return func(t *testing.T) *world { return newWorld(t, settings...) }
	}
	merging := func(settings ...string) func(t *testing.T) *world {
		return func(t *testing.T) *world { return newMerge(t, settings...) }
	}
	type row struct {
		world func(t *testing.T) *world
		does  func(w *world)
	}
	each(t, map[string]row{
		"answered":   {agent(), func(w *world) { line(w, "Answer me.") }},
		"asked":      {agent(), func(w *world) { w.agent = "stuck"; line(w, "Answer me.") }},
		"mistyped":   {agent(), func(w *world) { w.command("carol", "/mergexo mrege") }},
		"no_right":   {agent(), func(w *world) { w.command("alice", "/mergexo merge") }},
		"failed":     {agent(), func(w *world) { w.agent = "exit"; line(w, "Answer me.") }},
		"unapproved": {agent("", "[merge]\ntests = \"none\""), func(w *world) { w.command("carol", "/mergexo merge") }},
		"tests": {merging(`tests = ["sh", "-c", "echo FAIL: TestGreet; exit 1"]`), func(w *world) {
			w.command("carol", "/mergexo merge")
		}},
		"suggestion": {agent(`required_tests = ["sh", "-c", "echo FAIL: TestGreet; exit 1"]`), func(w *world) {
			w.agentSetting(`adapter = "command"`, `adapter = "suggestion"`)
			line(w, "```suggestion\nworld!\n```")
		}},
		"given_up": {agent(), func(w *world) {
			w.agent = "exit"
			ev := w.remark("alice", "Answer me.")
			for range 3 {
				w.passing(time.Minute, atWork)
				w.handle(ev)
			}
		}},
	}, func(t *testing.T, name string, c row) {
		t.Parallel()
		w := c.world(t)
		c.does(w)
		var b strings.Builder
		b.WriteString(w.said())
		for _, r := range w.replies() {
			fmt.Fprintf(&b, "== %s replies\n%s\n", r.at("user", "login"), shown(r["body"]))
		}
		golden.Text(t, "contact/"+name+".md", b.String())
	})
}
