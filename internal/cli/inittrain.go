package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/model"
)

// usualBase is the default branch where nobody says another.
const usualBase = "main"

// train chooses whether pushes are events, which a merge train needs: it takes an App, or settings that want it. What other services
// report is an event where a required check is theirs.
func (ch *chooser) train(out *doctor.Choice, hub *hubSetup) {
	out.Services = ch.was.Services || len(workflow.Elsewhere(localWorkflows(ch.root), ch.required(hub))) > 0
	verify := ch.before.Merge.Verify
	if out.Bases = ch.was.Bases; len(out.Bases) > 0 {
		return
	}
	if out.App || verify == config.VerifyCI || verify == config.VerifyBoth {
		out.Bases = []string{ch.defaultBranch(hub)}
	}
}

// defaultBranch is that of the repository, as GitHub or the clone tells.
func (ch *chooser) defaultBranch(hub *hubSetup) string {
	if hub != nil && hub.facts.DefaultBranch != "" {
		return hub.facts.DefaultBranch
	}
	head := workflow.File{Path: ".git/refs/remotes/origin/HEAD"}
	if readLocal(ch.root, &head) {
		if branch, is := strings.CutPrefix(strings.TrimSpace(head.Text), "ref: refs/remotes/origin/"); is {
			return branch
		}
	}
	return usualBase
}

// trainEdits are the workflows that have to run on the branches of the merge train and do not: those that init can change, and
// those that a person has to.
func (ch *chooser) trainEdits(out doctor.Choice, hub *hubSetup) (edits, byHand []doctor.TrainEdit) {
	if len(out.Bases) == 0 {
		return nil, nil
	}
	required := workflow.OfActions(ch.required(hub))
	if !slices.ContainsFunc(ch.others, func(w *workflow.Workflow) bool { return w.ReportsAny(required) }) {
		required = nil // others report them, or nobody knows which of these does
	}
	for _, o := range ch.others {
		if required == nil && !o.OnCommits() || required != nil && !o.ReportsAny(required) {
			continue
		}
		e, needed := doctor.HearTrain(o)
		if info, err := ch.root.Lstat(o.Path); needed && (err != nil || !info.Mode().IsRegular()) { // a file would take the link's place
			e.Text, e.Why = "", "it is a link to another file"
		}
		if needed {
			edits = append(edits, e)
		}
	}
	if len(edits) > 1 && len(required) == 0 {
		for i := range edits {
			edits[i].Text, edits[i].Why = "", "if it has a check that must pass before a merge"
		}
	}
	for _, e := range edits {
		if e.Text == "" {
			byHand = append(byHand, e)
		}
	}
	edits = slices.DeleteFunc(edits, func(e doctor.TrainEdit) bool { return e.Text == "" })
	return edits, byHand
}

// required are the checks that are known to be required, as the settings name them.
func (ch *chooser) required(hub *hubSetup) []string {
	names := slices.Clone(ch.before.Merge.RequiredChecks)
	if hub != nil {
		for _, d := range hub.facts.Demands.List {
			if d.Kind == model.DemandChecks {
				names = append(names, d.Names...)
			}
		}
	}
	return names
}

// askTrain shows what init would change in workflows that are not its own, asks once, and gives what it may change. Without an
// answer nothing is changed.
func (s setup) askTrain(q *questioner, edits []doctor.TrainEdit) (granted, refused []doctor.TrainEdit, err error) {
	for _, e := range edits {
		if err := s.showDiff(q.ctx, e.Path, e.Text); err != nil {
			return nil, nil, err
		}
	}
	if len(edits) == 0 || s.yes || s.force {
		return edits, nil, nil
	}
	answer, given := q.ask("A merge train has your CI test what lands, on branches of its own. Change your CI as shown? [Y/n] ")
	if answer = strings.ToLower(answer); given && (answer == "" || answer == "y" || answer == "yes") {
		return edits, nil, nil
	}
	return nil, edits, nil
}

// writeTrain writes those workflows.
func (s setup) writeTrain(edits []doctor.TrainEdit) error {
	for _, e := range edits {
		if err := replace(s.root, e.Path, e.Text); err != nil {
			return usagef("write %s: %s", e.Path, reason(err))
		}
		if _, err := fmt.Fprintf(s.Out, "wrote %s, which runs on the branches of the merge train now\n", oneLine(e.Path)); err != nil {
			return err
		}
	}
	return nil
}

// leftForTrain adds what a person has to write for the train.
func leftForTrain(l *left, c doctor.Choice, byHand []doctor.TrainEdit) {
	for _, e := range byHand {
		why := ""
		if e.Why != "" {
			why = " (" + e.Why + ")"
		}
		what := fmt.Sprintf("Let %s run on the branches of the merge train%s:", e.Path, why)
		if !c.App {
			what = fmt.Sprintf("Let %s run on the branches of the merge train, which needs the token of a GitHub App%s:", e.Path, why)
		}
		l.add(what, e.Lines...)
	}
}
