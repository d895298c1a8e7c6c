package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Texts for people. Everything here is Markdown for a comment; the journal neutralizes foreign text.

// TrackText stands above the marker that starts tracking. ignore is the label that stops it.
func TrackText(ignore string) string {
	return fmt.Sprintf("**MergeXO is on.** Comment on a line and the agent answers with a commit. `/mergexo merge` tests and merges; `/mergexo help` lists commands; "+
		"the label `%s` turns it off.", markdown.Code(ignore))
}

// ClaimText stands above a claim while the agent works.
func ClaimText(p model.Pull, feedback []model.Comment, m model.TurnMarker) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Working on %s** from %s%s%s\n", counted(feedback), markdown.Commit(p.URL, m.Start), attempt(m), markdown.Run(m.RunURL))
	for _, c := range feedback {
		fmt.Fprintf(&b, "\n- %s", mention(c))
	}
	b.WriteString(Earlier(p.URL, m.Tries))
	return b.String()
}

// PlannedText replaces the claim's text once the work is safe on GitHub.
func PlannedText(p model.Pull, feedback []model.Comment, m model.TurnMarker) string {
	if m.Planned == Base(m) {
		return ClaimText(p, feedback, m) + "\n\nThe answers are ready and will be posted next."
	}
	return ClaimText(p, feedback, m) + fmt.Sprintf("\n\nThe work is done and kept as %s. It will be published next.", plannedAt(p, m))
}

// plannedAt is the planned commit, with its branch if people can see that.
func plannedAt(p model.Pull, m model.TurnMarker) string {
	if branch, is := strings.CutPrefix(m.Stage, "refs/heads/"); is {
		return fmt.Sprintf("%s on branch %s", markdown.Commit(p.URL, m.Planned), markdown.Tree(p.URL, branch, m.Planned))
	}
	return markdown.Commit(p.URL, m.Planned)
}

// Answer is a reply as a receipt links it.
type Answer struct {
	Feedback model.Comment
	ReplyURL string // empty: answered by the receipt itself
	Gone     bool   // the comment was deleted before it could be answered
}

// maxSaid limits an agent's text in a receipt, in bytes, to leave room for ours.
const maxSaid = 30_000

// ReceiptText says what a turn changed and answered.
func ReceiptText(p model.Pull, answers []Answer, o model.Outbox, m model.TurnMarker) string {
	var b strings.Builder
	commits := o.Commits
	fmt.Fprintf(&b, "**Answered %s**", answered(answers, m.Events))
	switch {
	case m.Head == Base(m):
		b.WriteString("; no commit was needed")
	case len(commits) == 1:
		fmt.Fprintf(&b, " with commit %s", markdown.Commit(p.URL, m.Head))
	default:
		fmt.Fprintf(&b, " with [commits](%s/files/%s..%s) up to %s", p.URL, Base(m), m.Head, markdown.Commit(p.URL, m.Head))
	}
	b.WriteString("\n")
	if c := markdown.Part(strings.TrimSpace(o.Comment), maxSaid); c != "" {
		b.WriteString("\n" + c + "\n")
	}
	flaky := o.Flaky != nil && m.Flaky != nil
	if flaky {
		b.WriteString("\n" + reported(*m.Flaky) + "\n")
	}
	b.WriteString("\n| feedback | answer |\n| --- | --- |\n")
	for _, a := range answers {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(mention(a.Feedback), "|", `\|`), a.where(strings.TrimSpace(o.Comment) != "" || flaky && a.Feedback.Kind == model.KindActions))
	}
	for i, c := range commits {
		if i == 0 {
			b.WriteString("\nCommits:\n")
		}
		b.WriteString(markdown.Listed(p.URL, c.SHA, c.Subject, ""))
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "\n\n> %s", markdown.Inline(n))
	}
	b.WriteString(Earlier(p.URL, WorthTelling(m.Tries)))
	if s := markdown.Cost(o.Seconds, o.Usage.InputTokens+o.Usage.OutputTokens, o.Usage.CostUSD); s != "" {
		fmt.Fprintf(&b, "\n\n%s%s", s, markdown.Run(m.RunURL))
	}
	return b.String()
}

// where links the answer. said says that the receipt itself has one.
func (a Answer) where(said bool) string {
	switch {
	case a.Gone:
		return "none: the comment was deleted"
	case a.ReplyURL != "":
		return fmt.Sprintf("[reply](%s)", a.ReplyURL)
	case said:
		return "above"
	}
	return "read; no reply needed"
}

// counted says in words how much feedback there is.
func counted(feedback []model.Comment) string {
	answers := make([]Answer, len(feedback))
	for i, c := range feedback {
		answers[i].Feedback = c
	}
	return answered(answers, nil)
}

// answered says in words how much a turn answers: some of the events may be deleted.
func answered(answers []Answer, events []string) string {
	there, listed := map[string]int{}, map[string]int{}
	for _, a := range answers {
		there[noun(a.Feedback.Kind)]++
	}
	for _, e := range events {
		listed[noun(model.Kind(strings.Split(e+"::", ":")[1]))]++
	}
	var parts []string
	for _, what := range []string{noun(model.KindIssue), noun(model.KindActions), noun(model.KindMerge)} {
		if n := max(there[what], listed[what]); n > 0 {
			parts = append(parts, markdown.Count(n, what))
		}
	}
	return cmp.Or(strings.Join(parts, " and "), "0 comments")
}

// noun is what people call a piece of feedback when they count.
func noun(k model.Kind) string {
	return cmp.Or(map[model.Kind]string{model.KindActions: "failed workflow run", model.KindMerge: "failed merge"}[k], "comment")
}

// Base is the head that the turn's commits are on.
func Base(m model.TurnMarker) string { return cmp.Or(m.Onto, m.Start) }

// FailedText says that an attempt failed, and what happens next.
func FailedText(p model.Pull, feedback []model.Comment, m model.TurnMarker, follows string) string {
	var b strings.Builder
	head := fmt.Sprintf("**Stopped working on %s**%s", counted(feedback), attempt(m))
	if m.Phase == model.PhaseFailed && m.Attempt >= MaxAttempts {
		head = fmt.Sprintf("**Failed** after %d attempts: %s", m.Attempt, counted(feedback))
	}
	b.WriteString(head + markdown.Run(m.RunURL) + "\n\n")
	if follows == Last { // the block lists the attempts
		return b.String() + follows
	}
	if m.Reason != "" {
		b.WriteString(markdown.Failure(inWords(m.Reason, p)) + "\n\n")
	}
	b.WriteString(follows)
	switch {
	case m.Kept != model.Kept{}:
		b.WriteString("\n\n" + kept(p, Base(m), m.Kept))
	case m.Planned != "" && m.Planned != Base(m):
		fmt.Fprintf(&b, "\n\nThe work so far is kept as %s.", plannedAt(p, m))
	}
	b.WriteString(Earlier(p.URL, m.Tries))
	return b.String()
}

// Later is the sentence below an attempt that does not count because only time ran out.
const Later = "Nothing was pushed, and this attempt does not count. " + next

// Interrupted is the sentence below an attempt that its run could not bring to an end.
const Interrupted = "Nothing was pushed. " + next

// next says when the next attempt starts.
const next = "The next one starts with the next event or scheduled run, or with `/mergexo retry`."

// Last is the sentence below the last attempt; why the pull request is blocked then stands in a comment of its own.
const Last = "Nothing was pushed. Comments are kept; the next comment says how to continue."

// Retry is the sentence below a failure that will be retried.
func Retry(m model.TurnMarker) string {
	return fmt.Sprintf("Nothing was pushed. Attempt %d of %d failed. %s", m.Attempt, MaxAttempts, next)
}

func attempt(m model.TurnMarker) string {
	if m.Attempt > 1 {
		return fmt.Sprintf(", attempt %d of %d", m.Attempt, MaxAttempts)
	}
	return ""
}

func mention(c model.Comment) string {
	if c.Kind == model.KindActions {
		return fmt.Sprintf("[failed workflow run](%s) of %s", c.URL, markdown.Inline(c.Author.Login))
	}
	what := map[model.Kind]string{model.KindReviewSummary: "review", model.KindIssue: "comment", model.KindMerge: noun(c.Kind)}[c.Kind]
	if c.Kind == model.KindReview {
		what = "`" + markdown.Code(c.Path) + "`"
		if c.Line > 0 {
			what += " " + strings.ReplaceAll(c.Named(), " of the new version", "")
		}
	}
	return fmt.Sprintf("[%s](%s) by %s", what, c.URL, c.Author.Login)
}

// Find returns the feedback of these event keys in a snapshot, and the keys of deleted feedback.
func Find(s model.Snapshot, keys []string) (found []model.Comment, missing []string) {
	all := slices.Concat(s.Comments, s.Failures)
	for _, k := range keys {
		i := slices.IndexFunc(all, func(c model.Comment) bool { return c.Key(s.Pull.Number) == k })
		if i < 0 {
			missing = append(missing, k)
			continue
		}
		found = append(found, all[i])
	}
	return found, missing
}
