package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// suggestion is an agent without a model: it applies the suggestion blocks of review comments exactly at their lines, and
// the diff blocks of issues.
type suggestion struct{ files Files }

func newSuggestion(opt Options) (Agent, error) { return suggestion{opt.Files}, nil }

const suggestionOnly = "this agent only applies the suggestion blocks of review comments"

// proposal is one review comment with a suggestion block, and the result.
type proposal struct {
	feedback    model.Feedback
	first, last int // lines, from 1
	lines       []string
	further     int    // further blocks in the same comment
	changed     bool   // whether the file is another one now
	refused     string // why it was not applied
}

// Run applies what it can and answers every review comment, also those it can do nothing about.
func (s suggestion) Run(ctx context.Context, dir string, req model.Request) (model.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return model.Outcome{}, &Error{Kind: Canceled, Exit: -1, Detail: "stopped because the run was", Err: err}
	}
	if reads(req) {
		return model.Outcome{}, &Error{Kind: Start, Exit: -1, Detail: "the adapter \"suggestion\" has no model and cannot review: set adapter under [review]"}
	}
	if begins(req) {
		return beginPull(ctx, s.files, dir, req)
	}
	if req.Kind == model.AskRepair {
		return unapplied(req), nil
	}
	var found []*proposal
	var outcome model.Outcome
	talk := 0
	for _, f := range req.Feedback {
		if f.Kind != model.KindReview {
			talk++
			continue
		}
		if p := propose(f); p != nil {
			found = append(found, p)
		} else {
			outcome.ReviewReplies = append(outcome.ReviewReplies, model.ReviewReply{ReviewCommentID: f.ID, Body: "There is no suggestion block here; " + suggestionOnly + "."})
		}
	}
	if err := applyAll(ctx, s.files, dir, found); err != nil {
		return model.Outcome{}, &Error{Kind: Exit, Exit: -1, Detail: err.Error(), Err: err}
	}
	for _, p := range found {
		outcome.ReviewReplies = append(outcome.ReviewReplies, model.ReviewReply{ReviewCommentID: p.feedback.ID, Body: p.answer(), Done: p.refused == "" && p.further == 0})
	}
	outcome.CommitMessage = commitMessage(found)
	outcome.GeneralComment = summary(found, talk)
	return outcome, nil
}

// unapplied answers suggestions whose work does not hold: without a model there is no repair.
func unapplied(req model.Request) model.Outcome {
	why := fmt.Sprintf("Not applied: the tests fail with this suggestion. The end of the output:\n\n%s\n\nEdit the suggestion, or resolve the thread.", markdown.Quote(output(req)))
	out := model.Outcome{DeadEnd: true, GeneralComment: "Not applied; the reply says why."}
	for _, f := range req.Feedback {
		if f.Kind == model.KindReview && propose(f) != nil {
			out.ReviewReplies = append(out.ReviewReplies, model.ReviewReply{ReviewCommentID: f.ID, Body: why})
		}
	}
	return out
}

// output returns the log of the last failed check.
func output(req model.Request) (log string) {
	for _, c := range req.CI {
		log = c.Log
	}
	return log
}

// propose reads a comment; nil when there is no suggestion block in it.
func propose(f model.Feedback) *proposal {
	blocks := markdown.Blocks(f.Body, "suggestion")
	if len(blocks) == 0 {
		return nil
	}
	p := &proposal{feedback: f, first: f.StartLine, last: f.Line, lines: blocks[0].Lines, further: len(blocks) - 1}
	if p.first == 0 {
		p.first = p.last
	}
	switch {
	case !blocks[0].Closed:
		p.refused = "the suggestion block has no end"
	case f.Line <= 0:
		p.refused = "the comment is outdated, or about the whole file"
	case f.OfOld():
		p.refused = "it is about " + f.Named() + ", and a suggestion replaces lines of the new version only"
	case f.StartLine != 0 && f.StartSide == "":
		p.refused = "GitHub did not show on which side of the diff it begins"
	case p.first < 1 || p.first > p.last:
		p.refused = fmt.Sprintf("lines %d to %d are no range", p.first, p.last)
	}
	return p
}

// applyAll applies what can be applied, file by file.
func applyAll(ctx context.Context, files Files, dir string, all []*proposal) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open checkout: %w", err)
	}
	defer root.Close()
	t, byFile := newTree(root, files), map[string][]*proposal{}
	for _, p := range all {
		if p.refused == "" {
			byFile[p.feedback.Path] = append(byFile[p.feedback.Path], p)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		if err := t.suggest(ctx, path, byFile[path]); err != nil {
			return fmt.Errorf("apply suggestions to %s: %w", excerpt(path, 200), err)
		}
	}
	return t.write()
}

// suggest applies the suggestions for one file from the bottom up, so that the lines above stay where they are. Of
// two that overlap the earlier comment wins, unless they say the same.
func (t *tree) suggest(ctx context.Context, path string, list []*proposal) error {
	l, why, err := t.at(ctx, path)
	if err != nil {
		return err
	}
	if why == belowFile || why == "" && !l.there {
		why = "the file no longer exists"
	}
	file := new(file)
	if why == "" {
		file = fileOf(l.text)
	}
	slices.SortStableFunc(list, func(a, b *proposal) int { return cmp.Compare(a.feedback.ID, b.feedback.ID) })
	var chosen []*proposal
	for _, p := range list {
		if p.refused = why; why == "" {
			p.refused = unfit(strings.Join(file.lines, ""), strings.Join(p.lines, ""))
		}
		clash := p.clash(chosen)
		switch {
		case p.refused != "":
		case p.last > len(file.lines):
			p.refused = fmt.Sprintf("the file has only %d lines", len(file.lines))
		case clash == nil:
			chosen = append(chosen, p)
		case !clash.says(p):
			p.refused = fmt.Sprintf("it overlaps with the suggestion for %s in an earlier comment", clash.where())
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	slices.SortFunc(chosen, func(a, b *proposal) int { return b.first - a.first })
	changed := false
	for _, p := range chosen {
		p.changed = file.replace(p.first, p.last, p.lines)
		changed = changed || p.changed
	}
	if !changed {
		return nil
	}
	if why, err = t.put(ctx, path, file.text(), l.mode); why != "" {
		for _, p := range chosen {
			p.refused, p.changed = why, false
		}
	}
	return err
}

// clash is the chosen one that has a line in common with p.
func (p *proposal) clash(chosen []*proposal) *proposal {
	for _, other := range chosen {
		if p.first <= other.last && other.first <= p.last {
			return other
		}
	}
	return nil
}

// says reports whether both propose the same.
func (p *proposal) says(other *proposal) bool {
	return p.first == other.first && p.last == other.last && slices.Equal(p.lines, other.lines)
}

// where is the place of a suggestion as a person reads it.
func (p *proposal) where() string {
	place := "`" + strings.ReplaceAll(excerpt(p.feedback.Path, 200), "`", "'") + "`"
	if p.first == p.last {
		return fmt.Sprintf("line %d of %s", p.last, place)
	}
	return fmt.Sprintf("lines %d to %d of %s", p.first, p.last, place)
}

func (p *proposal) answer() string {
	var text string
	switch {
	case p.refused != "":
		return "Not applied: " + p.refused + "."
	case p.changed && len(p.lines) == 0:
		text = "Removed " + p.where() + "."
	case p.changed:
		text = "Applied to " + p.where() + "."
	default:
		text = "Nothing to change: " + p.where() + " reads as suggested."
	}
	if p.further > 0 {
		text += " Only the first suggestion block of a comment is applied."
	}
	return text
}

func commitMessage(all []*proposal) string {
	var places []string
	for _, p := range all {
		if p.changed {
			places = append(places, fmt.Sprintf("- %s: %s", strings.ReplaceAll(p.where(), "`", ""), p.feedback.Author))
		}
	}
	switch len(places) {
	case 0:
		return ""
	case 1:
		return "Apply suggestion from review comment\n\n" + places[0]
	}
	return fmt.Sprintf("Apply %d suggestions from review\n\n%s", len(places), strings.Join(places, "\n"))
}

func summary(all []*proposal, talk int) string {
	applied, refused := 0, 0
	for _, p := range all {
		if p.changed {
			applied++
		}
		if p.refused != "" {
			refused++
		}
	}
	var text []string
	if applied == 1 {
		text = append(text, "Applied 1 suggestion.")
	} else if applied > 1 {
		text = append(text, fmt.Sprintf("Applied %d suggestions.", applied))
	}
	if same := len(all) - applied - refused; same > 0 {
		text = append(text, fmt.Sprintf("%d were already there.", same))
	}
	if refused > 0 {
		text = append(text, fmt.Sprintf("%d could not be applied; the replies say why.", refused))
	}
	if talk > 0 || len(all) == 0 {
		text = append(text, strings.ToUpper(suggestionOnly[:1])+suggestionOnly[1:]+", and answers nothing else.")
	}
	return strings.Join(text, " ")
}
