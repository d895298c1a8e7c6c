package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// refusals says which strategies cannot land where a branch makes a demand. All but "api" push to it.
var refusals = map[model.DemandKind]struct {
	refuses func(strategy string) bool
	says    string
	fix     string
}{
	model.DemandPull:       {pushes, "takes changes by pull request only", fixAPI},
	model.DemandChecks:     {pushes, "takes commits only after their checks have passed", fixAPI},
	model.DemandLinear:     {func(s string) bool { return s == "no-ff" }, "takes no merge commits", "choose rebase, squash or cherry-pick"},
	model.DemandSignatures: {pushes, "takes signed commits only", fixAPI + ": GitHub signs what it merges"},
	model.DemandPushers:    {all, "takes changes from some only", "give the action's token input the token of an App, and put that App on the list"},
	model.DemandLocked:     {all, "is locked", "unlock it"},
	model.DemandQueue:      {all, "takes changes from its merge queue only", "merge by hand, through the queue"},
}

const fixAPI = "set it to \"api\", which lets GitHub merge"

func pushes(strategy string) bool { return strategy != "api" }
func all(string) bool             { return true }

// protection compares what the default branch demands with how pull requests are to land.
func protection(e *exam) []Finding {
	d, main := e.Hub.Facts.Demands, e.Hub.Facts.DefaultBranch
	if e.Hub.State != HubRead {
		return []Finding{unchecked("merging: what the default branch demands was not checked")}
	}
	var out []Finding
	if !d.Known {
		out = append(out, unchecked("merging: not all that %s demands was checked: %s", main, d.Why))
	}
	if !e.readable() {
		return out
	}
	for _, demand := range d.List {
		if f, found := e.refused(demand); found {
			out = append(out, f)
		}
	}
	return orOK(out, "merging: %s takes what %s brings", main, list(strategies(e.Settings.Strategies)))
}

func (e *exam) refused(d model.Demand) (Finding, bool) {
	r, known := refusals[d.Kind]
	var places []string
	for _, s := range e.Settings.Strategies {
		if known && r.refuses(s.Name) {
			places = append(places, fmt.Sprintf("%s = %s", s.Place, quote(s.Name)))
		}
	}
	if len(places) == 0 || slices.ContainsFunc(d.Names, func(n string) bool { return d.Kind == model.DemandPushers && strings.EqualFold(n, workflowBot) }) && !e.ownToken() {
		return Finding{}, false
	}
	f := problem(r.fix, "merging: %s %s (%s), which refuses %s in %s", e.Hub.Facts.DefaultBranch, r.says, sourceOf(d), list(places), e.Settings.Path)
	// Who may pass is not for everybody to see. The workflow's own bot is never among them:
	// https://github.com/orgs/community/discussions/25305
	if e.ownToken() && d.Kind != model.DemandLocked {
		f.Level = Warning
		f.Text += ", unless the action's token may pass"
	}
	return f, true
}

const workflowBot = "github-actions[bot]"

func sourceOf(d model.Demand) string {
	if len(d.Names) == 0 {
		return d.Source
	}
	names := make([]string, len(d.Names))
	for i, n := range d.Names {
		names[i] = quote(n)
	}
	return d.Source + ": " + cut(list(names), 120)
}

// strategies are the names of strategies, each once.
func strategies(all []Strategy) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return sorted(names)
}
