package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMergeLandsWhatWasApproved(t *testing.T) {
	w := newMerge(t)
	head, before := w.tip(), w.at("main")
	w.lands("/mergexo merge")
	assert.Equal(t, head, w.at("main"), "it descends from the base: nothing is rewritten")
	assert.NotEqual(t, before, w.at("main"))
	assert.Empty(t, w.at("agent/greet"), "the branch is deleted")
	assert.Equal(t, []string{"done"}, w.merges())
	assert.Empty(t, w.stages(), "no lock is left")
}

func TestMergeRebasesOntoABaseThatWentOn(t *testing.T) {
	w := newMerge(t, `tests = ["true"]`)
	w.put("/_sandbox/lag", object{"heads": 0, "merges": 0}) // what is counted below goes on with each look for which GitHub is late
	w.write("octo", "main", "other.txt", "meanwhile\n")
	base, head := w.at("main"), w.tip()
	w.lands("/mergexo merge")
	landed := w.at("main")
	assert.NotEqual(t, head, landed)
	assert.Equal(t, base, w.bare("rev-parse", landed+"^"))
	assert.Equal(t, "hello\nworld\n", w.fileOf("main", "greeting.txt"))
	assert.Equal(t, "meanwhile\n", w.fileOf("main", "other.txt"))
	assert.Equal(t, []string{"done"}, w.merges())
	api, network := w.gate.counted()
	// Two of them read the rules of the base and one those of the head, before anything moves for a push that they would refuse.
	t.Logf("budget: GitHub calls, merge onto a base that went on %d of 15", api)
	t.Logf("budget: git network operations, merge onto a base that went on %d of 6", network)
	assert.LessOrEqual(t, api, 15, "%v", w.gate.seen)
	assert.LessOrEqual(t, network, 6, "%v", w.gate.seen)
}

func TestMergeWaitsForAnApproval(t *testing.T) {
	w := newWorld(t, "", "[merge]\ntests = \"none\"")
	w.becomes("dora", "read").approve("dora") // which does not count
	w.blocked("APPROVAL_MISSING", w.inVain("/mergexo merge", "in_approval APPROVAL_MISSING"))
	said := len(w.comments())
	w.done(w.endorsed("alice"))
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, []string{"done"}, w.merges())
	assert.Len(t, w.comments(), said, "one request has one comment")
}
