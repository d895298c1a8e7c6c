package merge_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestHowAPullRequestIsMerged(t *testing.T) {
	t.Parallel()
	entities := []string{"entities/**"}
	type row struct {
		branch, asked string
		fork          bool
		facts         model.MergeFacts
		want          merge.Way
		problem       string
	}
	must.Each(t, map[string]row{
		"by default":                 {branch: "agent/x", want: merge.Way{Strategy: "rebase", Why: "default"}},
		"by a rule":                  {branch: "gh-pr-8", want: merge.Way{Strategy: "no-ff", Why: `the settings' rule for "gh-pr-*"`, BaseWins: entities}},
		"by a rule of its directory": {branch: "gh-pr-8/fix/it", want: merge.Way{Strategy: "no-ff", Why: `the settings' rule for "gh-pr-*"`, BaseWins: entities}},
		"by no rule of a part":       {branch: "a/gh-pr-8", want: merge.Way{Strategy: "rebase", Why: "default"}},
		"by no rule for one level":   {branch: "reweave/a/b", want: merge.Way{Strategy: "rebase", Why: "default"}},
		"past a rule that is off":    {branch: "old/x", want: merge.Way{Strategy: "rebase", Why: "default"}},
		"by the command":             {branch: "agent/x", asked: "squash", want: merge.Way{Strategy: "squash", Why: "the command"}},
		"by the command, as ruled":   {branch: "gh-pr-8/fix", asked: "rebase", want: merge.Way{Strategy: "rebase", Why: "the command", BaseWins: entities}},
		"what is off by the command": {branch: "old/x", asked: "squash", problem: `strategy "squash" is disabled for branch "old/x": the settings' rule for "old/*" is not enabled`},
		"what is off elsewhere":      {branch: "agent/x", asked: "squash", want: merge.Way{Strategy: "squash", Why: "the command"}},
		"the default by the command": {branch: "old/x", asked: "rebase", want: merge.Way{Strategy: "rebase", Why: "the command"}},
		"of a fork":                  {branch: "x", fork: true, want: merge.Way{Strategy: "no-ff", Why: `the settings' rule for "gh-pr-*"`, BaseWins: entities}},
		"of a fork by a rule":        {branch: "gh-pr-8", fork: true, want: merge.Way{Strategy: "no-ff", Why: `the settings' rule for "gh-pr-*"`, BaseWins: entities}},
		"rebase of a fork": {branch: "x", fork: true, asked: "rebase",
			problem: "strategy rebase moves the head branch, which is in a fork; strategy=no-ff leaves it as it is"},
		"squash of a fork that maintainers may push to": {branch: "x", fork: true, asked: "squash",
			problem: "strategy squash moves the head branch, which is in a fork; strategy=no-ff leaves it as it is"},
		"cherry-pick of a fork that is gone":     {branch: "x", fork: true, asked: "cherry-pick", want: merge.Way{Strategy: "cherry-pick", Why: "the command", BaseWins: entities}},
		"cherry-pick of a fork's default branch": {branch: "main", fork: true, asked: "cherry-pick", facts: model.MergeFacts{DefaultHead: true}, want: merge.Way{Strategy: "cherry-pick", Why: "the command", BaseWins: entities}},
		"of a default branch":                    {branch: "x", facts: model.MergeFacts{DefaultHead: true}, want: merge.Way{Strategy: "no-ff", Why: "the default for this head branch: it is the default branch of its repository", Fixed: "it is the default branch of its repository"}},
		"of a branch with another pull request":  {branch: "x", facts: model.MergeFacts{Users: []int{9, 8}}, want: merge.Way{Strategy: "no-ff", Why: "the default for this head branch: pull request 9 uses it too", Fixed: "pull request 9 uses it too"}},
		"union with another pull request":        {branch: "reweave/x", facts: model.MergeFacts{Users: []int{9}}, want: merge.Way{Strategy: "frontmatter-union", Why: `the settings' rule for "reweave/*"`, UnionFields: []string{"tags"}}},
		"cherry-pick of a default branch": {branch: "x", asked: "cherry-pick", facts: model.MergeFacts{DefaultHead: true},
			problem: "strategy cherry-pick moves the head branch, but it is the default branch of its repository; strategy=no-ff leaves it as it is"},
		"rebase with another pull request": {branch: "x", asked: "rebase", facts: model.MergeFacts{Users: []int{9}},
			problem: "strategy rebase moves the head branch, but pull request 9 uses it too; strategy=no-ff leaves it as it is"},
		"api of a fork": {branch: "x", fork: true, asked: "api", want: merge.Way{Strategy: "api", Why: "the command", BaseWins: entities}},
		"unknown":       {branch: "x", asked: "yolo", problem: `strategy "yolo" is unknown; use one of rebase, squash, no-ff, cherry-pick, frontmatter-union, api, github-queue`},
		"union":         {branch: "reweave/x", want: merge.Way{Strategy: "frontmatter-union", Why: `the settings' rule for "reweave/*"`, UnionFields: []string{"tags"}}},
		"union without fields": {branch: "x", asked: "frontmatter-union",
			problem: `strategy frontmatter-union needs a rule for branch "x" that names union_fields`},
		"linear history": {branch: "gh-pr-8", facts: model.MergeFacts{LinearHistory: true},
			problem: `strategy no-ff makes a merge commit, but the rules of branch "main" require a linear history; use strategy=api`},
		"linear history and union": {branch: "reweave/x", facts: model.MergeFacts{LinearHistory: true},
			problem: `strategy frontmatter-union makes a merge commit, but the rules of branch "main" require a linear history; use strategy=api`},
		"linear history that GitHub cannot make": {branch: "x", asked: "api", facts: model.MergeFacts{LinearHistory: true, Methods: []string{"merge"}},
			problem: `the rules of branch "main" accept none of the ways to merge that the repository allows: merge`},
		"signatures that GitHub cannot make": {branch: "x", asked: "api", facts: model.MergeFacts{Demands: signedOnly, Methods: []string{"rebase"}},
			problem: `the rules of branch "main" accept none of the ways to merge that the repository allows: rebase`},
		"another way than the ruleset allows": {branch: "x", asked: "api", facts: model.MergeFacts{Demands: squashOnly, Methods: []string{"merge", "rebase"}},
			problem: `the rules of branch "main" accept none of the ways to merge that the repository allows: merge, rebase`},
		"signatures that GitHub can make": {branch: "x", asked: "api", facts: model.MergeFacts{Demands: signedOnly, Methods: []string{"rebase", "squash"}}, want: merge.Way{Strategy: "api", Why: "the command"}},
		"no-ff by default, into a linear history": {branch: "x", facts: model.MergeFacts{Users: []int{9}, LinearHistory: true},
			problem: `strategy no-ff makes a merge commit, but the rules of branch "main" require a linear history; use strategy=api (no-ff leaves the head branch as it is: pull request 9 uses it too)`},
		"squash of a branch that was a base": {branch: "x", asked: "squash", facts: model.MergeFacts{Past: 3},
			problem: "strategy squash moves the head branch, but pull request 3 was based on it; strategy=no-ff leaves it as it is"},
		"linear history that GitHub can make": {branch: "x", asked: "api", facts: model.MergeFacts{LinearHistory: true, Methods: []string{"merge", "squash"}}, want: merge.Way{Strategy: "api", Why: "the command"}},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		p := pull()
		p.HeadRef, p.CrossRepo = tt.branch, tt.fork
		way, err := merge.Choose(ready().Policy, p, tt.facts, tt.asked)
		if tt.problem == "" {
			require.NoError(t, err)
			assert.Equal(t, tt.want, way)
			return
		}
		var refusal *merge.Refusal
		require.True(t, errors.As(err, &refusal))
		assert.Equal(t, model.CodeStrategy, refusal.Code)
		assert.Equal(t, tt.problem, refusal.Text)
		assert.Zero(t, way)
	})
}

// One line of the settings brings back what there was before forks were merged: their commits are picked.
func TestARuleForMirrorsThatIsOffPicksTheCommitsOfForks(t *testing.T) {
	t.Parallel()
	picked := merge.Way{Strategy: "cherry-pick", Why: `the settings' rule for "gh-pr-*": it is not enabled, so a fork's commits are cherry-picked`}
	merged := merge.Way{Strategy: "no-ff", Why: "the default for a fork: its commits stay as they are"}
	for name, tt := range map[string]struct {
		rules  []merge.Rule
		branch string
		ours   bool
		want   merge.Way
	}{
		"no rule":                       {branch: "x", want: merged},
		"off":                           {[]merge.Rule{{Branch: "gh-pr-*", Strategy: "no-ff"}}, "x", false, picked},
		"off without a strategy":        {[]merge.Rule{{Branch: "gh-pr-*"}}, "x", false, picked},
		"off, of a branch with slashes": {[]merge.Rule{{Branch: "gh-pr-*"}}, "a/b/c", false, picked},
		"off, the mirror":               {[]merge.Rule{{Branch: "gh-pr-*"}}, "gh-pr-7/x", false, picked},
		"another one is on":             {[]merge.Rule{{Branch: "gh-pr-*"}, {Branch: "gh-pr-7", Strategy: "api", Enabled: true}}, "x", false, merge.Way{Strategy: "api", Why: `the settings' rule for "gh-pr-7"`}},
		"off for another number":        {[]merge.Rule{{Branch: "gh-pr-8"}}, "x", false, merged},
		"off for all branches":          {[]merge.Rule{{Branch: "**", Strategy: "no-ff"}}, "x", false, merged},
		"picking is what is off":        {[]merge.Rule{{Branch: "gh-pr-*", Strategy: "cherry-pick"}}, "x", false, merged},
		"a branch of ours":              {[]merge.Rule{{Branch: "gh-pr-*"}}, "gh-pr-7/x", true, merge.Way{Strategy: "rebase", Why: "default"}},
		"on, and picking":               {[]merge.Rule{{Branch: "gh-pr-*", Strategy: "cherry-pick", Enabled: true}}, "x", false, merge.Way{Strategy: "cherry-pick", Why: `the settings' rule for "gh-pr-*"`}},
	} {
		p := pull()
		p.HeadRef, p.CrossRepo = tt.branch, !tt.ours
		way := must.Get(merge.Choose(merge.Policy{Strategy: "rebase", Rules: tt.rules}, p, model.MergeFacts{}, ""))(t, name)
		assert.Equal(t, tt.want, way, name)
	}
	for _, off := range []merge.Rule{{Branch: "gh-pr-*"}, {Branch: "gh-pr-*", Strategy: "no-ff"}} {
		p := pull()
		p.CrossRepo = true
		_, err := merge.Choose(merge.Policy{Strategy: "rebase", Rules: []merge.Rule{off}}, p, model.MergeFacts{}, "no-ff")
		require.ErrorContains(t, err, "is disabled for branch", "a command does not undo it")
	}
}

// A default that leaves the head branch as it is stays the default for one that must not be moved.
func TestADefaultThatMovesNoHeadIsForAllHeads(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]string{"rebase": "no-ff", "squash": "no-ff", "cherry-pick": "no-ff", "no-ff": "no-ff", "api": "api", "github-queue": "github-queue"} {
		for _, facts := range []model.MergeFacts{{Past: 3}, {Users: []int{9}}, {DefaultHead: true}, {HeadDemands: signedOnly}} {
			way := must.Get(merge.Choose(merge.Policy{Strategy: strategy}, pull(), facts, ""))(t, strategy)
			assert.Equal(t, want, way.Strategy, strategy)
			assert.Equal(t, strategy != want, way.Fixed != "", strategy)
		}
	}
}

func TestWhatIsOffIsToBeHadFromElsewhere(t *testing.T) {
	t.Parallel()
	off := merge.Rule{Branch: "agent/*", Strategy: "squash"}
	for name, p := range map[string]merge.Policy{
		"the default":  {Strategy: "squash", Rules: []merge.Rule{off}},
		"another rule": {Strategy: "rebase", Rules: []merge.Rule{off, {Branch: "agent/**", Strategy: "squash", Enabled: true}}},
	} {
		assert.Equal(t, "squash", must.Get(merge.Choose(p, pull(), model.MergeFacts{}, "squash"))(t, name).Strategy, name)
	}
	_, err := merge.Choose(merge.Policy{Strategy: "rebase", Rules: []merge.Rule{off}}, pull(), model.MergeFacts{}, "squash")
	require.ErrorContains(t, err, "is disabled for branch")
}

func TestTheFirstRuleThatMatchesWins(t *testing.T) {
	t.Parallel()
	p := pull()
	p.HeadRef = "a/b"
	rules := []merge.Rule{{Branch: "a/*", Strategy: "squash"}, {Branch: "a/**", Strategy: "cherry-pick", Enabled: true}, {Branch: "*/b", Strategy: "api", Enabled: true}}
	assert.Equal(t, "cherry-pick", must.Get(merge.Choose(merge.Policy{Strategy: "rebase", Rules: rules}, p, model.MergeFacts{}, ""))(t).Strategy)
}

func TestHowAMirrorIsMerged(t *testing.T) {
	t.Parallel()
	type row struct {
		rules         []merge.Rule
		asked, tip    string
		facts         model.MergeFacts
		want, problem string
	}
	must.Each(t, map[string]row{
		"by default":               {want: "no-ff"},
		"of a fork's main":         {facts: model.MergeFacts{DefaultHead: true, Users: []int{9}}, want: "no-ff"},
		"past a rule for the head": {rules: []merge.Rule{{Branch: "fix", Strategy: "cherry-pick", Enabled: true}}, want: "no-ff"},
		"past a rule that is off":  {rules: []merge.Rule{{Branch: "gh-pr-*", Strategy: "api"}}, want: "cherry-pick"},
		"by a rule":                {rules: []merge.Rule{{Branch: "gh-pr-*", Strategy: "api", Enabled: true}}, want: "api"},
		"by the command":           {asked: "api", want: "api"},
		"by a rule that moves it": {rules: []merge.Rule{{Branch: "gh-pr-*", Strategy: "squash", Enabled: true}},
			problem: "strategy squash moves the head branch, which is in a fork; strategy=no-ff leaves it as it is"},
		"rebased":    {asked: "rebase", problem: "strategy rebase moves the head branch, which is in a fork; strategy=no-ff leaves it as it is"},
		"picked":     {asked: "cherry-pick", want: "cherry-pick"},
		"with fixes": {tip: c, want: "no-ff"},
		"with fixes, by GitHub": {tip: c, asked: "api",
			problem: `with strategy api GitHub merges only the head, without the commits on top of it on branch "gh-pr-7/fix"; strategy=no-ff merges them all`},
		"linear history": {facts: model.MergeFacts{LinearHistory: true},
			problem: `strategy no-ff makes a merge commit, but the rules of branch "main" require a linear history; use strategy=api`},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		cs := mirrored()
		cs.Policy.Strategy, cs.Policy.Rules, cs.Request.Asked = "squash", tt.rules, tt.asked
		if cs.Facts = tt.facts; tt.tip != "" {
			cs.Request.MirrorSHA = tt.tip
		}
		way, err := merge.ChooseFor(cs.Policy, cs.Snapshot.Pull, cs.Facts, cs.Request)
		assert.Equal(t, way, merge.Evaluate(cs).Way)
		if tt.problem == "" {
			require.NoError(t, err)
			assert.Equal(t, tt.want, way.Strategy)
			return
		}
		require.EqualError(t, err, tt.problem)
		assert.Zero(t, way)
	})
	way := must.Get(merge.ChooseFor(ready().Policy, pull(), model.MergeFacts{}, model.MergeMarker{Asked: "squash"}))(t)
	assert.Equal(t, merge.Way{Strategy: "squash", Why: "the command"}, way, "without a mirror it is as ever")
}
