package turn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

const (
	elsewhere = "it begins with a mention of somebody else"
	thankful  = "it is only thanks"
	noMention = `it does not name MergeXO, and [feedback] listen is "mention"`
	noReview  = `[feedback] listen is "reviews"`
)

// TestWhatWakesTheAgent has a row for every kind of comment, with why it starts nothing in each mode; "" where it counts.
func TestWhatWakesTheAgent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind                  model.Kind
		body                  string
		all, mention, reviews string
	}{
		{model.KindIssue, "Rename it.", "", noMention, noReview},
		{model.KindIssue, "Is this right?", "", noMention, noReview},
		{model.KindIssue, "@mergexo rename it.", "", "", noReview},
		{model.KindIssue, "Rename it, @MergeXO-bot.", "", "", noReview},
		{model.KindIssue, "Could @crew rename it?", "", "", noReview},
		{model.KindIssue, "After `/mergexo` and mergexo: rename it.", "", noMention, noReview},
		{model.KindIssue, "Rename it, then /mergexo merges.", "", "", noReview},
		{model.KindIssue, "> @mergexo rename it.\n\nNo.", "", noMention, noReview},
		{model.KindIssue, "See https://github.com/mergexo and a@mergexo.org", "", noMention, noReview},
		{model.KindIssue, "<!-- @mergexo -->Rename it.", "", noMention, noReview},
		{model.KindReview, "Rename it.", "", "", ""},
		{model.KindReviewSummary, "Rename it.", "", "", ""},
		{model.KindReview, "```suggestion\n```", "", "", ""},

		{model.KindIssue, "@bob can you look?", elsewhere, noMention, noReview},
		{model.KindReview, "@bob can you look?", elsewhere, elsewhere, elsewhere},
		{model.KindReview, "@octo/reviewers please", elsewhere, elsewhere, elsewhere},
		{model.KindReview, "> What?\n\n@bob, this.", elsewhere, elsewhere, elsewhere},
		{model.KindReview, "<!-- hi -->\n@bob, this.", elsewhere, elsewhere, elsewhere},
		{model.KindReview, "@bob and @mergexo: rename it.", "", "", ""},
		{model.KindReview, "As @bob says, rename it.", "", "", ""},
		{model.KindReview, "@Override is missing", elsewhere, elsewhere, elsewhere},
		{model.KindReview, "`@Override` is missing", "", "", ""},

		{model.KindReview, "Thanks!", thankful, thankful, thankful},
		{model.KindReview, "ok, thank you so much @bob :tada:", thankful, thankful, thankful},
		{model.KindReview, "LGTM 👍🏽", thankful, thankful, thankful},
		{model.KindReview, "🎉❤️", thankful, thankful, thankful},
		{model.KindReview, "+1", thankful, thankful, thankful},
		{model.KindReview, "👍?", "", "", ""},
		{model.KindReview, "Thanks, rename it.", "", "", ""},
		{model.KindReview, "Great job", "", "", ""},
		{model.KindReview, "`<=`", "", "", ""},
		{model.KindReview, "?", "", "", ""},
		{model.KindReview, "![thanks](https://example.com/x.png)", "", "", ""},
		{model.KindReview, "<!-- nothing -->", "hidden", "hidden", "hidden"},
	} {
		for mode, want := range map[string]string{"all": c.all, "mention": c.mention, "reviews": c.reviews} {
			why, st := heardAs(mode, c.kind, c.body, model.State{})
			assert.Equal(t, want, why, "%s, %s: %q", mode, c.kind, c.body)
			if want == "" || want == "hidden" {
				continue
			}
			why, _ = heardAs(mode, c.kind, c.body, questioned(st))
			assert.Equal(t, map[bool]string{true: elsewhere}[c.all == elsewhere], why, "an answer, %s, %s: %q", mode, c.kind, c.body)
		}
	}
}

// questioned is a state in which the agent has a question.
func questioned(st model.State) model.State {
	st.Block = &model.Posted[model.BlockMarker]{Marker: model.BlockMarker{Reason: model.ReasonAgent}}
	return st
}

// heardAs is why a comment of somebody with write access starts nothing; "" where it counts.
func heardAs(mode string, kind model.Kind, body string, st model.State) (string, model.State) {
	s := model.Snapshot{
		Number: 7, Pull: model.Pull{Number: 7, State: model.PullOpen, HeadExists: true}, Viewer: model.Actor{Login: "mergexo-bot[bot]"},
		Comments: []model.Comment{{Kind: kind, ID: 1, Author: model.Actor{Login: "alice"}, Association: "MEMBER", Body: body, CreatedAt: noon, UpdatedAt: noon}},
	}
	policy := turn.Policy{Listen: mode, Names: []string{"mergexo", "crew"}, Track: []string{"**"}}
	pending := turn.Candidates(s, st, policy)
	if len(pending) > 0 {
		return "", st
	}
	gates := turn.Why(s, st, policy, turn.Evidence{})
	evidence, none := gates[len(gates)-1].Evidence, "all feedback is answered"
	if evidence == none {
		return "hidden", st
	}
	return evidence[len(none+". Ignored: alice (") : len(evidence)-1], st
}
