package merge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

var squashOnly = []model.Demand{{Kind: model.DemandPull, Source: "ruleset 42", Methods: []string{"squash"}}}

var signedOnly = []model.Demand{{Kind: model.DemandSignatures, Source: "ruleset 42"}}

// What may happen to a branch follows from whose it is, who uses it, and what is written down.
func TestWhatMayHappenToABranch(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	protected := model.MergeFacts{HeadDemands: []model.Demand{{Kind: model.DemandForce, Source: "branch protection"}}}
	deletes := func(f model.MergeFacts) model.MergeFacts { f.DeletesHeads = true; return f }
	for name, tt := range map[string]struct {
		branch  string
		written *bool
		facts   model.MergeFacts
		fixed   string
		deleted bool
	}{
		"an agent's":                      {branch: "agent/x", deleted: true},
		"an agent's, deep":                {branch: "agent/small/7-x", deleted: true},
		"a mirror":                        {branch: "gh-pr-7/x", deleted: true},
		"a revert":                        {branch: "mergexo/revert-7", deleted: true},
		"somebody's":                      {branch: "feat/x"},
		"one that is called like ours":    {branch: "agents/x"},
		"somebody's, as GitHub is set":    {branch: "feat/x", facts: deletes(model.MergeFacts{}), deleted: true},
		"somebody's, as written":          {branch: "feat/x", written: &yes, deleted: true},
		"ours, as written":                {branch: "agent/x", written: &no},
		"as written, whatever GitHub has": {branch: "feat/x", written: &no, facts: deletes(model.MergeFacts{})},
		"a default branch":                {branch: "develop", written: &yes, facts: model.MergeFacts{DefaultHead: true}, fixed: "it is the default branch of its repository"},
		"of two":                          {branch: "agent/x", written: &yes, facts: deletes(model.MergeFacts{Users: []int{9}}), fixed: "pull request 9 uses it too"},
		"once a base":                     {branch: "agent/x", written: &yes, facts: deletes(model.MergeFacts{Past: 3}), fixed: "pull request 3 was based on it"},
		"protected":                       {branch: "feat/x", written: &yes, facts: protected, fixed: `branch protection of branch "feat/x" forbids force pushes`},
		"signed only":                     {branch: "feat/x", written: &yes, facts: model.MergeFacts{HeadDemands: signedOnly}, fixed: `ruleset 42 of branch "feat/x" accepts only signed commits`},
		"used by nobody knows whom":       {branch: "agent/x", facts: model.MergeFacts{Missing: []string{"users"}}},
	} {
		p := pull()
		p.HeadRef = tt.branch
		head := merge.HeadOf(merge.Policy{DeleteBranch: tt.written}, p, tt.facts)
		assert.Equal(t, tt.fixed, head.Fixed, name)
		assert.Equal(t, tt.deleted, head.Deleted, name)
		p.CrossRepo = true
		assert.Zero(t, merge.HeadOf(merge.Policy{DeleteBranch: &yes}, p, tt.facts), "%s: of a fork", name)
	}
}

// A branch that pull requests were merged into before its own was opened is one that people go on with, as develop in git-flow.
func TestWhichBranchIsOverOnceItIsMerged(t *testing.T) {
	t.Parallel()
	opened, before, after := noon, noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, tt := range map[string]struct {
		fed   time.Time
		first bool // it is the default branch
		over  bool
	}{
		"nothing was merged into it":    {over: true},
		"something was, since":          {fed: after, over: true},
		"something was, before":         {fed: before},
		"something was, in that second": {fed: opened},
		"it is the default branch":      {first: true},
	} {
		p := pull()
		p.CreatedAt = opened
		assert.Equal(t, tt.over, merge.HeadOf(merge.Policy{}, p, model.MergeFacts{Fed: tt.fed, DefaultHead: tt.first}).Passing, name)
		if tt.first {
			continue
		}
		cs := ready()
		cs.Facts.RuleKnown, cs.Facts.Below, cs.Facts.BaseFed = false, model.Merged{Number: 3, Base: "trunk", Opened: opened}, tt.fed
		v := merge.Evaluate(cs)
		assert.Equal(t, !tt.over, v.Go, name)
		if tt.over {
			assert.Equal(t, model.CodeBaseMerged, v.Code, name)
			assert.Equal(t, `branch "main" was merged into "trunk" by pull request 3, so that nothing merged into it now gets there; change the base of this pull request to "trunk"`, v.Reason, name)
			cs.Facts.RuleKnown = true
			assert.True(t, merge.Evaluate(cs).Go, "%s: it is protected", name)
		}
	}
}
