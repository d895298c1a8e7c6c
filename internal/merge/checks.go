package merge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// wanted is a required check; with an App only its check runs count.
type wanted struct{ name, app string }

func (w wanted) String() string {
	return markdown.Inline(w.name) + either(w.app == "", "", " (of "+w.app+")")
}

var slug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// want parses an entry of the settings: "name", or "name@app" with an App's slug. A name that looks like the latter needs a
// final "@".
func want(entry string) wanted {
	at := strings.LastIndexByte(entry, '@')
	switch {
	case at <= 0:
	case at == len(entry)-1:
		return wanted{name: entry[:at]}
	case slug.MatchString(entry[at+1:]):
		return wanted{entry[:at], entry[at+1:]}
	}
	return wanted{name: entry}
}

// required are the checks that have to pass, by the settings and the base branch's rules.
func required(c Case) []wanted {
	var out []wanted
	add := func(w wanted) {
		if w.name != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for _, entry := range c.Policy.RequiredChecks {
		add(want(entry))
	}
	for _, name := range slices.Concat(c.Facts.RequiredChecks, bound(c.Facts)) {
		add(wanted{name: name})
	}
	for _, check := range c.Facts.Checks {
		if check.Required {
			add(wanted{name: check.Name})
		}
	}
	return out
}

// current are the matching checks that count.
func (w wanted) current(checks []model.Check) []model.Check {
	return slices.DeleteFunc(model.Current(checks), func(c model.Check) bool { return c.Name != w.name || w.app != "" && c.App != w.app })
}

// evaluate is how a wanted check stands, with its evidence. Whoever may report under a name can do so from a second source, so
// every source has to pass.
func (w wanted) evaluate(facts model.MergeFacts) (model.CheckState, string) {
	found := w.current(facts.Checks)
	switch {
	case len(found) == 0 && facts.ChecksHidden.Why != "":
		return model.CheckPending, w.String() + " (MergeXO cannot see it)"
	case len(found) == 0 && slices.Contains(facts.Unproduced, w.name):
		return model.CheckPending, w.String() + " (no workflow has a job of this name: unless another service reports it, rename the check or add the job)"
	case len(found) == 0:
		return model.CheckPending, w.String() + " (not reported yet)"
	}
	worst := found[0]
	for _, check := range found[1:] {
		if check.State.Worse(worst.State) {
			worst = check
		}
	}
	said := w.String()
	if worst.URL != "" {
		said += " (" + worst.URL + ")"
	}
	if worst.State != model.CheckPassed && worst.State != model.CheckPending {
		return model.CheckFailed, said
	}
	return worst.State, said
}

// Unreported are the required checks that nothing has reported on the head, though nothing is still running there. Those of
// other Apps than GitHub Actions are left out.
func Unreported(c Case) []string {
	running := slices.ContainsFunc(c.Facts.Checks, func(check model.Check) bool { return check.State == model.CheckPending })
	if running || lacks(c.Facts, "checks") {
		return nil
	}
	var out []string
	for _, w := range required(c) {
		if (w.app == "" || w.app == "github-actions") && len(w.current(c.Facts.Checks)) == 0 {
			out = append(out, w.name)
		}
	}
	return out
}

// checksGate requires that the checks passed on the requested head, before the request made a tip of it. GitHub may start
// nothing for that tip, since a workflow's own token pushed it, so only failures on it count.
func checksGate(c Case, way Way) finding {
	by := map[model.CheckState][]string{}
	all, own := required(c), bound(c.Facts)
	if way.Train { // which has them tested on what lands
		own = nil
	}
	lacking := false // what lands has to have passed itself
	for _, w := range all {
		state, said := w.evaluate(c.Facts)
		by[state] = append(by[state], said)
		lacking = lacking || state != model.CheckPassed && slices.Contains(own, w.name)
	}
	failed, pending := by[model.CheckFailed], by[model.CheckPending]
	head := c.Snapshot.Pull.HeadSHA
	of := cmp.Or(c.Facts.HeadSHA, head)
	made := of != c.Request.Head && slices.Contains(c.Request.Tips(), of)
	part, hidden := lacks(c.Facts, "checks"), noUseWaiting(c.Facts.ChecksHidden)
	switch {
	case len(all) == 0 && !part:
		return find(GateChecks, model.CodeChecks, true, "no check is required")
	case of != head && of != c.Request.Head && !made:
		return find(GateChecks, model.CodeChecks, false, "GitHub reports the checks of %s, but the head is %s", markdown.Short(of), markdown.Short(head))
	case len(failed) > 0:
		return find(GateChecks, model.CodeChecksFailed, false, "%s failed%s", theChecks(failed), names("; waiting for ", pending))
	case made && !part && !lacking:
		return find(GateChecks, model.CodeChecks, true, "passed on %s; nothing fails on %s, which was built from it for this merge", markdown.Short(c.Request.Head), markdown.Short(of))
	case hidden != "" && len(pending) > 0:
		return find(GateChecks, model.CodeChecks, false, "waiting for %s; %s", theChecks(pending), hidden)
	case len(pending) > 0:
		return find(GateChecks, model.CodeChecks, false, "waiting for %s%s", theChecks(pending), either(slices.Contains(c.State.MergeTips, of),
			"; an earlier merge pushed the head with the workflow's own token, which starts no workflow: push to the branch, or use the token of a GitHub App", ""))
	case part && hidden != "":
		return find(GateChecks, model.CodeChecks, false, "MergeXO cannot read the checks: %s", hidden)
	case part:
		return find(GateChecks, model.CodeChecks, false, partly, "checks")
	}
	return find(GateChecks, model.CodeChecks, true, "passed: %s", names("", by[model.CheckPassed]))
}

func theChecks(list []string) string {
	return names(either(len(list) == 1, "the check ", "the checks "), list)
}

// noUseWaiting says what has to happen before a merge can go by what its token cannot see; "" where it sees all.
func noUseWaiting(h model.Hidden) string {
	if h.Why == "" {
		return ""
	}
	return fmt.Sprintf("%s, so waiting does not help: %s, then repeat the command", h.Why, h.Fix)
}
