package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Invalid describes what is wrong with a parsed outcome.
type Invalid struct{ Field, Detail string }

func (e *Invalid) Error() string { return e.Field + ": " + e.Detail }

// Validate checks an outcome against the feedback it answers. changed says whether the agent left anything to push:
// commits of its own or uncommitted changes.
func Validate(o model.Outcome, feedback []model.Comment, changed bool) error {
	var seen []int64
	for i, r := range o.ReviewReplies {
		at := fmt.Sprintf("review_replies[%d]", i)
		known := slices.ContainsFunc(feedback, func(c model.Comment) bool {
			return c.Kind == model.KindReview && c.ID == r.ReviewCommentID
		})
		switch {
		case !known:
			return &Invalid{at + ".review_comment_id", fmt.Sprintf("%d is not a review comment of this turn", r.ReviewCommentID)}
		case slices.Contains(seen, r.ReviewCommentID):
			return &Invalid{at + ".review_comment_id", fmt.Sprintf("a second reply to %d", r.ReviewCommentID)}
		case strings.TrimSpace(r.Body) == "":
			return &Invalid{at + ".body", "empty"}
		}
		seen = append(seen, r.ReviewCommentID)
	}
	if err := checkFlaky(o, feedback, changed); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(o.CommitMessage) != "" && !changed:
		return &Invalid{"commit_message", "given, but nothing changed in the checkout"}
	case strings.TrimSpace(o.CommitMessage) == "" && o.CommitMessage != "":
		return &Invalid{"commit_message", "only white space"}
	case len(o.Session) > maxSession:
		return &Invalid{"session", fmt.Sprintf("%d bytes; at most %d fit into a receipt", len(o.Session), maxSession)}
	}
	return nil
}

// maxSession limits a session handle in bytes: every receipt carries it.
const maxSession = 1024

// maxListed is how many commits a receipt lists.
const maxListed = 20

// Outbox is what remains to be posted of an outcome once its work is staged.
func Outbox(o model.Outcome, feedback []model.Comment, seconds int, commits []model.Commit, notes []string) model.Outbox {
	out := model.Outbox{
		Replies: o.ReviewReplies, Comment: o.GeneralComment, Commits: Listed(commits), Usage: o.Usage, Seconds: seconds, Notes: notes,
	}
	if o.FlakyTestReport != nil {
		out.Flaky, out.Reruns = o.FlakyTestReport, reruns(feedback)
	}
	for _, c := range feedback {
		if c.Thread() != c.ID {
			if out.Threads == nil {
				out.Threads = map[int64]int64{}
			}
			out.Threads[c.ID] = c.Thread()
		}
	}
	return out
}

// Resolves are the threads with which an outcome is done, by the review comments that it answers there. A thread stays open if any
// answer in it is a no, a question or half of what was asked for, and if what was said in it last has no answer.
func Resolves(o model.Outcome, feedback []model.Comment) map[int64]string {
	last, open := map[string]int64{}, map[string]bool{}
	for _, c := range feedback {
		if c.Kind != model.KindReview || c.ThreadNode == "" {
			continue
		}
		last[c.ThreadNode] = max(last[c.ThreadNode], c.ID)
		if at := replyTo(o, c.ID); at >= 0 && !o.ReviewReplies[at].Done {
			open[c.ThreadNode] = true
		}
	}
	var out map[int64]string
	for node, id := range last {
		if open[node] || replyTo(o, id) < 0 {
			continue
		}
		if out == nil {
			out = map[int64]string{}
		}
		out[id] = node
	}
	return out
}

// replyTo is the index of the reply to a review comment; -1 for none.
func replyTo(o model.Outcome, id int64) int {
	return slices.IndexFunc(o.ReviewReplies, func(r model.ReviewReply) bool { return r.ReviewCommentID == id })
}

// Resolvable reports whether nobody has said anything in the thread of an answered review comment since, and whether it is resolved
// already.
func Resolvable(answered int64, feedback, now []model.Comment) (open, resolved bool) {
	root := answered
	for _, c := range now {
		if c.Kind == model.KindReview && c.ID == answered {
			root, resolved = c.Thread(), c.Resolved
		}
	}
	for _, c := range now {
		ours := slices.ContainsFunc(feedback, func(f model.Comment) bool { return f.Kind == c.Kind && f.ID == c.ID })
		if c.Kind == model.KindReview && c.Thread() == root && c.ID > answered && !c.Ours && !ours {
			return false, resolved
		}
	}
	return true, resolved
}

// roomForAnswers is how many characters of answers fit into a record even if they hardly compress.
const roomForAnswers = 40_000

// Shorter tells an agent to shorten its answers, and to what length.
func Shorter(o model.Outcome) string {
	n := len(o.GeneralComment)
	for _, r := range o.ReviewReplies {
		n += len(r.Body)
	}
	return fmt.Sprintf("Your answers are too long to be recorded: %s to review comments and the general_comment have %d characters together. Give each of them again, with the same ids, "+
		"in at most %d characters together. What you changed is kept: change nothing more.", markdown.Count(len(o.ReviewReplies), "answer"), n, roomForAnswers)
}

// TooLong says why answers to so much feedback cannot be recorded, and what to do.
func TooLong(feedback int, err error) string {
	fix := "shorten the answers"
	if feedback > 1 {
		fix = fmt.Sprintf("set [feedback] max_per_turn below %d to split this into several turns", feedback)
	}
	return fmt.Sprintf("the answers are too long to be recorded: %s; %s", err, fix)
}

// Listed keeps the newest commits, as many as a receipt lists.
func Listed(commits []model.Commit) []model.Commit { return commits[max(0, len(commits)-maxListed):] }

// Join appends a repair round's answers to those of earlier rounds: the newest answer wins, and nothing is answered twice.
func Join(before, now model.Outcome) model.Outcome {
	all := now
	all.ReviewReplies = slices.Clone(now.ReviewReplies)
	for _, r := range before.ReviewReplies {
		if !slices.ContainsFunc(now.ReviewReplies, func(n model.ReviewReply) bool { return n.ReviewCommentID == r.ReviewCommentID }) {
			all.ReviewReplies = append(all.ReviewReplies, r)
		}
	}
	all.GeneralComment = cmp.Or(now.GeneralComment, before.GeneralComment)
	all.Title, all.Summary, all.DesignDoc = cmp.Or(now.Title, before.Title), cmp.Or(now.Summary, before.Summary), cmp.Or(now.DesignDoc, before.DesignDoc)
	all.Goal = cmp.Or(now.Goal, before.Goal)
	if len(now.RoadmapItems) == 0 {
		all.RoadmapItems = before.RoadmapItems
	}
	all.PRTitle, all.PRSummary = cmp.Or(now.PRTitle, before.PRTitle), cmp.Or(now.PRSummary, before.PRSummary)
	if len(now.TouchPaths) == 0 {
		all.TouchPaths = before.TouchPaths
	}
	if all.FlakyTestReport == nil {
		all.FlakyTestReport = before.FlakyTestReport
	}
	all.Session = cmp.Or(now.Session, before.Session)
	all.Usage.InputTokens += before.Usage.InputTokens
	all.Usage.OutputTokens += before.Usage.OutputTokens
	all.Usage.CostUSD += before.Usage.CostUSD
	return all
}
