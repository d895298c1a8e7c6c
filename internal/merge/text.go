package merge

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// What people read of a request to merge. Everything here is Markdown for its comment; the journal neutralizes what others
// wrote in it, and adds the marker. Of the marker what is filled in counts.

// WaitText tells what a request waits for, or what is left of one that has landed in part.
func WaitText(p model.Pull, m model.MergeMarker, v Verdict) string {
	waits := "**Waiting to be merged**: " + what(p, m)
	if list := landed(p, m); len(list) > 0 {
		waits = "**Merged in part**: " + strings.Join(list, ", ") + ". The rest waits"
	}
	return fmt.Sprintf("%s%s\n\n%s\n\nThe merge starts automatically once these are resolved, unless the head changes. `/mergexo merge cancel` cancels the request; `/mergexo why` lists every condition.%s",
		waits, markdown.Run(m.RunURL), unmet(v), together(p, m))
}

// RefuseText tells why a request is not taken. It has no marker.
func RefuseText(p model.Pull, v Verdict) string {
	e := endOf(v.Code, p.BaseRef)
	var b strings.Builder
	fmt.Fprintf(&b, "**Not merged: %s** (`%s`). Nothing was changed.\n\n%s", e.headline, v.Code, unmet(v))
	if next := e.next(asker{}); next != "" {
		b.WriteString("\n\n" + next)
	}
	return b.String()
}

// RunningText tells that a merge is in progress; most is how many attempts there are.
func RunningText(p model.Pull, m model.MergeMarker, most int) string {
	text := fmt.Sprintf("**Merging** %s%s%s", what(p, m), attempt(m, most), markdown.Run(m.RunURL))
	if m.Tip != "" {
		text += fmt.Sprintf("\n\n%s is tested and then merged.", markdown.Commit(p.URL, m.Tip))
	}
	return text + together(p, m)
}

// HaltedText tells of an attempt that its run could not bring to an end: the next one goes on.
func HaltedText(p model.Pull, m model.MergeMarker, most int) string {
	return fmt.Sprintf("%s\n\nThis attempt stopped: %s. %s", RunningText(p, m, most), markdown.Plain(m.Cause), end{then: thenRetry}.next(asker{}))
}

// Landing is what a merge did.
type Landing struct {
	Commits []model.Moved // that are on the base now, oldest first
	More    int           // older ones that are not among them
	Tests   TestRun
	Car     *Car     // of the merge train, which was tested in place of Tests; nil: it came by none
	Foreign bool     // somebody else has merged it
	Notes   []string // what else people should know: short sentences, in words of others too; whole SHAs become links
	Seconds int
	Waits   bool // GitHub does not show the pull request as merged yet
	Closed  bool // GitHub did not show the pull request as merged in time, so that it was closed
	// Fields are the list fields that a frontmatter-union joined.
	Fields []string
	// Unanswered is how many comments of people who are heard have no answer.
	Unanswered int
}

// DoneText tells what landed.
func DoneText(p model.Pull, m model.MergeMarker, l Landing) string {
	var b strings.Builder
	picked := l.Closed && NeverShown(m.Strategy, p)
	if m.Mirror != "" || picked {
		fmt.Fprintf(&b, "Thank you%s! Your changes are on `%s` as %s.\n\n", mention(p.Author), markdown.Code(m.Base), markdown.Commit(p.URL, m.Landed))
	}
	fmt.Fprintf(&b, "**Merged**: %s%s\n\n`%s` %s %s. %s", what(p, m), markdown.Run(m.RunURL), markdown.Code(m.Base), either(l.Car.last(m), "is at", "contains"), markdown.Commit(p.URL, m.Landed), l.tested(p, m))
	switch {
	case picked:
		b.WriteString("\n\nThe commits were cherry-picked, so GitHub cannot show this pull request as merged. It is closed instead.")
	case l.Closed:
		b.WriteString(closedText(p, m))
	case l.Waits:
		b.WriteString(badgeText(p, m))
	}
	if m.Strategy == model.StrategyUnion {
		fmt.Fprintf(&b, "\n\nOnly list fields%s were merged. The text and all other fields are those of `%s`, even if the pull request changes them.", names(" ", quoted(l.Fields)), markdown.Code(m.Base))
	}
	b.WriteString(commits(p, "Commits", l.Commits, l.More))
	if l.Unanswered > 0 {
		fmt.Fprintf(&b, "\n\n%s unanswered. MergeXO does not answer after a merge.", either(l.Unanswered == 1, "1 comment here is", fmt.Sprintf("%d comments here are", l.Unanswered)))
	}
	b.WriteString(notes(p, l.Notes))
	b.WriteString(together(p, m))
	if l.Seconds > 0 {
		fmt.Fprintf(&b, "\n\nThis took %d s.", l.Seconds)
	}
	return b.String()
}

// RetargetedText tells on a pull request that it has the base of the one whose branch it was based on, which has landed.
func RetargetedText(landed model.Pull, base string) string {
	from, to := markdown.Code(landed.HeadRef), markdown.Code(base)
	return fmt.Sprintf("The base of this pull request is now `%s`: #%d has merged `%s` into it. An approval or a request to merge it into `%s` no longer counts.", to, landed.Number, from, from)
}

var personal = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$`)

// mention names a person so that they hear of it; nobody does for a bot, whose login has brackets.
func mention(a model.Actor) string {
	if !personal.MatchString(a.Login) {
		return ""
	}
	return ", @" + a.Login
}

// CancelText takes the place of a request that an operator has taken back. What has landed of its group stays.
func CancelText(p model.Pull, m model.MergeMarker, by string) string {
	return fmt.Sprintf("**Cancelled** by %s: %s. %s", by, what(p, m), untouched(p, m, Failure{}))
}

// CancelWaitsText takes the place of a request that an operator has taken back, where a part of its group cannot be read for this
// reason. The marker's detail is who took it back.
func CancelWaitsText(p model.Pull, m model.MergeMarker, part model.MergeMember, why string) string {
	text := fmt.Sprintf("**Cancelled** by %s: %s. Nothing more is merged.", m.Detail, what(p, m))
	if len(landed(p, m)) > 0 {
		text += " " + untouched(p, m, Failure{})
	}
	return fmt.Sprintf("%s\n\n%s cannot be read and may have been merged. The request ends once MergeXO can read it.%s",
		text, reference(part.Repo, part.Number, page(p, part.Repo, part.Number)), detail(why))
}

// SupersededText takes the place of a request that a later one has replaced, which stands at url.
func SupersededText(p model.Pull, m model.MergeMarker, url string) string {
	return fmt.Sprintf("**Replaced** by a [later request](%s): %s. Nothing was changed.", url, what(p, m))
}

// Plan is what a merge would do, as a dry run found out.
type Plan struct {
	Commits   []model.Moved // that would land, oldest first
	More      int           // older ones that are not among them
	BaseSHA   string
	Tip       string
	Tests     TestRun // of which Argv and Why count
	Train     bool    // the merge train has CI test it, with Checks
	Checks    []string
	Conflicts *Conflicts
	Notes     []string
	// Code and Detail say why nothing would land, where it is no conflict.
	Code   model.MergeCode
	Detail string
	Proof  []string // as in Failure
}

const dryRun = "This was a dry run: nothing was changed, and no tests were run."

// DryRunText tells what would happen. plan is nil where nothing was built.
func DryRunText(p model.Pull, m model.MergeMarker, v Verdict, plan *Plan) string {
	var b strings.Builder
	switch {
	case v.Go && plan != nil && (plan.Conflicts != nil || plan.Code != ""):
		b.WriteString("**Cannot be merged**")
	case !v.Go && !v.Wait:
		fmt.Fprintf(&b, "**Cannot be merged** (`%s`)", v.Code)
	case v.Go && v.Way.Strategy == model.StrategyQueue:
		b.WriteString("**Ready for GitHub's merge queue**")
	case v.Go && plan != nil && plan.Train:
		b.WriteString("**Ready for the merge train**")
	case v.Go:
		b.WriteString("**Ready to merge**")
	default:
		b.WriteString("**Not ready to merge**")
	}
	if v.Way.Why != "" {
		m.Strategy = "" // which is named here
		fmt.Fprintf(&b, " with `%s` (%s)", v.Way.Strategy, markdown.Plain(v.Way.Why))
	}
	fmt.Fprintf(&b, ": %s\n", what(p, m))
	if list := unmet(v); list != "" {
		b.WriteString("\n" + list + "\n")
	}
	if plan != nil {
		b.WriteString("\n" + strings.TrimSpace(plan.text(p)))
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + dryRun
}

func (plan *Plan) text(p model.Pull) string {
	var b strings.Builder
	if plan.Conflicts != nil {
		return "\n\n" + ConflictText(p, *plan.Conflicts)
	}
	if plan.Code != "" {
		e := Failure{Code: plan.Code, Proof: plan.Proof}.end(model.MergeMarker{Base: p.BaseRef})
		fmt.Fprintf(&b, "\n\nBlocked by: %s (`%s`).%s", e.headline, plan.Code, either(len(plan.Proof) > 0, proof(p, plan.Proof), detail(plan.Detail)))
		return b.String()
	}
	if plan.Tip != "" {
		fmt.Fprintf(&b, " The base is at %s.", markdown.Commit(p.URL, plan.BaseSHA))
	}
	heading := "These commits would land"
	if plan.Train {
		heading += " if nothing lands before them"
		b.WriteString(plan.checks())
	}
	switch {
	case plan.Tests.Argv != nil:
		fmt.Fprintf(&b, " The tests would run with %s%s%s.", said(plan.Tests.Argv), plan.Tests.origin(), plan.Tests.after())
	case !plan.Train:
		fmt.Fprintf(&b, " No tests would run: %s.", plan.Tests.untested())
	}
	b.WriteString(commits(p, heading, plan.Commits, plan.More))
	b.WriteString(notes(p, plan.Notes))
	return b.String()
}

// checks names what has to pass on a car.
func (plan *Plan) checks() string {
	if len(plan.Checks) == 0 {
		return " No check is required, so nothing would test it."
	}
	return fmt.Sprintf(" In the train, %s must pass: %s.", markdown.Count(len(plan.Checks), "required check"), strings.Join(quoted(plan.Checks), ", "))
}

// what is a request in words: what goes where, how and for whom.
func what(p model.Pull, m model.MergeMarker) string {
	text := move(p, m)
	switch {
	case m.Label != "" && !m.ByLabel():
		text += fmt.Sprintf(", accepted by %s with label `%s`", m.By, markdown.Code(m.Label))
	case m.By != "":
		text += ", requested by " + m.By
	}
	return text
}

// requested is a request in words, as a sentence without its end.
func requested(p model.Pull, m model.MergeMarker) string {
	if (m.Label == "" || m.ByLabel()) && m.By != "" {
		return "Requested by " + m.By + ": merge " + move(p, m)
	}
	return "Requested: merge " + what(p, m)
}

// move is what goes where, and how.
func move(p model.Pull, m model.MergeMarker) string {
	head := "`" + markdown.Code(p.HeadRef) + "`"
	if m.Head != "" {
		head = markdown.Commit(p.URL, m.Head)
	}
	if m.MirrorSHA != "" && m.MirrorSHA != m.Head {
		head += fmt.Sprintf(", with commits on top up to %s,", markdown.Commit(p.URL, m.MirrorSHA))
	}
	text := fmt.Sprintf("%s into `%s`", head, markdown.Code(m.Base))
	if m.Strategy != "" {
		text += either(m.Strategy == model.StrategyNoFF, " with a merge commit", " by "+markdown.Code(m.Strategy))
	}
	return text
}

// unmet lists the gates that are not met.
func unmet(v Verdict) string {
	var lines []string
	for _, g := range v.Unmet() {
		line := markdown.Coded(markdown.OneLine(g.Evidence))
		if first, _, _ := strings.Cut(line, " "); !strings.ContainsAny(first, "/#") { // the name of a member stays as it is
			line = upper(line)
		}
		lines = append(lines, "- "+line)
	}
	return strings.Join(lines, "\n")
}

func attempt(m model.MergeMarker, most int) string {
	if m.Attempt > 1 {
		return fmt.Sprintf(", attempt %d of %d", m.Attempt, most)
	}
	return ""
}

// maxCommits is how many commits a comment lists.
const maxCommits = 30

// commits lists commits under a heading, the newest of too many, each with the one that it was made from.
func commits(p model.Pull, heading string, list []model.Moved, more int) string {
	if len(list) == 0 {
		return ""
	}
	if n := len(list) - maxCommits; n > 0 {
		list, more = list[n:], more+n
	}
	var b strings.Builder
	b.WriteString("\n\n" + heading + ":\n")
	if more > 0 {
		fmt.Fprintf(&b, "\n- %s", markdown.Count(more, "older commit"))
	}
	for _, c := range list {
		b.WriteString(markdown.Listed(p.URL, c.SHA, c.Subject, ""))
		if c.Was != "" && c.Was != c.SHA {
			fmt.Fprintf(&b, ", made from %s", markdown.Commit(p.URL, c.Was))
		}
	}
	return b.String()
}

// quoted are names as code.
func quoted(list []string) []string {
	var out []string
	for _, name := range list {
		out = append(out, "`"+markdown.Code(name)+"`")
	}
	return out
}

func notes(p model.Pull, list []string) string {
	var b strings.Builder
	for _, n := range list {
		b.WriteString("\n\n> " + linked(p, n))
	}
	return b.String()
}

var wholeSHA = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// linked is one line of text with its commits linked.
func linked(p model.Pull, s string) string {
	s = markdown.Plain(markdown.OneLine(s))
	if p.URL == "" { // nothing to link to
		return wholeSHA.ReplaceAllStringFunc(s, markdown.Short)
	}
	return wholeSHA.ReplaceAllStringFunc(s, func(sha string) string { return markdown.Commit(p.URL, sha) })
}

// proof tells why there is nothing to merge.
func proof(p model.Pull, sentences []string) string {
	var b strings.Builder
	b.WriteString("\n")
	for i, s := range sentences {
		if i == maxCommits {
			fmt.Fprintf(&b, "\n- and %d more", len(sentences)-i)
			break
		}
		b.WriteString("\n- " + linked(p, s))
	}
	return b.String()
}
