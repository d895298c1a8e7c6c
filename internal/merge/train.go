package merge

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Place is where a request is in the merge train.
type Place struct {
	Position int    // in the queue, from 1; 0: it has not joined yet
	Car      int    // 0: it is in none
	Branch   string // that its car is tested on; "": none yet
	Tip      string // of its car; "": none yet
	With     []int  // the others in its car
	Ahead    []int  // the cars that have to land before
	State    string // of the car, in words: "is being tested"
	Why      string // what it waits for, without a full stop; "": for its turn
	Back     string // why the last car that it was tested in was taken apart, likewise; "": none was
	Required []model.TrainCheck
	Checks   []model.Check // the failed ones
	ETA      time.Time     // when it probably lands; zero: unknown
	At       time.Time     // when all this was so, for a comment that is edited at real changes only; zero: it says nothing that may change
	Try      bool
}

// TrainText tells where a request is in the merge train.
func TrainText(p model.Pull, m model.MergeMarker, at Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** of `%s`: %s.", either(at.Try, "Being tried in the merge train", "In the merge train"), markdown.Code(m.Base), what(p, m))
	b.WriteString("\n\n" + at.sentence(p))
	if len(at.Checks) > 0 {
		b.WriteString("\n\n" + checkList(at.Checks))
	} else if names := at.required(p); names != "" {
		b.WriteString("\n\n" + names)
	}
	if at.Try {
		b.WriteString("\n\nNothing lands: this only tests the commit that `/mergexo merge` would land. `/mergexo merge cancel` cancels it.")
	} else {
		b.WriteString("\n\nThe repository's checks test the exact commit that lands. `/mergexo merge cancel` cancels the request.")
	}
	if !at.At.IsZero() {
		fmt.Fprintf(&b, "\n\n<sub>As of %s. `/mergexo why` shows the current state.</sub>", at.At.UTC().Format(momentForm))
	}
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
		"- Kept: the request to merge %s, with its priority and other options. Its place in the queue depends on the time of the request.\n"+
		"- Lost: the cars and their test results, so every car is built and tested again. Also lost: the list of what landed, from which "+
		"MergeXO estimates when a pull request lands.\n\n%s", base, why, what(p, m), rest)
}

// NoTrainText says why a wish for the merge train means nothing.
func NoTrainText(p model.Pull) string {
	return fmt.Sprintf("`priority`, `solo`, `now` and `/mergexo try` are for the merge train, but MergeXO itself tests merges into `%s`. "+
		"To let the repository's checks test them, set `[merge] verify = \"ci\"` in `.github/mergexo.toml`. Nothing was changed.", markdown.Code(p.BaseRef))
}

// momentForm is how comments write a time.
const momentForm = "2 January at 15:04 UTC"

// PlaceText tells the same where other things are said too, in one line.
func PlaceText(p model.Pull, base string, at Place) string {
	text := fmt.Sprintf("**%s** of `%s`. %s", either(at.Try, "Being tried in the merge train", "In the merge train"), markdown.Code(base), at.sentence(p))
	if len(at.Checks) == 0 {
		if names := at.required(p); names != "" {
			text += " " + names
		}
	}
	for _, c := range at.Checks {
		text += " " + failedCheck(c) + "."
	}
	return text
}

// sentence says in plain words how a place in the train stands.
func (at Place) sentence(p model.Pull) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	with := ""
	if len(at.With) > 0 {
		with = ", together with " + list("#", at.With)
	}
	switch {
	case at.Car != 0 && at.Branch != "":
		add("Car %d %s on %s%s.", at.Car, at.State, branchLink(p, at.Branch), with)
	case at.Car != 0 && at.Why == "":
		add("Car %d %s%s.", at.Car, at.State, with)
	case at.Why != "":
		add("It waits: %s.", markdown.Plain(at.Why))
	default:
		add("It waits for a place in a car.")
	}
	if at.Car != 0 && at.Branch != "" && at.Why != "" {
		add("%s.", upper(markdown.Plain(at.Why)))
	}
	if at.Back != "" {
		add("%s.", upper(markdown.Plain(at.Back)))
	}
	if at.Position > 0 && !at.Try {
		behind := ""
		if len(at.Ahead) > 0 {
			behind = either(len(at.Ahead) == 1, ", behind car ", ", behind cars ") + list("", at.Ahead)
		}
		add("It is number %d in the queue%s.", at.Position, behind)
	}
	if !at.ETA.IsZero() && !at.Try {
		add("It will probably land on %s, judging by recent landings.", at.ETA.UTC().Format(momentForm))
	}
	return strings.Join(parts, " ")
}

// required names the checks that a car needs, each linked once it has begun; "": none is known.
func (at Place) required(p model.Pull) string {
	if len(at.Required) == 0 || at.Tip == "" {
		return ""
	}
	return fmt.Sprintf("%s on [`%s`](%s/commit/%s/checks): %s.", either(len(at.Required) == 1, "Required check", "Required checks"),
		markdown.Short(at.Tip), markdown.Repository(p.URL), at.Tip, checkNames(at.Required))
}

// checkNames names checks, each linked once it has begun.
func checkNames(list []model.TrainCheck) string {
	var names []string
	for _, c := range list[:min(len(list), mostNamed)] {
		names = append(names, markdown.Link("`"+markdown.Code(c.Name)+"`", c.URL))
	}
	if n := len(list) - mostNamed; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// mostNamed is how many required checks of a car are named.
const mostNamed = 20

// list names numbers in words: "#1, #2 and #3".
func list(mark string, numbers []int) string {
	var names []string
	for _, n := range numbers {
		names = append(names, fmt.Sprint(mark, n))
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

// TriedText tells the result of a request that only tried; why is empty where everything passed.
func TriedText(p model.Pull, m model.MergeMarker, sha, why string, checks []model.Check) string {
	head, by := markdown.Commit(p.URL, m.Head), ""
	if m.By != "" {
		by = " Requested by " + m.By + "."
	}
	if why == "" && len(checks) == 0 {
		return fmt.Sprintf("**The try passed.** %s would land on `%s` as %s, and all required checks passed on exactly that commit.%s\n\nNothing has landed. `/mergexo merge` lands it.",
			head, markdown.Code(m.Base), markdown.Commit(p.URL, sha), by)
	}
	text := fmt.Sprintf("**The try failed.** %s cannot land on `%s`", head, markdown.Code(m.Base))
	switch {
	case why != "":
		text += ": " + markdown.Plain(why)
	case sha != "":
		text += ": required checks failed on " + markdown.Commit(p.URL, sha)
	}
	text += "." + by
	if len(checks) > 0 {
		text += "\n\n" + checkList(checks)
	}
	return text + "\n\nNothing was changed."
}

// checkList lists failed checks with their links.
func checkList(checks []model.Check) string {
	var lines []string
	for _, c := range checks {
		lines = append(lines, "- "+failedCheck(c))
	}
	return strings.Join(lines, "\n")
}

// upper is a sentence that was part of another one.
func upper(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

func failedCheck(c model.Check) string {
	return markdown.Link("`"+markdown.Code(c.Name)+"`", c.URL) + " failed"
}

// branchLink links a branch of the repository of a pull request.
func branchLink(p model.Pull, branch string) string {
	if !strings.Contains(p.URL, "/pull/") {
		return "`" + markdown.Code(branch) + "`"
	}
	return markdown.Branch(p.URL, branch)
}
