package merge_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	// Commits by their first digit.
	a, b, c, d, e = sha('a'), sha('b'), sha('c'), sha('d'), sha('e')
)

func sha(r rune) string { return strings.Repeat(string(r), 40) }

const page = "https://github.com/octo/widgets/pull/7"

// pull is a pull request at b, from branch agent/greet to main.
func pull() model.Pull {
	return model.Pull{
		Number: 7, Title: "Greet `everyone`", State: model.PullOpen, URL: page, Author: model.Actor{Login: "alice"},
		BaseRef: "main", HeadRef: "agent/greet", HeadSHA: b, HeadExists: true,
	}
}

// ready is a case in which nothing is missing.
func ready() merge.Case {
	return merge.Case{
		Snapshot: model.Snapshot{Of: model.PullNumber(7), Pull: pull(), ReadAt: noon},
		Facts: model.MergeFacts{
			BaseSHA: a, HeadSHA: b, RuleKnown: true, Methods: []string{"merge", "squash", "rebase"},
			Reviews: []model.Review{{Login: "bob", State: "APPROVED", SHA: b, At: noon, URL: page + "#pullrequestreview-1"}},
			Checks:  []model.Check{{Name: "ci", App: "github-actions", State: model.CheckPassed, URL: "https://github.com/octo/widgets/runs/1"}},
		},
		Policy: merge.Policy{
			Strategy: model.StrategyRebase, Approvals: 1, RequiredChecks: []string{"ci"}, Attempts: 3, Freeze: []string{"mergexo:freeze"}, Ignore: "agent:ignore",
			Rules: []merge.Rule{
				{Branch: "old/*", Strategy: model.StrategySquash},
				{Branch: "gh-pr-*", Strategy: model.StrategyNoFF, Enabled: true, BaseWins: []string{"entities/**"}},
				{Branch: "reweave/*", Strategy: model.StrategyUnion, Enabled: true, UnionFields: []string{"tags"}},
			},
		},
		Request: model.MergeMarker{Command: "k", By: "olga", Head: b, Base: "main"},
	}
}

// letIn makes a case one of a fork's pull request that was let in and has no approval.
func letIn(cs *merge.Case) {
	cs.Facts.Reviews, cs.Snapshot.Pull.CrossRepo, cs.Snapshot.Pull.HeadRef = nil, true, "fix"
	cs.LetIn = `accepted by octo with label "x", and the evaluation approved bbbbbbbbbb`
	cs.Request.Mirror, cs.Request.MirrorSHA, cs.Request.Label, cs.Request.By = "gh-pr-7/fix", b, "x", "octo"
}

func mirrored() merge.Case {
	cs := ready()
	letIn(&cs)
	return cs
}

func request(m model.MergeMarker) model.Posted[model.MergeMarker] {
	return model.Posted[model.MergeMarker]{Marker: m, CommentID: 50, URL: page + "#issuecomment-50"}
}

// The facts of a story: what was asked before, what the base asks for, and what else there is.
func after(all ...model.MergeMarker) func(*merge.Case) {
	return func(c *merge.Case) {
		for _, m := range all {
			c.State.Merges = append(c.State.Merges, request(m))
		}
	}
}

func demanding(d model.Demand) func(*merge.Case) {
	return func(c *merge.Case) { c.Facts.Demands = []model.Demand{d} }
}

func checked(also model.Check) func(*merge.Case) {
	return func(c *merge.Case) { c.Facts.Checks = append(c.Facts.Checks, also) }
}

func reviewed(also model.Review) func(*merge.Case) {
	return func(c *merge.Case) { c.Facts.Reviews = append(c.Facts.Reviews, also) }
}

// story is what can be missing, and what becomes of the request.
type story struct {
	change func(*merge.Case)
	gate   model.GateName // the one that decides; "": it goes
	code   model.MergeCode
	wait   bool
	says   string // part of the evidence
}

var stories = map[string]story{
	"everything is there": {func(*merge.Case) {}, "", "", false, ""},
	"merged":              {func(c *merge.Case) { c.Snapshot.Pull.State = model.PullMerged }, model.GateOpen, model.CodeClosed, false, "pull request 7 is merged"},
	"closed":              {func(c *merge.Case) { c.Snapshot.Pull.State = model.PullClosed }, model.GateOpen, model.CodeClosed, false, "pull request 7 is closed"},
	"an issue":            {func(c *merge.Case) { c.Snapshot.Of = &model.Issue{} }, model.GateOpen, model.CodeClosed, false, "not a pull request"},
	"another commit asked for": {func(c *merge.Case) { c.SHA = "ccccccc" }, merge.GateHead, model.CodeWrongHead, false,
		"the request names head ccccccc, but the head is " + b},
	"its own commit asked for": {func(c *merge.Case) { c.SHA = "bbbbbbb" }, "", "", false, ""},
	"the head moved meanwhile": {func(cs *merge.Case) { cs.Request.Head = c }, merge.GateHead, model.CodeHeadMoved, false, "requested for head " + c + ", but the head is now " + b},
	"the head is our own tip": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip = c, b
		cs.Facts.Reviews[0].SHA = c
	}, "", "", false, ""},
	"our own tip, and its origin asked for": {func(cs *merge.Case) {
		cs.SHA, cs.Request.Head, cs.Request.Was, cs.Request.Tip = "ccccccc", c, []string{b}, d
		cs.Facts.Reviews[0].SHA = c
	}, "", "", false, ""},
	"no base":                 {func(c *merge.Case) { c.Facts.BaseSHA = "" }, merge.GateBase, model.CodeBaseMissing, false, `branch "main" does not exist`},
	"an unknown strategy":     {func(c *merge.Case) { c.Request.Asked = "yolo" }, merge.GateStrategy, model.CodeStrategy, false, "use one of rebase, squash, no-ff"},
	"the head branch is gone": {func(c *merge.Case) { c.Snapshot.Pull.HeadExists = false }, merge.GateBranch, model.CodeBranchMissing, false, "restore it"},
	"gone, and picked from a fork": {func(c *merge.Case) {
		c.Snapshot.Pull.HeadExists, c.Snapshot.Pull.CrossRepo, c.Request.Asked = false, true, "cherry-pick"
	}, "", "", false, ""},
	"gone, and picked from here": {func(c *merge.Case) {
		c.Snapshot.Pull.HeadExists, c.Request.Asked = false, "cherry-pick"
	}, merge.GateBranch, model.CodeBranchMissing, false, "restore it"},
	"gone, and not needed":               {func(c *merge.Case) { c.Snapshot.Pull.HeadExists, c.Request.Asked = false, "no-ff" }, "", "", false, ""},
	"workflows, new commits":             {func(c *merge.Case) { withWorkflow(c); c.Request.Asked = "squash" }, merge.GatePushable, model.CodeForbidden, false, "it changes .github/workflows/ci.yml, and MergeXO's token may not push changes of workflows"},
	"pushes are refused":                 {func(c *merge.Case) { c.Facts.PushRefused = true }, merge.GatePushable, model.CodeProtected, false, "add MergeXO to those who may push, since GitHub's own merge needs that, too"},
	"the base takes pull requests only":  {demanding(model.Demand{Kind: model.DemandPull, Source: "branch protection"}), merge.GatePushable, model.CodeProtected, false, `branch protection of branch "main" accepts changes only by pull request; strategy=api lets GitHub merge instead`},
	"a ruleset takes pull requests only": {demanding(model.Demand{Kind: model.DemandPull, Source: "ruleset 42", Bypass: true}), merge.GatePushable, model.CodeProtected, false, `ruleset 42 of branch "main" accepts changes only by pull request; strategy=api lets GitHub merge instead, or let MergeXO's App bypass the ruleset`},
	"GitHub merges what it takes by pull request only": {func(c *merge.Case) {
		c.Facts.Demands, c.Request.Asked = []model.Demand{{Kind: model.DemandPull, Source: "ruleset 42"}, {Kind: model.DemandChecks, Names: []string{"ci"}}}, "api"
	}, "", "", false, ""},
	"the base has a merge queue": {demanding(model.Demand{Kind: model.DemandQueue, Source: "ruleset 42"}), merge.GatePushable, model.CodeProtected, false, "strategy=github-queue uses it"},
	"there is no merge queue": {func(c *merge.Case) {
		c.Request.Asked, c.Queue = "github-queue", &model.QueueView{}
	}, merge.GateStrategy, model.CodeStrategy, false, `branch "main" has no merge queue`},
	"the workflow's own token starts nothing in the merge queue": {func(c *merge.Case) {
		c.Request.Asked, c.Queue, c.Snapshot.Viewer.Login = "github-queue", &model.QueueView{Enabled: true}, "github-actions[bot]"
	}, merge.GateStrategy, model.CodeStrategy, false, "give MergeXO the token of a GitHub App"},
	"the base asks for checks, which the head has": {demanding(model.Demand{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"ci"}}), "", "", false, ""},
	"the base asks for checks, which a merge commit has not": {func(c *merge.Case) {
		c.Facts.Demands, c.Request.Asked = []model.Demand{{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"ci"}}}, "no-ff"
		c.Policy.Verify = "local"
	}, merge.GatePushable, model.CodeProtected, false, `ruleset 42 of branch "main" accepts only commits that have passed ci, and strategy no-ff would push a merge commit, which is not the head`},
	"the train has checked what the base asks for": {func(c *merge.Case) {
		c.Facts.Demands, c.Request.Asked = []model.Demand{{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"ci"}}}, "no-ff"
	}, "", "", false, ""},
	"a try needs no approval": {func(c *merge.Case) {
		c.Request.Train, c.Facts.Reviews = &model.TrainWish{Try: true}, nil
	}, "", "", false, ""},
	"a try of a fork's pull request needs an approval, since CI has secrets there": {func(c *merge.Case) {
		c.Snapshot.Pull.CrossRepo, c.Request.Train, c.Facts.Reviews = true, &model.TrainWish{Try: true}, nil
	}, merge.GateApproved, model.CodeApproval, true, "waiting for 1 approval"},
	"an approved try of a fork's pull request": {func(c *merge.Case) {
		c.Snapshot.Pull.CrossRepo, c.Request.Train = true, &model.TrainWish{Try: true}
	}, "", "", false, ""},
	"a ruleset asks for a check that nothing has reported": {demanding(model.Demand{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"lint"}}), merge.GateChecks, model.CodeChecks, true, "waiting for the check `lint` (not reported yet)"},
	"our own tip lacks what the base asks of it": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip, cs.Facts.Checks = c, b, nil
		cs.Facts.Reviews[0].SHA = c
		cs.Facts.Demands = []model.Demand{{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"ci"}}}
		cs.Policy.Verify = "local"
	}, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci` (not reported yet)"},
	"a ruleset takes no merge commits": {func(c *merge.Case) {
		c.Facts.Demands, c.Request.Asked = []model.Demand{{Kind: model.DemandLinear, Source: "ruleset 42"}}, "no-ff"
	}, merge.GateStrategy, model.CodeStrategy, false, "require a linear history"},
	"workflows, GitHub merges":       {func(c *merge.Case) { withWorkflow(c); c.Request.Asked = "api" }, merge.GatePushable, model.CodeForbidden, false, "it changes .github/workflows/ci.yml, and MergeXO's token may not push changes of workflows"},
	"workflows, the head as it is":   {func(c *merge.Case) { withWorkflow(c); c.Request.Asked = "rebase" }, "", "", false, ""},
	"workflows, a merge commit":      {func(c *merge.Case) { withWorkflow(c); c.Request.Asked = "no-ff" }, "", "", false, ""},
	"workflows, a token that may":    {func(c *merge.Case) { withWorkflow(c); c.Facts.NoWorkflows, c.Request.Asked = false, "squash" }, "", "", false, ""},
	"GitHub pushes itself":           {func(c *merge.Case) { c.Facts.PushRefused, c.Request.Asked = true, "api" }, "", "", false, ""},
	"nobody tells the rules":         {func(c *merge.Case) { c.Facts.RuleKnown = false }, "", "", false, ""},
	"a merge is under way":           {after(model.MergeMarker{Command: "other", By: "oskar", State: model.MergeRunning}), merge.GateAlone, model.CodeBusy, false, "requested by oskar, see " + page},
	"it is under way itself":         {after(model.MergeMarker{Command: "k", State: model.MergeRunning}), "", "", false, ""},
	"another one waits":              {after(model.MergeMarker{Command: "other", State: model.MergeWaiting}), "", "", false, ""},
	"an older one has died":          {after(model.MergeMarker{Command: "other", State: model.MergeRunning, Lease: model.Lease{Expires: noon}}, model.MergeMarker{Command: "k", State: model.MergeWaiting}), "", "", false, ""},
	"an older one has not died":      {after(model.MergeMarker{Command: "other", State: model.MergeRunning, Lease: model.Lease{Expires: noon.Add(time.Second)}}, model.MergeMarker{Command: "k", State: model.MergeWaiting}), merge.GateAlone, model.CodeBusy, false, "already in progress"},
	"what a group left has died":     {after(model.MergeMarker{Command: "other", State: model.MergeRunning, Leader: "octo/api#3", Lease: model.Lease{Expires: noon}}), "", "", false, ""},
	"what a group left has not died": {after(model.MergeMarker{Command: "other", By: "oskar", State: model.MergeRunning, Leader: "octo/api#3", Lease: model.Lease{Expires: noon.Add(time.Second)}}), merge.GateAlone, model.CodeBusy, false, "requested by oskar"},
	"the newest has died":            {after(model.MergeMarker{Command: "other", By: "oskar", State: model.MergeRunning, Lease: model.Lease{Expires: noon}}), merge.GateAlone, model.CodeBusy, false, "requested by oskar"},
	"no attempt is left":             {after(model.MergeMarker{Command: "other", State: model.MergeFailed, Head: b, BaseSHA: a, Attempt: 3}), merge.GateAttempts, model.CodeAttempts, false, "3 of 3 attempts made on this head and this tip of branch \"main\". The last one: its run was cancelled, killed, or timed out, see " + page},
	"the last attempt told why": {func(c *merge.Case) {
		c.State.Merges = append(c.State.Merges,
			request(model.MergeMarker{Command: "old", State: model.MergeFailed, Head: b, BaseSHA: a, Attempt: 2, Cause: "not this"}),
			request(model.MergeMarker{Command: "k", State: model.MergeWaiting, Reason: model.CodeChecks, Head: b, BaseSHA: a, Attempt: 3, Cause: merge.Cause(model.CodeRejected, "the hook says no.\nand more")}))
	}, merge.GateAttempts, model.CodeAttempts, false, "The last one: PUSH_REJECTED: the hook says no, see " + page},
	"the last attempt told why in another way": {after(model.MergeMarker{Command: "k", State: model.MergeFailed, Reason: model.CodeTests, Head: b, BaseSHA: a, Attempt: 3}), merge.GateAttempts, model.CodeAttempts, false, "The last one: PRE_MERGE_FAILED, see " + page},
	"the last attempt is this one": {func(c *merge.Case) {
		c.State.Merges = append(c.State.Merges, request(model.MergeMarker{Command: "k", State: model.MergeRunning, Head: b, BaseSHA: a, Attempt: 3}))
		c.Begun = true
	}, "", "", false, ""},
	"one more than the last": {func(c *merge.Case) {
		c.State.Merges = append(c.State.Merges, request(model.MergeMarker{Command: "k", State: model.MergeRunning, Head: b, BaseSHA: a, Attempt: 4}))
		c.Begun = true
	}, merge.GateAttempts, model.CodeAttempts, false, "attempts made"},
	"attempts on another base": {after(model.MergeMarker{Command: "other", State: model.MergeFailed, Head: b, BaseSHA: c, Attempt: 3}), "", "", false, ""},
	"blocked": {func(c *merge.Case) {
		c.State.Block = &model.Posted[model.BlockMarker]{Marker: model.BlockMarker{Reason: "history_rewrite"}, URL: page}
	}, model.GateBlock, model.CodeBlocked, true, "blocked (history_rewrite)"},
	"paused": {func(c *merge.Case) {
		c.State.Paused = &model.Posted[model.CommandMarker]{Marker: model.CommandMarker{By: "olga"}, URL: page}
	}, model.GatePaused, model.CodeBlocked, true, "paused by olga"},
	"taken over":              {func(c *merge.Case) { c.Snapshot.Pull.Labels = []string{"Agent:Ignore"} }, model.GateTaken, model.CodeBlocked, true, "on the pull request"},
	"taken over on its issue": {func(c *merge.Case) { c.Snapshot.Pull.Issue = &model.Issue{Number: 3, Labels: []string{"agent:ignore"}} }, model.GateTaken, model.CodeBlocked, true, "source issue 3"},
	"a draft":                 {func(c *merge.Case) { c.Snapshot.Pull.Draft = true }, merge.GateDraft, model.CodeDraft, true, "draft"},
	"frozen":                  {func(c *merge.Case) { c.Snapshot.Pull.Labels = []string{"MergeXO:freeze"} }, merge.GateFrozen, model.CodeFrozen, true, `label "mergexo:freeze"`},
	"a turn is at work": {func(c *merge.Case) {
		c.Busy = &model.Posted[model.TurnMarker]{Marker: model.TurnMarker{Lease: model.Lease{Expires: noon}}, URL: page}
	}, merge.GateIdle, model.CodeBusy, true, "by 2026-01-02 12:00 UTC"},
	"it conflicts":          {func(c *merge.Case) { c.Facts.Conflicting = true }, merge.GateMergeable, model.CodeConflict, true, "conflicts with"},
	"a rule may settle it":  {func(c *merge.Case) { c.Facts.Conflicting, c.Snapshot.Pull.HeadRef = true, "gh-pr-8/fix" }, "", "", false, ""},
	"a union may settle it": {func(c *merge.Case) { c.Facts.Conflicting, c.Snapshot.Pull.HeadRef = true, "reweave/x" }, "", "", false, ""},
	"GitHub cannot settle it": {func(c *merge.Case) {
		c.Facts.Conflicting, c.Snapshot.Pull.HeadRef, c.Request.Asked = true, "gh-pr-8/fix", "api"
	}, merge.GateMergeable, model.CodeConflict, true, "conflicts with"},
	"no approval":            {func(c *merge.Case) { c.Facts.Reviews = nil }, merge.GateApproved, model.CodeApproval, true, "waiting for 1 approval from somebody with write access other than the author"},
	"none is needed":         {func(c *merge.Case) { c.Facts.Reviews, c.Policy.Approvals = nil, 0 }, "", "", false, ""},
	"let in":                 {letIn, "", "", false, ""},
	"let in by nothing":      {func(c *merge.Case) { letIn(c); c.LetIn = "" }, merge.GateApproved, model.CodeApproval, true, "waiting for 1 approval"},
	"let in, and pushed to":  {func(cs *merge.Case) { letIn(cs); cs.Snapshot.Pull.HeadSHA = c }, merge.GateHead, model.CodeHeadMoved, false, "but the head is now " + c},
	"let in, and retargeted": {func(cs *merge.Case) { letIn(cs); cs.Snapshot.Pull.BaseRef = "x" }, merge.GateTarget, model.CodeRetargeted, false, `the base is now "x"`},
	"let in, and the rules":  {func(c *merge.Case) { letIn(c); c.Facts.RequiredApprovals = 1 }, merge.GateApproved, model.CodeApproval, true, "waiting for 1 approval"},
	"let in, and refused": {func(c *merge.Case) {
		letIn(c)
		c.Facts.Reviews = []model.Review{{Login: "bob", State: "CHANGES_REQUESTED"}}
	}, merge.GateChanges, model.CodeChanges, true, "requested by bob"},
	"let in, and the fork is gone": {func(c *merge.Case) { letIn(c); c.Snapshot.Pull.HeadExists = false }, "", "", false, ""},
	"the rules want more":          {func(c *merge.Case) { c.Facts.RequiredApprovals = 2 }, merge.GateApproved, model.CodeApproval, true, "waiting for 1 more approval from somebody with write access other than the author; approved by bob"},
	"the author's own approval":    {func(c *merge.Case) { c.Facts.Reviews[0].Login = "Alice" }, merge.GateApproved, model.CodeApproval, true, "other than the author"},
	"a dismissed approval":         {func(c *merge.Case) { c.Facts.Reviews[0].State = "DISMISSED" }, merge.GateApproved, model.CodeApproval, true, "waiting for 1 approval"},
	"one person counts once": {func(c *merge.Case) {
		c.Policy.Approvals, c.Facts.Reviews = 2, append(c.Facts.Reviews, model.Review{Login: "BOB", State: "APPROVED", SHA: b, At: noon})
	}, merge.GateApproved, model.CodeApproval, true, "waiting for 1 more approval"},
	"a stale approval":       {func(cs *merge.Case) { cs.Facts.Reviews[0].SHA = c }, merge.GateApproved, model.CodeStale, true, "bob approved cccccccccc, but the change is no longer the same"},
	"of a head nobody knows": {func(c *merge.Case) { c.Facts.Reviews[0].SHA, c.Unchanged = "", map[string]bool{"": true} }, merge.GateApproved, model.CodeStale, true, "bob approved an earlier head"},
	"stale, and unchanged":   {func(cs *merge.Case) { cs.Facts.Reviews[0].SHA, cs.Unchanged = c, map[string]bool{c: true} }, "", "", false, ""},
	"stale, and changed":     {func(cs *merge.Case) { cs.Facts.Reviews[0].SHA, cs.Unchanged = c, map[string]bool{c: false} }, merge.GateApproved, model.CodeStale, true, "the change is no longer the same"},
	"moved by us": {func(cs *merge.Case) {
		cs.Facts.Reviews[0].SHA = d
		cs.Request.Head, cs.Request.Was, cs.Request.Tip = d, []string{c}, b
	}, "", "", false, ""},
	"moved by us for earlier requests": {func(cs *merge.Case) { // perhaps to commits that hold more than was approved
		cs.Facts.Reviews[0].SHA = d
		cs.State.Merges = append(cs.State.Merges, request(model.MergeMarker{Command: "1", State: model.MergeFailed, Head: d, Was: []string{c}, Tip: e}), request(model.MergeMarker{Command: "2", State: model.MergeFailed, Head: c, Tip: b}))
	}, merge.GateApproved, model.CodeStale, true, "bob approved dddddddddd"},
	"moved by us from another head": {func(cs *merge.Case) {
		cs.Facts.Reviews[0].SHA = d
		cs.State.Merges = append(cs.State.Merges, request(model.MergeMarker{Command: "1", State: model.MergeFailed, Head: c, Tip: b}))
	}, merge.GateApproved, model.CodeStale, true, "bob approved dddddddddd"},
	"changes are requested":         {reviewed(model.Review{Login: "carol", State: "CHANGES_REQUESTED", SHA: c, URL: page + "#r"}), merge.GateChanges, model.CodeChanges, true, "changes are requested by carol (" + page + "#r)"},
	"changes were requested before": {reviewed(model.Review{Login: "bob", State: "CHANGES_REQUESTED", SHA: b, At: noon.Add(-time.Hour)}), "", "", false, ""},
	"changes are requested since":   {reviewed(model.Review{Login: "bob", State: "CHANGES_REQUESTED", SHA: b, At: noon.Add(time.Hour)}), merge.GateChanges, model.CodeChanges, true, "by bob"},
	"not all reviews":               {func(c *merge.Case) { c.Facts.Partial = true }, merge.GateChanges, model.CodeChanges, true, "only part of the reviews"},
	"not all reviews, named": {func(c *merge.Case) {
		c.Facts.Partial, c.Facts.Missing = true, []string{"rule", "reviews"}
	}, merge.GateChanges, model.CodeChanges, true, "only part of the reviews"},
	"not all checks": {func(c *merge.Case) { c.Facts.Partial, c.Facts.Missing = true, []string{"checks"} }, merge.GateChecks, model.CodeChecks, true, "only part of the checks"},
	"not all checks, and none wanted": {func(c *merge.Case) {
		c.Facts.Partial, c.Facts.Missing, c.Policy.RequiredChecks = true, []string{"checks"}, nil
	}, merge.GateChecks, model.CodeChecks, true, "only part of the checks"},
	"checks that are hidden from the token": {func(c *merge.Case) {
		c.Facts.Checks, c.Facts.Partial, c.Facts.Missing = nil, true, []string{"checks"}
		c.Facts.ChecksHidden = model.Hidden{Why: "it may not", Fix: "let it"}
	}, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci` (MergeXO cannot see it); it may not, so waiting does not help: let it, then repeat the command"},
	"hidden checks, and none wanted": {func(c *merge.Case) {
		c.Facts.Partial, c.Facts.Missing, c.Policy.RequiredChecks = true, []string{"checks"}, nil
		c.Facts.ChecksHidden = model.Hidden{Why: "it may not", Fix: "let it"}
	}, merge.GateChecks, model.CodeChecks, true, "MergeXO cannot read the checks: it may not, so waiting does not help: let it, then repeat the command"},
	"hidden checks, and a status that is wanted has failed": {func(c *merge.Case) {
		c.Facts.Partial, c.Facts.Missing, c.Facts.Checks[0].State = true, []string{"checks"}, model.CheckFailed
		c.Facts.ChecksHidden = model.Hidden{Why: "it may not", Fix: "let it"}
	}, merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"something else is missing": {func(c *merge.Case) { c.Facts.Partial, c.Facts.Missing = true, []string{"rule", "users"} }, "", "", false, ""},
	"checks of another head":    {func(cs *merge.Case) { cs.Facts.HeadSHA = c }, merge.GateChecks, model.CodeChecks, true, "GitHub reports the checks of cccccccccc, but the head is bbbbbbbbbb"},
	"no check has reported on our own tip": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip, cs.Facts.Checks = c, b, nil
		cs.Facts.Reviews[0].SHA = c
	}, "", "", false, ""},
	"a check failed on our own tip": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip = c, b
		cs.Facts.Reviews[0].SHA, cs.Facts.Checks[0].State = c, model.CheckFailed
	}, merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"not all checks of our own tip": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip, cs.Facts.Checks = c, b, nil
		cs.Facts.Reviews[0].SHA, cs.Facts.Partial, cs.Facts.Missing = c, true, []string{"checks"}
	}, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci`"},
	"GitHub is ahead of what was read": {func(cs *merge.Case) {
		cs.Request.Tip, cs.Facts.HeadSHA, cs.Facts.Checks = d, d, nil
	}, "", "", false, ""},
	"GitHub lags behind our own tip": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip, cs.Facts.HeadSHA = c, b, c
		cs.Facts.Reviews[0].SHA = c
	}, "", "", false, ""},
	"GitHub lags, and a check is run again": {func(cs *merge.Case) {
		cs.Request.Head, cs.Request.Tip, cs.Facts.HeadSHA = c, b, c
		cs.Facts.Reviews[0].SHA, cs.Facts.Checks[0].State = c, model.CheckPending
	}, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci`"},
	"a tip that is the head itself": {func(c *merge.Case) {
		c.Request.Tip, c.Facts.Checks = b, nil
	}, merge.GateChecks, model.CodeChecks, true, "not reported yet"},
	"no check on a tip of an earlier merge": {func(cs *merge.Case) {
		cs.State.MergeTips, cs.Facts.Checks = []string{b}, nil
	}, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci` (not reported yet); an earlier merge pushed the head"},
	"no check has reported": {func(c *merge.Case) { c.Facts.Checks = nil }, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci` (not reported yet)"},
	"no workflow has the check": {func(c *merge.Case) { c.Facts.Checks, c.Facts.Unproduced = nil, []string{"ci"} }, merge.GateChecks, model.CodeChecks, true,
		"waiting for the check `ci` (no workflow has a job of this name: unless another service reports it, rename the check or add the job)"},
	"it has it after all":      {func(c *merge.Case) { c.Facts.Unproduced = []string{"ci"} }, "", "", false, ""},
	"no check is wanted":       {func(c *merge.Case) { c.Facts.Checks, c.Policy.RequiredChecks = nil, nil }, "", "", false, ""},
	"a check is pending":       {func(c *merge.Case) { c.Facts.Checks[0].State = model.CheckPending }, merge.GateChecks, model.CodeChecks, true, "waiting for the check `ci` (https://github.com/octo/widgets/runs/1)"},
	"a check failed":           {func(c *merge.Case) { c.Facts.Checks[0].State = model.CheckFailed }, merge.GateChecks, model.CodeChecksFailed, true, "the check `ci` (https"},
	"a state nobody knows":     {func(c *merge.Case) { c.Facts.Checks[0].State = "" }, merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"a check of the wrong App": {func(c *merge.Case) { c.Policy.RequiredChecks = []string{"ci@circleci"} }, merge.GateChecks, model.CodeChecks, true, "`ci` (of circleci) (not reported yet)"},
	"a check of the right App": {func(c *merge.Case) { c.Policy.RequiredChecks = []string{"ci@github-actions"} }, "", "", false, ""},
	"a second source fails":    {checked(model.Check{Name: "ci", State: model.CheckFailed}), merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"a second source failed before": {func(c *merge.Case) {
		c.Facts.Checks[0].At = noon
		c.Facts.Checks = append(c.Facts.Checks, model.Check{Name: "ci", State: model.CheckFailed, At: noon.Add(-time.Minute)})
	}, merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"an older run failed": {func(c *merge.Case) {
		c.Facts.Checks[0].At = noon
		c.Facts.Checks = append(c.Facts.Checks, model.Check{Name: "ci", App: "github-actions", State: model.CheckFailed, At: noon.Add(-time.Minute)})
	}, "", "", false, ""},
	"a run of the same moment failed": {checked(model.Check{Name: "ci", App: "github-actions", State: model.CheckFailed}), merge.GateChecks, model.CodeChecksFailed, true, "the check `ci`"},
	"the rules want a check":          {func(c *merge.Case) { c.Facts.RequiredChecks = []string{"a@b"} }, merge.GateChecks, model.CodeChecks, true, "`a@b` (not reported yet)"},
	"a check says it is wanted":       {checked(model.Check{Name: "lint", State: model.CheckFailed, Required: true}), merge.GateChecks, model.CodeChecksFailed, true, "the check `lint`"},
	"a check nobody wants":            {checked(model.Check{Name: "lint", State: model.CheckFailed}), "", "", false, ""},
	"a name with an at sign": {func(c *merge.Case) {
		c.Policy.RequiredChecks = []string{"build@node@"}
		c.Facts.Checks = append(c.Facts.Checks, model.Check{Name: "build@node", State: model.CheckPassed})
	}, "", "", false, ""},
	"a name that names no App": {func(c *merge.Case) {
		c.Policy.RequiredChecks = []string{"build (ubuntu @ 24.04)"}
		c.Facts.Checks = append(c.Facts.Checks, model.Check{Name: "build (ubuntu @ 24.04)", State: model.CheckPassed})
	}, "", "", false, ""},
	"what refuses comes before what waits": {func(c *merge.Case) {
		c.Snapshot.Pull.Draft, c.Facts.BaseSHA = true, ""
	}, merge.GateBase, model.CodeBaseMissing, false, "does not exist"},
	"a conflict comes last": {func(c *merge.Case) { c.Facts.Conflicting, c.Snapshot.Pull.Draft = true, true }, merge.GateDraft, model.CodeDraft, true, "draft"},
}

func TestWhatBecomesOfARequest(t *testing.T) {
	t.Parallel()
	all := maps.Clone(stories)
	maps.Copy(all, held)
	maps.Copy(all, fourEyes)
	for name, tt := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ready()
			tt.change(&c)
			v := merge.Evaluate(c)
			assert.Equal(t, tt.gate == "", v.Go, v.Reason)
			assert.Equal(t, tt.wait, v.Wait)
			assert.Equal(t, tt.code, v.Code)
			if tt.gate == "" {
				assert.Empty(t, v.Unmet())
				return
			}
			require.NotEmpty(t, v.Unmet())
			assert.Equal(t, tt.gate, v.Unmet()[0].Name)
			assert.Equal(t, v.Unmet()[0].Evidence, v.Reason)
			assert.Contains(t, v.Reason, tt.says)
		})
	}
}

func TestWhyTellsWhatStandsForTheApprovals(t *testing.T) {
	t.Parallel()
	cs := mirrored()
	cs.Facts.Reviews = []model.Review{{Login: "bob", State: "APPROVED", SHA: b}}
	for _, g := range merge.Evaluate(cs).Gates {
		if g.Name == merge.GateApproved {
			assert.Equal(t, cs.LetIn+"; approved by bob", g.Evidence)
		}
	}
	cs.Facts.Reviews[0].SHA = c
	assert.Empty(t, merge.Stale(cs), "an older approval is not needed")
}

func TestOnlyWhatHelpsIsAskedOfGit(t *testing.T) {
	t.Parallel()
	cs := ready()
	assert.Empty(t, merge.Stale(cs), "it is approved")
	cs.Facts.Reviews[0].SHA = c
	assert.Equal(t, []string{c}, merge.Stale(cs))
	cs.Facts.Reviews = append(cs.Facts.Reviews, model.Review{Login: "carol", State: "APPROVED", SHA: c}, model.Review{Login: "dave", State: "APPROVED", SHA: d}, model.Review{Login: "erin", State: "APPROVED"})
	assert.Equal(t, []string{c, d}, merge.Stale(cs))
	cs.Unchanged = map[string]bool{c: false}
	assert.Equal(t, []string{d}, merge.Stale(cs), "what is known is not asked again")
	cs.Unchanged = map[string]bool{c: true}
	assert.Empty(t, merge.Stale(cs), "that is enough")
	cs.Unchanged, cs.Policy.Approvals = nil, 5
	assert.Empty(t, merge.Stale(cs), "it would not be enough")
	cs.Policy.Approvals, cs.Facts.Partial = 1, true
	assert.Empty(t, merge.Stale(cs), "nothing passes without all reviews")
}

func TestAttemptsAreCountedOnOneHeadAndOneBase(t *testing.T) {
	t.Parallel()
	st := model.State{Merges: []model.Posted[model.MergeMarker]{
		request(model.MergeMarker{Head: b, BaseSHA: a, Attempt: 2, Tip: d}),
		request(model.MergeMarker{Head: d, BaseSHA: a, Attempt: 1}),
		request(model.MergeMarker{Head: b, BaseSHA: c, Attempt: 7}),
	}}
	assert.Equal(t, 2, merge.Attempts(st, b, a), "the highest")
	assert.Equal(t, 2, merge.Attempts(st, d, a), "the head may be a tip that an attempt has made")
	assert.Equal(t, 7, merge.Attempts(st, b, c))
	assert.Zero(t, merge.Attempts(st, e, a))
	assert.Zero(t, merge.Attempts(st, b, e))
}

func TestWhatARunEndsWith(t *testing.T) {
	t.Parallel()
	for code, want := range map[model.MergeCode]model.Result{
		"": model.ResultDone, model.CodeCancelled: model.ResultDone, model.CodeReplaced: model.ResultDone,
		model.CodeBaseMoved: model.ResultRetry, model.CodeRejected: model.ResultRetry, model.CodeLock: model.ResultRetry, model.CodeHeadMoved: model.ResultRetry,
		model.CodeChecks: model.ResultRetry, model.CodeBusy: model.ResultRetry, model.CodeDirtyBase: model.ResultRetry,
		model.CodeApproval: model.ResultBlocked, model.CodeStale: model.ResultBlocked, model.CodeConflict: model.ResultBlocked, model.CodeTests: model.ResultBlocked,
		model.CodeProtected: model.ResultBlocked, model.CodeAttempts: model.ResultBlocked, model.CodeWrongHead: model.ResultBlocked, model.CodeLockBroken: model.ResultBlocked,
	} {
		assert.Equal(t, want, merge.Settle(code), string(code))
	}
}

func TestARequestIsApprovedWithTheLastApprovalThatItNeeds(t *testing.T) {
	cs := ready()
	assert.Equal(t, noon, merge.Evaluate(cs).Approved)
	cs.Policy.Approvals = 2
	assert.Zero(t, merge.Evaluate(cs).Approved, "one is missing")
	for i, login := range []string{"zoe", "yan"} {
		cs.Facts.Reviews = append(cs.Facts.Reviews, model.Review{Login: login, State: "APPROVED", SHA: b, At: noon.Add(time.Duration(2-i) * time.Hour)})
	}
	assert.Equal(t, noon.Add(time.Hour), merge.Evaluate(cs).Approved, "the second one, in whatever order they are read")
	cs.Policy.Approvals = 0
	assert.Zero(t, merge.Evaluate(cs).Approved, "none is needed")
}

// withWorkflow is a pull request that changes a workflow, for a token that may not.
func withWorkflow(c *merge.Case) {
	c.Facts.NoWorkflows, c.Snapshot.Pull.FilesComplete = true, true
	c.Snapshot.Pull.Files = []model.File{{Path: "a.go"}, {Path: ".github/workflows/ci.yml"}}
}
