package merge_test

import (
	"time"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// on has a pull request depend on others.
func on(all ...model.Dependence) func(*merge.Case) {
	return func(c *merge.Case) { c.Facts.Depends, c.Policy.Verify = all, "local" }
}

// labelled has a label ask for the merge, which its newest change says to be on or off.
func labelled(change model.LabelChange, labels ...string) func(*merge.Case) {
	return func(c *merge.Case) {
		c.Request.Label, c.Request.At, c.Snapshot.Pull.Labels = "merge", noon, labels
		if !change.At.IsZero() {
			change.Label = "Merge"
			c.Snapshot.Pull.LabelChanges = []model.LabelChange{{Label: "merge", On: true, At: noon}, change}
		}
	}
}

func titled(title string) func(*merge.Case) {
	return func(c *merge.Case) { c.Snapshot.Pull.Title = title }
}

// held are stories of what people say that a request has to wait for, or that takes it back.
var held = map[string]story{
	"what it depends on is merged":      {on(model.Dependence{Number: 3, State: model.PullMerged}), "", "", false, ""},
	"what it depends on has not landed": {on(model.Dependence{Number: 3, State: model.PullOpen, Asked: true}), merge.GateDepends, model.CodeDepends, true, "depends on #3, which has not landed"},
	"nobody has asked for it":           {on(model.Dependence{Number: 3, State: model.PullOpen}), merge.GateDepends, model.CodeDepends, true, "depends on #3, which nobody has asked to merge"},
	"what it depends on was closed":     {on(model.Dependence{Number: 3, State: model.PullClosed}), merge.GateDepends, model.CodeNeeds, false, "depends on #3, which was closed without being merged"},
	"what it depends on never was":      {on(model.Dependence{Number: 3}), merge.GateDepends, model.CodeDepends, false, "depends on #3, which is not a pull request of this repository"},
	"one of two is merged":              {on(model.Dependence{Number: 3, State: model.PullMerged}, model.Dependence{Number: 4, State: model.PullOpen}), merge.GateDepends, model.CodeDepends, true, "depends on #4, which nobody has asked to merge"},
	"one of two was closed":             {on(model.Dependence{Number: 3, State: model.PullClosed}, model.Dependence{Number: 4, State: model.PullOpen}), merge.GateDepends, model.CodeNeeds, false, "closed"},
	"it lands first in the merge train": {func(c *merge.Case) {
		c.Facts.Depends = []model.Dependence{{Number: 3, State: model.PullOpen}}
		c.Policy.Verify = "ci"
	}, "", "", false, ""},
	"it was closed, and there is a train": {func(c *merge.Case) {
		c.Facts.Depends = []model.Dependence{{Number: 3, State: model.PullClosed}}
		c.Policy.Verify = "ci"
	}, merge.GateDepends, model.CodeNeeds, false, "closed"},
	"they depend on each other":  {func(c *merge.Case) { c.Facts.Cycle = "#7 depends on #9, #9 depends on #7" }, merge.GateDepends, model.CodeDepends, false, "#7 depends on #9, #9 depends on #7: none of them can land first"},
	"a line that cannot be read": {func(c *merge.Case) { c.Facts.Unread = []string{"Depends-on: the\nAPI"} }, merge.GateDepends, model.CodeDepends, true, `the line "Depends-on: the\nAPI" names no pull request of this repository: write "Depends-on: #12", or remove it`},
	"GitHub's own merge waits for it": {func(c *merge.Case) {
		on(model.Dependence{Number: 3, State: model.PullOpen})(c)
		c.Request.Asked = "api"
	}, merge.GateDepends, model.CodeDepends, true, "depends on #3"},
	"a try waits for nothing":              {func(c *merge.Case) { on(model.Dependence{Number: 3})(c); c.Request.Train = &model.TrainWish{Try: true} }, "", "", false, ""},
	"it waits for that before an approval": {func(c *merge.Case) { on(model.Dependence{Number: 3, State: model.PullOpen})(c); c.Facts.Reviews = nil }, merge.GateDepends, model.CodeDepends, true, "depends on #3"},

	"its label is on":                        {labelled(model.LabelChange{On: true, At: noon}, "x", "merge"), "", "", false, ""},
	"its label is on, which GitHub says":     {labelled(model.LabelChange{}, "MERGE"), "", "", false, ""},
	"its label was removed":                  {labelled(model.LabelChange{At: noon.Add(time.Minute)}, "x"), merge.GateLabel, model.CodeCancelled, false, `label "merge", which asked for the merge, was removed`},
	"its label was removed, nobody says who": {labelled(model.LabelChange{}, "x"), merge.GateLabel, model.CodeCancelled, false, "was removed"},
	"its label was put on again":             {labelled(model.LabelChange{On: true, At: noon.Add(time.Minute)}, "merge"), merge.GateLabel, model.CodeCancelled, false, "was removed"},
	"a mirror's label is another matter":     {func(c *merge.Case) { letIn(c); c.Request.At = noon }, "", "", false, ""},

	"approved before the base was changed": {func(c *merge.Case) { c.Snapshot.Pull.BaseChangedAt = noon.Add(time.Minute) }, merge.GateApproved, model.CodeStale, true, `waiting for 1 approval of bbbbbbbbbb; bob approved it before its base was changed to "main"`},
	"approved in that second":              {func(c *merge.Case) { c.Snapshot.Pull.BaseChangedAt = noon }, merge.GateApproved, model.CodeStale, true, "before its base was changed"},
	"approved after that":                  {func(c *merge.Case) { c.Snapshot.Pull.BaseChangedAt = noon.Add(-time.Second) }, "", "", false, ""},
	"one of two before that": {func(cs *merge.Case) {
		cs.Policy.Approvals, cs.Snapshot.Pull.BaseChangedAt = 2, noon
		cs.Facts.Reviews = append(cs.Facts.Reviews, model.Review{Login: "carol", State: "APPROVED", SHA: b, At: noon.Add(time.Minute)}, model.Review{Login: "dave", State: "APPROVED", SHA: c, At: noon.Add(time.Minute)})
	}, merge.GateApproved, model.CodeStale, true, `waiting for 1 more approval of bbbbbbbbbb; approved by carol; bob approved it before its base was changed to "main", dave approved cccccccccc, but the change is no longer the same`},
	"the same change, before that": {func(cs *merge.Case) {
		cs.Facts.Reviews[0].SHA, cs.Unchanged, cs.Snapshot.Pull.BaseChangedAt = c, map[string]bool{c: true}, noon
	}, merge.GateApproved, model.CodeStale, true, "before its base was changed"},
	"requested before that": {func(c *merge.Case) {
		c.Request.At, c.Snapshot.Pull.BaseChangedAt = noon.Add(-time.Minute), noon.Add(-time.Second)
	}, merge.GateTarget, model.CodeRetargeted, false, `the base was changed to "main" after the request`},
	"requested after that": {func(c *merge.Case) { c.Request.At, c.Snapshot.Pull.BaseChangedAt = noon, noon.Add(-time.Second) }, "", "", false, ""},
	"changes requested before that count": {func(c *merge.Case) {
		c.Facts.Reviews[0].State, c.Snapshot.Pull.BaseChangedAt = "CHANGES_REQUESTED", noon
	}, merge.GateChanges, model.CodeChanges, true, "by bob"},

	"WIP":                          {titled("WIP: greet"), merge.GateDraft, model.CodeDraft, true, `its title begins with "WIP"`},
	"WIP in brackets":              {titled(" [wip] greet"), merge.GateDraft, model.CodeDraft, true, `its title begins with "wip"`},
	"WIP alone":                    {titled("WIP"), merge.GateDraft, model.CodeDraft, true, "WIP"},
	"do not merge":                 {titled("Do not merge: greet"), merge.GateDraft, model.CodeDraft, true, `its title begins with "Do not merge"`},
	"do not merge, as one word":    {titled("[DO-NOT-MERGE] greet"), merge.GateDraft, model.CodeDraft, true, "DO-NOT-MERGE"},
	"a word that begins like that": {titled("Wiper: greet"), "", "", false, ""},
	"it is only mentioned":         {titled("Remove the WIP check"), "", "", false, ""},
	"a draft that says nothing":    {func(c *merge.Case) { c.Snapshot.Pull.Draft = true }, merge.GateDraft, model.CodeDraft, true, "it is a draft"},
	"a label that holds it": {func(c *merge.Case) {
		c.Policy.Freeze, c.Snapshot.Pull.Labels = []string{"frozen", "hold", "later"}, []string{"Hold"}
	}, merge.GateFrozen, model.CodeFrozen, true, `label "hold" is on the pull request`},
	"labels that it needs": {func(c *merge.Case) {
		c.Policy.NeedLabels, c.Snapshot.Pull.Labels = []string{"qa", "docs", "ok"}, []string{"QA"}
	}, merge.GateLabels, model.CodeFrozen, true, "missing labels: docs, ok"},
	"it has the labels that it needs": {func(c *merge.Case) { c.Policy.NeedLabels, c.Snapshot.Pull.Labels = []string{"qa"}, []string{"QA"} }, "", "", false, ""},
	"a review that was asked for":     {func(c *merge.Case) { c.Policy.WaitForReviewers, c.Facts.Awaited = true, []string{"dave", "core"} }, merge.GateReviewers, model.CodeReviewers, true, "missing requested reviews: dave, core"},
	"nobody waits for it":             {func(c *merge.Case) { c.Facts.Awaited = []string{"dave"} }, "", "", false, ""},
	"all have answered":               {func(c *merge.Case) { c.Policy.WaitForReviewers = true }, "", "", false, ""},
}
