package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestCommentsAsPeopleReadThem(t *testing.T) {
	s := snapshot()
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	review, talk, summary := said(1, "alice", "OWNER", "two is `wrong`"), said(2, "bob", "MEMBER", "and docs?"), said(3, "carol", "MEMBER", "nearly")
	talk.Kind, summary.Kind = model.KindIssue, model.KindReviewSummary
	odd := said(4, "dave", "MEMBER", "x")
	odd.Path, odd.Line = "we`ird\n.txt", 0
	feedback := []model.Comment{review, talk, summary, odd}
	m := model.TurnMarker{Start: a, Planned: b, Head: b, Attempt: 1, Lease: model.Lease{RunURL: "https://github.com/octo/widgets/actions/runs/5"}}
	second := m
	second.Attempt = 2

	golden.Text(t, "track.md", turn.TrackText("agent:ignore"))
	golden.Text(t, "claim.md", turn.ClaimText(s.Pull, feedback, m))
	golden.Text(t, "claim_second.md", turn.ClaimText(s.Pull, feedback[:1], second))
	golden.Text(t, "planned.md", turn.PlannedText(s.Pull, feedback[:1], m))

	answers := []turn.Answer{{Feedback: review, ReplyURL: "https://github.com/octo/widgets/pull/7#discussion_r99"}, {Feedback: talk}, {Feedback: odd, Gone: true}}
	golden.Text(t, "receipt.md", turn.ReceiptText(s.Pull, answers, model.Outbox{
		Comment: "Both are done.\n\n- greeting says *two*\n- docs follow", Commits: []model.Commit{{SHA: b, Subject: "Say `two`, not @everyone"}},
		Usage: model.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.021}, Seconds: 12, Notes: []string{"one file was left out"},
	}, m))
	golden.Text(t, "receipt_two_commits.md", turn.ReceiptText(s.Pull, answers[:1], model.Outbox{Commits: []model.Commit{{SHA: c, Subject: "One"}, {SHA: b, Subject: "Two"}}}, m))
	unchanged := m
	unchanged.Planned, unchanged.Head = a, a
	golden.Text(t, "receipt_no_commit.md", turn.ReceiptText(s.Pull, answers[:1], model.Outbox{Comment: "It is right as it is."}, unchanged))

	slipped := model.Outcome{ReviewReplies: []model.ReviewReply{answer(1, "a"), answer(1, "b"), answer(9, "c"), answer(4, " ")}, CommitMessage: "Fix", FlakyTestReport: &model.FlakyTest{Title: "t", Summary: "s"}}
	good, notes := turn.Good(slipped, feedback, false)
	box := turn.Outbox(good, feedback, 0, nil, notes)
	turn.Cut(&box)
	golden.Text(t, "receipt_slips.md", turn.ReceiptText(s.Pull, answers[:1], box, unchanged))

	golden.Text(t, "receipt_restored.md", turn.RestoredText(s.Pull, []turn.Answer{answers[0], {Feedback: talk}}, model.Trace{Marker: model.AnswerMarker{Start: a, Head: b, Events: []string{"1", "2"}}}))

	failed := m
	failed.Planned, failed.Reason = "", "the agent ended with exit code 3\n```\nlast words\n```"
	golden.Text(t, "failed.md", turn.FailedText(s.Pull, feedback, failed, turn.Retry(failed)))
	golden.Text(t, "failed_with_work.md", turn.FailedText(s.Pull, feedback[:1], m, "Nothing was pushed."))
	failed.Kept = model.Kept{Branch: "mergexo/checkpoint/7/bbbb", SHA: b}
	golden.Text(t, "failed_kept.md", turn.FailedText(s.Pull, feedback[:1], failed, turn.Later))

	golden.Text(t, "settings.md", turn.SettingsText(s.Pull, ".github/mergexo.toml", "main:.github/mergexo.toml:2: repo.tracks: unknown key"))
	golden.Text(t, "identity.md", turn.IdentityText(model.Foreign{Author: model.Actor{Login: "github-actions[bot]", Bot: true}, URL: s.Pull.URL + "#issuecomment-5"}, "mergexo-app[bot]"))
	blocked := failed
	blocked.Reason = model.ReasonRewrite + ": bob pushed by force"
	golden.Text(t, "failed_blocked.md", turn.FailedText(s.Pull, feedback[:1], blocked, "The pull request is blocked; see the comment below."))

	for name, block := range map[string]model.BlockMarker{
		"block_rewrite.md":       {Reason: model.ReasonRewrite, Expected: a, Observed: b, Phase: model.GuardCrossCycle},
		"block_rewrite_agent.md": {Reason: model.ReasonRewrite, Expected: a, Observed: b, Phase: model.GuardLocal},
		"block_attempts.md":      {Reason: model.ReasonAttempts, Observed: a},
		"block_marker.md":        {Reason: model.ReasonMarkerEdited, Expected: a, Observed: a},
		"block_deleted.md":       {Reason: model.ReasonMarkerDeleted, Observed: a},
	} {
		golden.Text(t, name, turn.BlockText(s.Pull, block, "", model.Kept{}, nil))
	}
	golden.Text(t, "block_agent.md", turn.BlockText(s.Pull, model.BlockMarker{Reason: model.ReasonAgent, Observed: a}, "Which greeting:\nformal or not?", model.Kept{}, nil))
	until := model.BlockMarker{Reason: model.ReasonBudget, Observed: a, Until: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}
	golden.Text(t, "block_budget.md", turn.BlockText(s.Pull, until, "50 turns today, and turns_per_day is 50", model.Kept{}, nil))
	for name, k := range map[string]model.Kept{
		"block_kept.md":     {Branch: "mergexo/checkpoint/7/bbbb", SHA: b},
		"block_bundled.md":  {Branch: "refs/mergexo/kept/7/bbbb", SHA: b},
		"block_hidden.md":   {Branch: "refs/mergexo/checkpoint/7/bbbb", SHA: b},
		"block_stranded.md": {SHA: b, Bundle: "/tmp/mergexo-checkpoint-7-bbbb.bundle"},
	} {
		golden.Text(t, name, turn.BlockText(s.Pull, model.BlockMarker{Reason: model.ReasonTests, Observed: a}, "FAIL", k, nil))
	}
}

func TestBranchesAreLinkedByAnyName(t *testing.T) {
	t.Parallel()
	const odd = "a)@victim#1"
	p := model.Pull{Number: 7, URL: "https://github.com/octo/widgets/pull/7", HeadRef: odd, BaseRef: odd}
	k := model.Kept{Branch: odd, SHA: strings.Repeat("a", 40)}
	m := model.TurnMarker{Start: strings.Repeat("b", 40), Planned: k.SHA, Stage: "refs/heads/" + odd}
	for name, text := range map[string]string{
		"settings": turn.SettingsText(p, ".github/mergexo.toml", "wrong"),
		"block":    turn.BlockText(p, model.BlockMarker{Reason: model.ReasonPush, Observed: m.Start}, "", k, nil),
		"attempts": turn.BlockText(p, model.BlockMarker{Reason: model.ReasonAttempts, Observed: m.Start}, "", k, []model.Try{{Attempt: 1, Kept: model.Kept{Branch: odd, SHA: k.SHA}}}),
		"planned":  turn.PlannedText(p, nil, m),
	} {
		if name == "settings" {
			assert.Contains(t, text, "a%29%40victim%231", name)
		} else {
			assert.Contains(t, text, "[`"+odd+"`](https://github.com/octo/widgets/tree/"+k.SHA+")", name)
		}
		assert.NotContains(t, strings.ReplaceAll(text, "`"+odd+"`", ""), "@victim", name)
	}
}
