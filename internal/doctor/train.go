package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// trainFilter is what a workflow writes to be run on the branches of the merge train.
const trainFilter = `"` + trainPattern + `"`

// trainBranch is a branch of the merge train.
const trainBranch = "mergexo/train/main/1"

// required are the checks that a commit needs before it lands, by the settings, which may name the App of each, then by the rules of the
// default branch.
func (e *exam) required() []string {
	names := slices.Clone(e.Settings.RequiredChecks)
	for _, d := range e.Hub.Facts.Demands.List {
		if d.Kind == model.DemandChecks {
			names = append(names, d.Names...)
		}
	}
	return names
}

// requiredChecks are the names of those that jobs of GitHub Actions may have.
func (e *exam) requiredChecks() []string { return OfActions(e.required()) }

// OfActions are the names of the required checks that jobs of GitHub Actions may have.
func OfActions(required []string) []string {
	var names []string
	for _, name := range required {
		bare, app := name, ""
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			bare, app = name[:at], name[at+1:]
		}
		if app == "" || app == "github-actions" {
			names = append(names, bare)
		}
	}
	return names
}

// Elsewhere are the required checks that other services report: by their App, or since no workflow has such a job.
func Elsewhere(files []File, required []string) []string {
	return slices.DeleteFunc(slices.Clone(required), func(name string) bool {
		own := OfActions([]string{name})
		check, path := Deaf(files, trainBranch, own, Reported{})
		return own != nil && (check == "" || path != "" || strings.HasSuffix(name, "@github-actions"))
	})
}

// HearsPush says whether some workflow runs on a push to a branch. Files that are no workflows hear nothing.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func HearsPush(files []File, branch string) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		w, err := readWorkflow(f)
		return err == nil && w.hearsPush(branch)
	})
}

func (w *workflow) hearsPush(branch string) bool {
	return slices.ContainsFunc(w.triggers, func(t trigger) bool {
		if t.event != "push" || t.branches != nil || t.ignored != nil {
			return t.event == "push" && t.lets(branch)
		}
		return !slices.Contains(t.filters, "tags") && !slices.Contains(t.filters, "tags-ignore") // which leave out branches
	})
}

// hasTrain says that CI tests what is to land: by the settings, or since the base demands it of a token that starts CI.
func (e *exam) hasTrain() bool {
	demands := func(d model.Demand) bool { return d.Kind == model.DemandChecks }
	return e.Settings.Train || e.Settings.TrainByRules && e.ownToken() && slices.ContainsFunc(e.Hub.Facts.Demands.List, demands)
}

// train checks that the repository's own CI can test what the merge train builds.
func train(e *exam) []Finding {
	required := e.requiredChecks()
	if !e.hasTrain() || len(e.uses) == 0 {
		return nil
	}
	var out []Finding
	if !slices.ContainsFunc(e.workflows, func(w *workflow) bool { return w.hearsPush(trainBranch) }) {
		out = append(out, problem("run mergexo init, or add "+trainFilter+" to on.push.branches of "+e.ownCI(),
			"no workflow runs on the branches of the merge train, so nothing tests what lands"))
	}
	if check, path := Deaf(e.Workflows, trainBranch, required, nil); check != "" && len(out) == 0 {
		out = append(out, problem("run mergexo init, or add "+trainFilter+" to its on.push.branches",
			"required check %s comes from %s, which does not run on the branches of the merge train, so nothing would land", check, path))
	} else if check, _ := Deaf(e.Workflows, trainBranch, required, Reported{}); check != "" && len(out) == 0 {
		out = append(out, unchecked("no workflow has a job for required check %s: another service has to report it on the branches of the merge train", check))
	}
	for _, u := range e.uses {
		if u.phase != agentPhase && !u.ownToken() {
			out = append(out, problem("pass the token of a GitHub App with the inputs app-id and private-key",
				"%s: jobs.%s pushes with the workflow's own token, which starts no CI, but verify lets CI test the merge train", u.at(u.s.line), u.j.id))
			break
		}
	}
	if len(out) == 0 {
		out = append(out, ok("CI tests the branches of the merge train"))
	}
	return append(out, e.pushes()...)
}

// ownCI names the repository's own workflow that has the required checks, where only one can have them.
func (e *exam) ownCI() string {
	others := slices.DeleteFunc(Others(e.Workflows), func(o Other) bool { return !o.OnCommits })
	if len(others) == 1 {
		return others[0].Path
	}
	return "the workflow that has the required checks"
}

// pushes checks that what somebody pushes to the base and does to the train's branches is an event.
func (e *exam) pushes() []Finding {
	base := cmp.Or(e.Hub.Facts.DefaultBranch, "main")
	var lacks []string
	for _, event := range []struct {
		name  string
		heard func(u use) bool
	}{
		{"push", func(u use) bool { return u.w.hearsPush(trainBranch) && u.w.hearsPush(base) }},
		{"delete", func(u use) bool { return u.has("delete") }},
	} {
		if !slices.ContainsFunc(e.uses, func(u use) bool { return u.phase != agentPhase && !u.sweeps() && event.heard(u) }) {
			lacks = append(lacks, event.name)
		}
	}
	if lacks == nil {
		return nil
	}
	return []Finding{warn(fmt.Sprintf("run mergexo init, which adds them; by hand: add `push: {branches: [%s, %s]}` and `delete:` below on:, and let both through in if:", scalar(base), trainFilter),
		"%s: on: lacks %s for the merge train: it sees what somebody pushes to %s, or does to its branches, only at the next event or sweep", e.files(), list(lacks), base)}
}
