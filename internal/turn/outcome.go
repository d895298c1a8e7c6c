package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Good is what can be posted of an outcome, with a note on each slip: what says nothing, names nothing, or comes twice. Words
// without a place of their own go to the general comment. changed says whether the agent left anything to push.
func Good(o model.Outcome, feedback []model.Comment, changed bool) (good model.Outcome, slips []string) {
	good, good.ReviewReplies = o, nil
	slip := func(format string, args ...any) { slips = append(slips, fmt.Sprintf(format, args...)) }
	for _, r := range o.ReviewReplies {
		r.Body = markdown.Part(r.Body, 2*maxSaid) // no comment on GitHub holds more
		known := slices.ContainsFunc(feedback, func(c model.Comment) bool { return c.Kind == model.KindReview && c.ID == r.ReviewCommentID })
		at := replyTo(good, r.ReviewCommentID)
		switch {
		case blank(r.Body):
			slip("the reply to review comment %d was empty", r.ReviewCommentID)
		case !known:
			slip("%d is not a review comment of this turn, so the reply to it is above", r.ReviewCommentID)
			good.GeneralComment = joined(good.GeneralComment, r.Body)
		case at < 0:
			good.ReviewReplies = append(good.ReviewReplies, r)
		default:
			slip("review comment %d got two replies, which were posted as one", r.ReviewCommentID)
			first := &good.ReviewReplies[at]
			first.Body, first.Done = joined(first.Body, r.Body), first.Done && r.Done
		}
	}
	if !blank(o.CommitMessage) && !changed {
		slip("there was a commit message, but nothing was changed")
		good.CommitMessage = ""
	}
	if f := o.FlakyTestReport; f != nil {
		if why := unreportable(*f, feedback, changed); why != "" {
			slip("there was a report of a flaky test, but %s", why)
			good.FlakyTestReport, good.GeneralComment = nil, joined(joined(good.GeneralComment, f.Title), f.Summary)
		}
	}
	good.GeneralComment = markdown.Part(good.GeneralComment, 2*maxSaid)
	return good, slips
}

// Silent says that an outcome answers nothing.
func Silent(o model.Outcome) bool {
	return len(o.ReviewReplies) == 0 && blank(o.GeneralComment) && o.FlakyTestReport == nil
}

// blank reports whether a text has nothing that people see.
func blank(text string) bool { return strings.TrimSpace(string((&cleaner{}).prose(text).text)) == "" }

// joined is a text with another one as a further paragraph, unless it is the same.
func joined(text, more string) string {
	if text, more = strings.TrimSpace(text), strings.TrimSpace(more); text == more {
		return text
	}
	return strings.TrimSpace(text + "\n\n" + more)
}

// Unusable, with the reason, tells an agent that nothing of its answer can be posted.
const Unusable = "Nothing of your answer can be posted: %s. Answer again, with the ids that are listed: do what the feedback asks for, or say why nothing is to be changed. " +
	"Leave commit_message empty if you changed nothing."

// MaxSession limits a session handle in bytes: every receipt carries it.
const MaxSession = 1024

// maxListed is how many commits a receipt lists.
const maxListed = 20

// Outbox is what remains to be posted of an outcome once its work is staged.
func Outbox(o model.Outcome, feedback []model.Comment, seconds int, commits []model.Commit, notes []string) model.Outbox {
	out := model.Outbox{
		Replies: o.ReviewReplies, Comment: o.GeneralComment, Commits: Listed(commits), Usage: o.Usage, Seconds: seconds, Notes: notes,
	}
	if f := o.FlakyTestReport; f != nil {
		out.Flaky = &model.FlakyTest{Title: name(f.Title, maxFlakyTitle), Summary: markdown.Part(f.Summary, maxSaid), RelevantLogURL: f.RelevantLogURL}
		out.Reruns = reruns(feedback)
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

// Inside tells an agent that all that it did is where nothing is pushed from. %s lists it.
const Inside = "Your changes are all inside submodules, which belong to other repositories. Nothing of them is pushed or kept: %s. Make the change in this repository if you can. " +
	"Otherwise say in your answer what has to change in the other repository."

// Cut shortens the answers of an outbox until a record holds them, and notes that.
func Cut(o *model.Outbox) {
	each := roomForAnswers / (len(o.Replies) + 1)
	o.Comment, o.Replies = markdown.Part(o.Comment, each), slices.Clone(o.Replies)
	for i := range o.Replies {
		o.Replies[i].Body = markdown.Part(o.Replies[i].Body, each)
	}
	o.Notes = append(slices.Clone(o.Notes), "the agent's answers were too long for MergeXO's record, so they were cut; a lower [feedback] max_per_turn splits them into several turns")
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
