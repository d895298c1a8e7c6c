package flow

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/skipci"
)

// Extra is what a pull request's description adds to the agent's text.
type Extra struct {
	Notes   []string // what people should know
	Design  int      // the pull request that the design was merged with; 0: none
	Outside []string // changed paths that the design did not announce
}

// GitHub's limits, and ours for lists.
const (
	titleLimit = 250    // characters; GitHub takes 256
	bodyLimit  = 65_536 // characters; bytes are never fewer
	listLimit  = 30
	noteLimit  = 500 // bytes
)

const cutNotice = "\n\n*(cut here: a description on GitHub holds 65,536 characters)*"

// Draft is the pull request from branch head to base, ready to open.
func Draft(f model.Flow, i model.Issue, o model.Outcome, base, head string, extra Extra) model.PullDraft {
	title, summary := o.PRTitle, o.PRSummary
	if f.Document() {
		title, summary = o.Title, o.Summary
	}
	ours := ourWords(f, i, o, extra)
	return model.PullDraft{Title: draftTitle(title, i), Body: above(InertMarkdown(summary), ours), Base: base, Head: head}
}

// draftTitle is the agent's or the issue's title, on one line.
func draftTitle(title string, i model.Issue) string {
	for _, t := range []string{title, i.Title} {
		if !blank(t) {
			return shorten(Inert(skipci.Disarmed(oneLine(t))), titleLimit) // a squash has it as its subject
		}
	}
	return fmt.Sprintf("Issue %d", i.Number)
}

// oneLine joins a text's words, without control characters or bidi controls.
func oneLine(s string) string {
	spaced := strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || turns(r) {
			return -1
		}
		return r
	}, spaced)), " ")
}

func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit-1]), " "+gap) + "…"
}

// ourWords are the last lines of a description.
func ourWords(f model.Flow, i model.Issue, o model.Outcome, extra Extra) string {
	var b strings.Builder
	if f == model.FlowDesign && len(o.TouchPaths) > 0 {
		b.WriteString("Paths that the design touches:\n" + list(o.TouchPaths) + "\n")
	}
	if len(extra.Outside) > 0 {
		b.WriteString("Changed beyond the paths of the design:\n" + list(extra.Outside) + "\n")
	}
	b.WriteString(notes(extra.Notes))
	if extra.Design > 0 {
		fmt.Fprintf(&b, "Implements the design of #%d.\n", extra.Design)
	}
	word := "Fixes"
	if f.Document() {
		word = "Refs"
	}
	fmt.Fprintf(&b, "%s #%d\n\n<sub>Written by an agent, opened by MergeXO.</sub>", word, i.Number)
	return b.String()
}

// list shows one path per line.
func list(paths []string) string {
	var b strings.Builder
	for _, p := range paths[:min(len(paths), listLimit)] {
		b.WriteString("\n- " + markdown.Inline(oneLine(p)))
	}
	if more := len(paths) - listLimit; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String() + "\n"
}

// notes quotes each note separately.
func notes(all []string) string {
	var b strings.Builder
	for _, n := range all[:min(len(all), listLimit)] {
		if len(n) > noteLimit {
			n = strings.ToValidUTF8(n[:noteLimit], "") + "…"
		}
		b.WriteString("> " + markdown.Inline(Inert(n)) + "\n\n")
	}
	return b.String()
}

// above puts as much of a text as fits above ours.
func above(text, ours string) string {
	text = strings.TrimRight(text, " \t\n")
	if text == "" {
		return ours
	}
	ours = "\n\n" + ours
	room := bodyLimit - len(ours)
	if len(text) <= room {
		if whole := closed(text); len(whole) <= room {
			return whole + ours
		}
	}
	const fence = 16 // room to close a cut fence
	part := closed(strings.ToValidUTF8(text[:min(len(text), max(0, room-len(cutNotice)-fence))], ""))
	if len(part)+len(cutNotice) > room { // the fence is longer than that
		part = ""
	}
	return part + cutNotice + ours
}

// closed closes open Markdown blocks, so that they do not swallow what follows.
func closed(text string) string {
	return strings.TrimRight(markdown.Contain(text, func(string) bool { return false }), " \t\n")
}
