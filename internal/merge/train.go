package merge

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Place is where a request is in the merge train.
type Place struct {
	Position int    // in the queue, from 1; 0: it has not joined yet
	Car      int    // 0: it is in none
	Branch   string // that its car is tested on; "": none yet
	Ahead    []int  // the cars that have to land before
	State    string // of the car, in words: "is being tested"
	Why      string // what it waits for, without a full stop; "": for its turn
	Checks   []model.Check
	ETA      time.Time // when it probably lands; zero: nobody knows
	Try      bool
}

// TrainText tells where a request is in the merge train.
func TrainText(p model.Pull, m model.MergeMarker, at Place) string {
	var b strings.Builder
	if at.Try {
		fmt.Fprintf(&b, "**Being tried in the merge train** of `%s`: %s.", markdown.Code(m.Base), what(p, m))
	} else {
		fmt.Fprintf(&b, "**In the merge train** of `%s`: %s.", markdown.Code(m.Base), what(p, m))
	}
	b.WriteString("\n\n" + at.sentence(p))
	if len(at.Checks) > 0 {
		b.WriteString("\n\n" + checkList(at.Checks))
	}
	b.WriteString("\n\nThe repository's checks test the exact commit that lands. `/mergexo merge cancel` cancels the request.")
	return b.String()
}

// TrainLoss is a record of the merge train, or what it said of a car, that was not what MergeXO had written.
type TrainLoss struct {
	Ref string
	Why string // without a full stop
	Car int    // only what was said of this car; 0: all of it
}

// TrainLostText tells somebody whose request is in the train what was lost with its record, and what was kept.
func TrainLostText(p model.Pull, m model.MergeMarker, lost TrainLoss) string {
	base, why := markdown.Code(m.Base), markdown.Plain(lost.Why)
	rest := fmt.Sprintf("The record is the ref `%s`, which only MergeXO may write. If nobody here changed it, check who can push to this repository.", markdown.Code(lost.Ref))
	if lost.Car != 0 {
		return fmt.Sprintf("**Somebody else changed the record of the merge train of `%s`**: %s. That commit does not land.\n\n"+
			"- Kept: the request to merge %s, and its place in the queue.\n"+
			"- Lost: the test results of car %d. Its pull requests are built again from their approved commits, and tested again.\n\n%s", base, why, what(p, m), lost.Car, rest)
	}
	return fmt.Sprintf("**MergeXO made a new record of the merge train of `%s`**, because the old one is not what MergeXO wrote (%s). "+
		"It comes from the comments on the pull requests.\n\n"+
		"- Kept: the request to merge %s, with its priority and other options. Its place in the queue follows from when it was asked for.\n"+
		"- Lost: the cars and their test results, so that what was being tested is built and tested again. Also lost is the list of what landed, from which "+
		"MergeXO estimates when a pull request lands.\n\n%s", base, why, what(p, m), rest)
}

// NoTrainText says why a wish for the merge train means nothing.
func NoTrainText(p model.Pull) string {
	return fmt.Sprintf("`priority`, `solo`, `now` and `/mergexo try` are for the merge train, but MergeXO itself tests merges into `%s`. "+
		"To let the repository's checks test them, set `[merge] verify = \"ci\"` in `.github/mergexo.toml`. Nothing was changed.", markdown.Code(p.BaseRef))
}

// sentence says in plain words how a place in the train stands.
func (at Place) sentence(p model.Pull) string {
	var parts []string
	switch {
	case at.Car != 0 && at.Branch != "":
		parts = append(parts, fmt.Sprintf("Car %d %s on %s.", at.Car, at.State, branchLink(p, at.Branch)))
	case at.Car != 0:
		parts = append(parts, fmt.Sprintf("Car %d %s.", at.Car, at.State))
	case at.Why != "":
		parts = append(parts, fmt.Sprintf("It waits: %s.", markdown.Plain(at.Why)))
	default:
		parts = append(parts, "It waits for a place in a car.")
	}
	if at.Car != 0 && at.Why != "" {
		parts = append(parts, markdown.Plain(at.Why)+".")
	}
	if at.Position > 0 && !at.Try {
		parts = append(parts, fmt.Sprintf("It is number %d in the queue%s.", at.Position, behind(at.Ahead)))
	}
	if !at.ETA.IsZero() && !at.Try {
		parts = append(parts, fmt.Sprintf("It will probably land at about %s.", at.ETA.UTC().Format("15:04 MST")))
	}
	return strings.Join(parts, " ")
}

func behind(cars []int) string {
	if len(cars) == 0 {
		return ""
	}
	var names []string
	for _, n := range cars {
		names = append(names, fmt.Sprint(n))
	}
	return either(len(cars) == 1, ", behind car ", ", behind cars ") + strings.Join(names, ", ")
}

// TriedText tells the result of a request that only tried; why is empty where everything passed.
func TriedText(p model.Pull, m model.MergeMarker, sha, why string, checks []model.Check) string {
	if why == "" && len(checks) == 0 {
		return fmt.Sprintf("**The try passed.** %s would land on `%s` as %s, and all required checks passed on it. Nothing was landed. `/mergexo merge` lands it.",
			what(p, m), markdown.Code(m.Base), markdown.Commit(p.URL, sha))
	}
	text := fmt.Sprintf("**The try failed.** %s cannot land on `%s`.", what(p, m), markdown.Code(m.Base))
	if why != "" {
		text = strings.TrimSuffix(text, ".") + ": " + markdown.Plain(why) + "."
	}
	if len(checks) > 0 {
		text += "\n\n" + checkList(checks)
	}
	return text + "\n\nNothing was changed."
}

// checkList lists failed checks with their links.
func checkList(checks []model.Check) string {
	var lines []string
	for _, c := range checks {
		lines = append(lines, fmt.Sprintf("- %s failed", markdown.Link("`"+markdown.Code(c.Name)+"`", c.URL)))
	}
	return strings.Join(lines, "\n")
}

// branchLink links a branch of the repository of a pull request.
func branchLink(p model.Pull, branch string) string {
	root, _, found := strings.Cut(p.URL, "/pull/")
	name := "`" + markdown.Code(branch) + "`"
	if !found {
		return name
	}
	return fmt.Sprintf("[%s](%s/tree/%s)", name, root, branch)
}

// CarChecks is how the checks stand that a commit needs before it lands: those that the settings name, by name or name@app,
// and those that the rules of the base name. Where neither names any nothing is known to have passed. failed are those to blame, and open the names of those that have not passed yet. over says that everything that reported has ended.
func CarChecks(entries, rules []string, checks []model.Check) (state model.CheckState, failed []model.Check, open []string, over bool) {
	var all []wanted
	for _, entry := range entries {
		all = append(all, want(entry))
	}
	for _, name := range rules {
		all = append(all, wanted{name: name})
	}
	over = len(checks) > 0
	for _, c := range checks {
		over = over && c.State != model.CheckPending
	}
	if len(all) == 0 {
		return model.CheckPending, nil, nil, over
	}
	for _, w := range all {
		found := w.newest(checks)
		if len(found) == 0 {
			open = append(open, w.name)
		}
		for _, c := range found {
			switch c.State {
			case model.CheckPassed:
			case model.CheckPending:
				open = append(open, w.name)
			default:
				failed = append(failed, c)
			}
		}
	}
	switch {
	case len(failed) > 0:
		return model.CheckFailed, failed, open, over
	case len(open) > 0:
		return model.CheckPending, nil, open, over
	}
	return model.CheckPassed, nil, nil, over
}
