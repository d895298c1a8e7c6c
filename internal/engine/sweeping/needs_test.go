package sweeping

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
	"github.com/mergexo/mergexo/internal/turn"
)

// The list of what waits names the way on that the comment names.
func TestTheListAndTheCommentNameTheSameWayOn(t *testing.T) {
	t.Parallel()
	blocks := []string{
		model.ReasonRewrite, model.ReasonMarkerEdited, model.ReasonAttempts, model.ReasonAgent, model.ReasonOutcome, model.ReasonForbidden, model.ReasonTests,
		model.ReasonPush, model.ReasonConflict, model.ReasonSecret, model.ReasonRefused, model.ReasonSession, model.ReasonBudget, model.ReasonFlaky,
	}
	issues := append(slices.Clone(blocks), model.ReasonTimeout, model.ReasonCancelled, model.ReasonNoTest, model.ReasonNoChange, model.ReasonClosed, model.ReasonNoPull,
		model.ReasonNoDesign, model.ReasonBranch)
	for _, reason := range issues {
		said := model.Posted[model.IssueMarker]{}
		said.Marker.Waiting = reason
		words, commands := needs.OfIssue("", said).Ways()
		text := flow.StopText(model.Issue{}, said.Marker, flow.Stop{Reason: reason})
		comments := strings.Contains(text, "comment here") || strings.Contains(text, "in a comment here") || strings.Contains(text, "Reply here")
		assert.Equal(t, comments, words != "", "issue, %s: a comment: %s", reason, text)
		assert.Equal(t, strings.Contains(text, "/mergexo retry"), len(commands) > 0, "issue, %s: %s", reason, text)
	}
	p := model.Pull{Number: 7, HeadRef: "agent/x", URL: "https://github.com/octo/widgets/pull/7"}
	for _, reason := range blocks {
		for _, m := range []model.BlockMarker{
			{Reason: reason, Expected: "aaaaaaa", Observed: "bbbbbbb"}, {Reason: reason, Observed: "bbbbbbb"}, {Reason: reason, Expected: "aaaaaaa", Observed: "bbbbbbb", Phase: model.GuardLocal},
		} {
			text := turn.BlockText(p, m, "", model.Kept{}, nil)
			s := turn.StatusOf(model.Snapshot{Pull: p}, model.State{Block: &model.Posted[model.BlockMarker]{Marker: m}}, turn.Policy{}, nil)
			_, commands := needs.OfPull(s, nil).Ways()
			for _, c := range commands {
				assert.Contains(t, text, "`"+c+"`", reason)
			}
			assert.Equal(t, strings.Contains(text, "head_sha="), strings.Contains(strings.Join(commands, " "), "head_sha="), "%s: %s", reason, text)
			assert.Equal(t, reason != model.ReasonAgent, len(commands) > 0, reason)
		}
	}
}
