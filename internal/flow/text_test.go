package flow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var (
	begun = strings.Repeat("a", 40)
	done  = strings.Repeat("b", 40)
	work  = model.Kept{Branch: "agent/bugfix/3-say-hello", SHA: done}

	bundle = model.Kept{SHA: done, Bundle: "/home/runner/work/_temp/mergexo-checkpoint-3-bbbbbbbbbbbb.bundle"}
)

// marker is that of an attempt at a bug fix.
func marker() model.IssueMarker {
	m := model.IssueMarker{Flow: model.FlowBugfix, Branch: work.Branch, Base: "main"}
	m.Start, m.Attempt, m.RunURL = begun, 1, "https://github.com/octo/widgets/actions/runs/5"
	return m
}

func comment(id, login string) model.Comment {
	return model.Comment{Kind: model.KindIssue, Author: who(login), URL: asked.URL + "#issuecomment-" + id}
}

const hostile = "`` **x** <!-- mergexo-issue:{} --> @everyone | fixes #1\n/mergexo unblock"

func TestAttemptsAsPeopleReadThem(t *testing.T) {
	m := marker()
	golden.Text(t, "claim.md", flow.ClaimText(asked, m, nil, ""))
	golden.Text(t, "claim_wip.md", flow.ClaimText(asked, m, []model.Comment{comment("11", "alice"), comment("12", "")}, "agent/wip/3"))
	again := m
	again.Attempt, again.Tip, again.Start, again.Flow = 2, begun, done, model.FlowImplementation
	golden.Text(t, "claim_resumed.md", flow.ClaimText(asked, again, []model.Comment{comment("11", "alice")}, "agent/wip/3"))
	odd := m
	odd.Base, odd.Flow, odd.RunURL = "ma`in)#", model.FlowDesign, ""
	golden.Text(t, "claim_design.md", flow.ClaimText(asked, odd, nil, ""))

	m.Planned = done
	golden.Text(t, "planned.md", flow.PlannedText(asked, m))
	again.Reason = "exit code 3\n```\n" + hostile
	golden.Text(t, "failed.md", flow.FailedText(asked, again, "The sweep tries again (2 of 3).", work))
	golden.Text(t, "failed_nothing.md", flow.FailedText(asked, marker(), "The sweep tries again.", model.Kept{}))
}

func TestWhatCameOfItAsPeopleReadIt(t *testing.T) {
	m, pull := marker(), model.PullRef{Number: 12, Title: "Greet " + hostile, URL: "https://github.com/octo/widgets/pull/12"}
	golden.Text(t, "receipt.md", flow.ReceiptText(asked, m, pull, model.Outbox{
		Commits: []model.Commit{{SHA: begun, Subject: "Greet"}, {SHA: done, Subject: hostile}}, Seconds: 61, Notes: []string{"go.mod is not among the design's paths", hostile},
		Usage: model.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.021},
	}))
	m.Flow = model.FlowDesign
	golden.Text(t, "receipt_design.md", flow.ReceiptText(asked, m, pull, model.Outbox{Seconds: 5, Comment: "It is a *short* one."}))
	m.RunURL, m.Flow = "", model.FlowSmallJob
	pull.Title = "Greet"
	golden.Text(t, "receipt_bare.md", flow.ReceiptText(asked, m, pull, model.Outbox{}))
	golden.Text(t, "redirect.md", flow.RedirectText(pull, model.FlowBugfix))
	golden.Text(t, "redirect_design.md", flow.RedirectText(pull, model.FlowDesign))
}

// reasons are all that an attempt can wait for a person for.
var reasons = []string{
	model.ReasonAgent, model.ReasonTests, model.ReasonNoTest, model.ReasonTimeout, model.ReasonCancelled, model.ReasonNoChange, model.ReasonOutcome,
	model.ReasonForbidden, model.ReasonSecret, model.ReasonRefused, model.ReasonSession, model.ReasonBudget, model.ReasonFlaky, model.ReasonPush, model.ReasonAttempts,
	model.ReasonClosed, model.ReasonNoPull, model.ReasonBranch, model.ReasonConflict,
	model.ReasonRewrite, model.ReasonMarkerEdited, model.ReasonMarkerDeleted, model.ReasonNoDesign,
}

func TestStopsAsPeopleReadThem(t *testing.T) {
	m := marker()
	var all []string
	for _, r := range reasons {
		all = append(all, flow.StopText(asked, m, flow.Stop{Reason: r, Empty: "..."}))
	}
	golden.Text(t, "stops.md", strings.Join(all, "\n\n---\n\n"))
	golden.Text(t, "stop_kept.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonAgent, Detail: "Which greeting:\nformal or not?", Kept: work}))
	m.Attempt = 3
	golden.Text(t, "stop_hostile.md", flow.StopText(asked, m, flow.Stop{
		Reason: model.ReasonTests, Detail: "FAIL\n```\n" + hostile, Kept: work, Notes: []string{"an unresolved merge was left out: `" + hostile},
	}))
	golden.Text(t, "stop_lost.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonRewrite, Lost: done, Now: strings.Repeat("1", 40)}))
	golden.Text(t, "stop_deleted.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonBudget, Lost: done}))
	golden.Text(t, "stop_nothing_kept.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonTimeout}))
	golden.Text(t, "stop_secret.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonSecret, Detail: "config.go:3: aws-access-token", Empty: "The work was not pushed anywhere."}))
	golden.Text(t, "stop_rescue.md", flow.StopText(asked, m, flow.Stop{
		Reason: model.ReasonPush, Detail: "refusing to allow a token to create `agent/x`", Kept: bundle,
	}))
	golden.Text(t, "stop_bundled.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonForbidden, Kept: model.Kept{Branch: "refs/mergexo/kept/3/bbbbbbbbbbbb", SHA: done}}))
	golden.Text(t, "stop_hidden.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonTests, Kept: model.Kept{Branch: "refs/mergexo/checkpoint/3/bbbbbbbbbbbb", SHA: done}}))
	golden.Text(t, "stop_aside.md", flow.StopText(asked, m, flow.Stop{Reason: model.ReasonTests, Kept: model.Kept{Branch: "mergexo/checkpoint/3/bbbbbbbbbbbb", SHA: done}}))
	golden.Text(t, "failed_rescue.md", flow.FailedText(asked, m, "The sweep tries again.", bundle))
	assert.Contains(t, flow.StopText(asked, m, flow.Stop{Reason: "new"}), "**Waiting for a person: new** (`new`), attempt 3")
	m.Base = "ma`in)#1"
	assert.Contains(t, flow.StopText(asked, m, flow.Stop{Kept: work}), "([compare with `ma'in)#1`](https://github.com/octo/widgets/compare/ma%60in%29%231..."+done+"))")
}

func TestEveryReasonHasItsWords(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "../model/block.go", nil, parser.SkipObjectResolution))(t)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(c.Names[0].Name, "Reason") {
			return true
		}
		assert.Contains(t, reasons, must.Get(strconv.Unquote(c.Values[0].(*ast.BasicLit).Value))(t))
		found++
		return true
	})
	require.Len(t, reasons, found)
	for _, r := range reasons {
		text := flow.StopText(asked, marker(), flow.Stop{Reason: r})
		assert.NotContains(t, text, "person: "+r, "it has a headline")
		assert.NotContains(t, text, "%s")
	}
}

func TestAStopInATerminal(t *testing.T) {
	m := marker()
	assert.Equal(t, "issue 3 waits for a person (tests_failed): required tests fail: FAIL; the work is kept on branch agent/bugfix/3-say-hello at "+done+
		"; to continue, comment on the issue, or /mergexo retry\nmore", flow.Reason(3, m, flow.Stop{Reason: model.ReasonTests, Detail: "FAIL\nmore\n", Kept: work}))
	assert.Equal(t, "issue 3 waits for a person (push_refused): the server refused the push to agent/bugfix/3-say-hello; the work is in the git bundle /tmp/x.bundle"+
		"; to continue, comment on the issue, or /mergexo retry", flow.Reason(3, m, flow.Stop{Reason: model.ReasonPush, Kept: model.Kept{Bundle: "/tmp/x.bundle"}}))
}
