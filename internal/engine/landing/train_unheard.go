package landing

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/skipci"
	"github.com/mergexo/mergexo/internal/train"
)

// unheard says why CI would not test a commit on a train branch; "": it would, or nobody can tell.
func unheard(ctx context.Context, l *line, tip string) (string, error) {
	if testedHere(l) {
		return "", nil
	}
	files, err := workflowFiles(ctx, l.home.Checkout, tip)
	if err != nil || len(files) == 0 {
		return "", err
	}
	required, seen := producible(l)
	if len(required) == 0 {
		return "", nil
	}
	branch := train.Root + l.Base + "/1"
	if !workflow.HearsPush(files, branch) {
		return "no workflow runs on the branches of the train, so nothing would test it: add \"mergexo/train/**\" to on.push.branches of the workflow that has the required checks", nil
	}
	switch check, path := workflow.Deaf(files, branch, required, seen); {
	case check == "":
		return "", nil
	case path == "":
		return fmt.Sprintf("no workflow has a job for required check %s, and no pull request has had it: rename the check, or add the job", check), nil
	default:
		return fmt.Sprintf("required check %s comes from %s, which does not run on the branches of the train: add \"mergexo/train/**\" to its on.push.branches", check, path), nil
	}
}

// silenced says why GitHub starts no workflow for the push of a commit, whatever workflows there are; "": it does.
func silenced(ctx context.Context, l *line, tip string) (string, error) {
	if required, _ := producible(l); len(required) == 0 || testedHere(l) {
		return "", nil
	}
	message, err := history.Message(ctx, l.home.Checkout, tip)
	if said := skipci.In(message); err == nil && said != "" {
		return fmt.Sprintf("the message of its last commit says %q, for which GitHub starts no workflow, so nothing would test it: change the message, or the title if that is in it", said), nil
	}
	return "", err
}

// producible are the required checks that workflows have to report: those of other services are left out. seen are the checks that
// the heads of the requests had which this run has read; nil: not all of them were read.
func producible(l *line) (required []string, seen workflow.Reported) {
	seen = workflow.Reported{}
	whole := true
	for _, a := range l.opened {
		if a == nil {
			continue
		}
		facts := a.g.MergeFacts
		if facts == nil {
			whole = false
			continue
		}
		whole = whole && !facts.Partial && facts.ChecksHidden == (model.Hidden{})
		for _, c := range facts.Checks {
			seen[c.Name] = seen[c.Name] || c.App != actionsApp
		}
	}
	required = slices.DeleteFunc(workflow.OfActions(slices.Concat(l.required(), l.manifest.Demanded())), func(name string) bool {
		return name == ownCheck || seen[name]
	})
	if !whole {
		return required, nil
	}
	return required, seen
}

// actionsApp is the App of GitHub Actions.
const actionsApp = "github-actions"
