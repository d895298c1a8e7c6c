package merge_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// eyes makes a case one of a pull request that MergeXO opened at a, and that logins pushed to since, in order: "mergexo c" moved it to c.
// The commits are of who pushed them. The last push is to b, the head.
func eyes(cs *merge.Case, pushes ...string) {
	cs.Own, cs.Snapshot.Pull.Author = true, model.Actor{Login: "mergexo[bot]", Bot: true}
	cs.Pushes = []model.Push{{After: a, By: model.Actor{Login: "mergexo[bot]"}}}
	cs.Snapshot.Pull.Commits = []model.CommitText{{SHA: a, Author: "mergexo[bot]"}}
	for _, p := range pushes {
		login, at, _ := strings.Cut(p, " ")
		after := sha(rune(at[0]))
		cs.Pushes = slices.Insert(cs.Pushes, 0, model.Push{Before: cs.Pushes[0].After, After: after, By: model.Actor{Login: login}})
		cs.Snapshot.Pull.Commits = append(cs.Snapshot.Pull.Commits, model.CommitText{SHA: after, Author: login})
	}
}

// strictly makes the last push one of a turn that answered a comment of this login.
func strictly(cs *merge.Case, login string) {
	eyes(cs, "mergexo b")
	at := noon.Add(-time.Hour)
	cs.Policy.Strict = true
	cs.Snapshot.Comments = []model.Comment{{Kind: model.KindIssue, ID: 3, Author: model.Actor{Login: login}, UpdatedAt: noon}} // edited since
	cs.State.Turns = []model.Posted[model.TurnMarker]{{Marker: model.TurnMarker{Start: a, Head: b, Events: []string{model.EventKey(7, model.KindIssue, 3, at)}}}}
}

func approvedBy(login, sha string) model.Review {
	return model.Review{Login: login, State: "APPROVED", SHA: sha, At: noon}
}

const (
	pushedIt = "waiting for 1 approval of bbbbbbbbbb; the approval by bob does not count, since bob pushed to it, and nobody else has approved that"
	askedIt  = "since bob asked the agent for it, and nobody else has approved that"
)

// fourEyes are stories of what bob did before he approved the head.
var fourEyes = map[string]story{
	"nobody has pushed":        {func(cs *merge.Case) { eyes(cs, "mergexo b") }, "", "", false, ""},
	"somebody else has pushed": {func(cs *merge.Case) { eyes(cs, "carol b") }, "", "", false, ""},
	"who pushed approves":      {func(cs *merge.Case) { eyes(cs, "Bob b") }, merge.GateApproved, model.CodeApproval, true, pushedIt},
	"who pushed before":        {func(cs *merge.Case) { eyes(cs, "bob c", "mergexo b") }, merge.GateApproved, model.CodeApproval, true, "bob pushed to it"},
	"a person's pull request":  {func(cs *merge.Case) { eyes(cs, "bob b"); cs.Own = false }, "", "", false, ""},
	"a person's, with strict":  {func(cs *merge.Case) { eyes(cs, "bob b"); cs.Own, cs.Policy.Strict = false, true }, merge.GateApproved, model.CodeApproval, true, "bob pushed to it"},
	"who wrote it approves":    {func(cs *merge.Case) { eyes(cs, "bob b"); cs.Pushes = nil }, merge.GateApproved, model.CodeApproval, true, "bob wrote a commit of it"},
	"who wrote approves, moved": {func(cs *merge.Case) {
		eyes(cs, "bob b")
		cs.Pushes, cs.Request.Head, cs.Request.Tip, cs.Facts.Reviews[0].SHA = nil, c, b, c
	}, "", "", false, ""},
	"another has approved that": {func(cs *merge.Case) {
		eyes(cs, "bob c", "mergexo b")
		cs.Facts.Reviews = append(cs.Facts.Reviews, approvedBy("carol", c))
	}, "", "", false, ""},
	"another has approved what was there before": {func(cs *merge.Case) {
		eyes(cs, "mergexo c", "bob b")
		cs.Facts.Reviews = append(cs.Facts.Reviews, approvedBy("carol", c))
	}, merge.GateApproved, model.CodeStale, true, "carol approved cccccccccc, but the change is no longer the same, the approval by bob does not count"},
	"another has approved the same change": {func(cs *merge.Case) {
		eyes(cs, "mergexo c", "bob b")
		cs.Policy.Approvals, cs.Unchanged = 2, map[string]bool{c: true}
		cs.Facts.Reviews = append(cs.Facts.Reviews, approvedBy("carol", c))
	}, "", "", false, ""},
	"another has approved it": {func(cs *merge.Case) {
		eyes(cs, "bob b")
		cs.Policy.Approvals, cs.Facts.Reviews = 2, append(cs.Facts.Reviews, approvedBy("carol", b))
	}, "", "", false, ""},
	"another's approval was dismissed": {func(cs *merge.Case) {
		eyes(cs, "bob b")
		cs.Facts.Reviews = append(cs.Facts.Reviews, model.Review{Login: "carol", State: "DISMISSED", SHA: b, At: noon})
	}, merge.GateApproved, model.CodeApproval, true, pushedIt},
	"the same person's earlier approval": {func(cs *merge.Case) {
		eyes(cs, "bob c", "mergexo b")
		cs.Facts.Reviews = append(cs.Facts.Reviews, model.Review{Login: "BOB", State: "APPROVED", SHA: c, At: noon.Add(-time.Hour)})
	}, merge.GateApproved, model.CodeApproval, true, "bob pushed to it"},
	"pushed, taken back, approved, and pushed again": {func(cs *merge.Case) {
		eyes(cs, "bob b", "bob c", "bob b")
		cs.Snapshot.Pull.Commits = nil
		cs.Facts.Reviews = append(cs.Facts.Reviews, approvedBy("carol", c))
	}, merge.GateApproved, model.CodeStale, true, "bob pushed to it"},
	"no approval is needed": {func(cs *merge.Case) { eyes(cs, "bob b"); cs.Policy.Approvals = 0 }, "", "", false, ""},

	"who asked approves":              {func(cs *merge.Case) { strictly(cs, "bob"); cs.Policy.Strict = false }, "", "", false, ""},
	"who asked approves, with strict": {func(cs *merge.Case) { strictly(cs, "bob") }, merge.GateApproved, model.CodeApproval, true, askedIt},
	"another asked":                   {func(cs *merge.Case) { strictly(cs, "carol") }, "", "", false, ""},
	"who asked has deleted that":      {func(cs *merge.Case) { strictly(cs, "bob"); cs.Snapshot.Comments = nil }, merge.GateApproved, model.CodeApproval, true, "since nobody can tell who asked the agent for it"},
	"who asked has deleted it, and approved": {func(cs *merge.Case) {
		strictly(cs, "bob")
		cs.Snapshot.Comments = nil
		cs.Facts.Reviews = append(cs.Facts.Reviews, approvedBy("carol", b))
	}, "", "", false, ""},
	"nobody asked, since CI failed": {func(cs *merge.Case) {
		strictly(cs, "bob")
		cs.State.Turns[0].Marker.Events = []string{model.EventKey(7, model.KindActions, 3, noon)}
	}, "", "", false, ""},
	"who asked was only answered": {func(cs *merge.Case) { strictly(cs, "bob"); cs.State.Turns[0].Marker.Start = b }, "", "", false, ""},
	"who had it begun":            {func(cs *merge.Case) { strictly(cs, "carol"); cs.Starters = []string{"Bob"} }, merge.GateApproved, model.CodeApproval, true, askedIt},
	"who had it begun, and another has approved that": {func(cs *merge.Case) {
		strictly(cs, "carol")
		cs.Starters, cs.Facts.Reviews = []string{"bob"}, append(cs.Facts.Reviews, approvedBy("carol", a))
	}, "", "", false, ""},
}

// Who pushed is asked only where nothing else is missing, and that could void an approval.
func TestWhoPushedIsAskedWhereThatDecides(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*merge.Case)
		asks   bool
	}{
		"nothing is missing":      {func(*merge.Case) {}, true},
		"GitHub sees a conflict":  {func(cs *merge.Case) { cs.Facts.Conflicting = true }, true},
		"a check is missing":      {func(cs *merge.Case) { cs.Facts.Checks = nil }, false},
		"an approval is missing":  {func(cs *merge.Case) { cs.Policy.Approvals = 2 }, false},
		"none is needed":          {func(cs *merge.Case) { cs.Policy.Approvals = 0 }, false},
		"a person's pull request": {func(cs *merge.Case) { cs.Own = false }, false},
		"a person's, with strict": {func(cs *merge.Case) { cs.Own, cs.Policy.Strict = false, true }, true},
		"a fork's, with strict":   {func(cs *merge.Case) { cs.Policy.Strict, cs.Snapshot.Pull.CrossRepo = true, true }, false},
		"a try":                   {func(cs *merge.Case) { cs.Request.Train = &model.TrainWish{Try: true} }, false},
	} {
		cs := ready()
		eyes(&cs, "mergexo b")
		cs.Pushes = nil
		tt.change(&cs)
		assert.Equal(t, tt.asks, merge.AsksPushes(cs), name)
	}
}
