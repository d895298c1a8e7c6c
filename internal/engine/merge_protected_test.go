package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// protect has main demand something, by branch protection or by a ruleset.
func (w *world) protect(rules object) {
	w.t.Helper()
	rules["repository"], rules["branch"] = repo.String(), "main"
	w.put("/_sandbox/protection", rules)
}

// passed reports a passed check of the head, as an App does.
func (w *world) passed(name string) { w.t.Helper(); w.check(name, "success") }

// A head that was rewritten for a push which the rules of the base refuse has lost its checks for nothing.
func TestMergeThatTheRulesWouldRefuseMovesNothing(t *testing.T) {
	type row struct {
		rules         object
		order         string
		says, instead string
		api           bool // GitHub lands it by itself, whatever was asked for before
	}
	each(t, map[string]row{
		"checks, by a ruleset": {object{"checks": []string{"ci"}, "ruleset": 42}, " strategy=squash", `ruleset 42 of branch "main" accepts only commits that have passed ci`, "strategy=api", true},
		"who may push":         {object{"push": []string{"octo"}}, "", "", "add MergeXO to those who may push", false},
	}, func(t *testing.T, _ string, c row) {
		w := newMerge(t)
		w.moveOn()
		w.protect(c.rules)
		w.passed("ci")
		base, head := w.at("main"), w.tip()
		rep := w.blocked("PROTECTED", w.command("carol", "/mergexo merge"+c.order))
		assert.Contains(t, rep.Reason, c.says)
		assert.Contains(t, w.lastSaid(), c.instead)
		assert.Equal(t, c.api, strings.Contains(w.lastSaid(), "strategy=api"))
		assert.Equal(t, []string{base, head}, []string{w.at("main"), w.tip()})
		assert.Equal(t, "open", w.badge())
		assert.Empty(t, w.stages(), "no lock is left")
		if c.api {
			w.lands("/mergexo merge strategy=api")
		}
	})
}

// The head has its checks: where it lands as it is, the rules take it.
func TestMergeOfTheVeryHeadThatHasItsChecks(t *testing.T) {
	w := newMerge(t)
	w.protect(object{"checks": []string{"ci"}, "ruleset": 42})
	head := w.tip()
	w.command("carol", "/mergexo merge strategy=rebase")
	assert.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges())
	w.passed("ci")
	w.done(w.handle(w.delivery("check_run")))
	assert.Equal(t, head, w.at("main"))
	assert.Equal(t, "merged", w.badge())
}
