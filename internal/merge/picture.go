package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// History is what a merge did to the history, for the picture of it.
type History struct {
	Base, Branch string // names of branches
	// Strategy: of a merge commit, whoever made it, it is model.StrategyNoFF.
	Strategy string
	Before   []model.Commit // the last ones of the base before the merge, oldest first
	Fork     string         // SHA of the one among Before that the branch grew from; "": an older one
	Commits  []model.Commit // of the branch, oldest first
	Landed   []model.Commit // that the merge added to the base, oldest first
}

// drawn is how many commits of one side a picture shows; the others are drawn as one commit.
const drawn = 15

// Picture draws a history as a Mermaid gitGraph in a fenced block. Names and subjects of others are reduced to letters, digits
// and harmless signs between quotes, so that none of them ends its line or begins a statement, a directive or a comment:
// https://mermaid.js.org/syntax/gitgraph.html
func Picture(h History) string {
	d := drawing{ids: map[string]bool{}}
	base, branch := cmp.Or(label(h.Base, 60), "base"), label(h.Branch, 60)
	if branch == "" || branch == base {
		branch = strings.TrimSpace(branch + " (branch)")
	}
	if base != "main" {
		d.line(0, `%%%%{init: {"gitGraph": {"mainBranchName": "%s"}}}%%%%`, base)
	}
	d.line(0, "gitGraph")
	h = h.apart()
	fork := slices.IndexFunc(h.Before, func(c model.Commit) bool { return h.Fork != "" && c.SHA == h.Fork })
	d.before(h.Before[:fork+1])
	if len(h.Commits) > 0 {
		d.line(1, `branch "%s"`, branch)
		d.side(h.Commits, "of the branch", "")
		d.line(1, `checkout "%s"`, base)
	}
	d.side(h.Before[fork+1:], "of the base", "")
	landed := h.Landed
	if n := len(landed); h.Strategy == model.StrategyNoFF && n > 0 && len(h.Commits) > 0 {
		d.line(1, `merge "%s" id: "%s" type: HIGHLIGHT tag: "merged"`, branch, d.id(landed[n-1]))
		landed = nil
	}
	d.side(landed, "that landed", " type: HIGHLIGHT")
	return "```mermaid\n" + d.String() + "```"
}

// apart is a history in which no commit is drawn twice. Commits of the branch that have landed as they are stand on the base
// where nothing else did, and else beside the merge commit that brought them, whoever made it.
func (h History) apart() History {
	landed := slices.DeleteFunc(slices.Clone(h.Landed), func(c model.Commit) bool {
		return c.SHA != "" && slices.ContainsFunc(h.Commits, func(own model.Commit) bool { return own.SHA == c.SHA })
	})
	switch {
	case len(landed) == len(h.Landed):
	case len(landed) == 0:
		h.Commits = nil
	default:
		h.Landed, h.Strategy = landed, model.StrategyNoFF
	}
	return h
}

// drawing is a picture in the making.
type drawing struct {
	strings.Builder
	ids map[string]bool
}

func (d *drawing) line(depth int, format string, args ...any) {
	d.WriteString(strings.Repeat("   ", depth))
	fmt.Fprintf(d, format+"\n", args...)
}

// before draws what the base and the branch have in common: its last commits. A branch needs something to grow from.
func (d *drawing) before(commits []model.Commit) {
	const most = 2
	d.line(1, `commit id: "earlier commits" type: REVERSE`)
	for _, c := range commits[max(0, len(commits)-most):] {
		d.line(1, `commit id: "%s"`, d.id(c))
	}
}

// side draws the commits of one side, the newest of too many.
func (d *drawing) side(commits []model.Commit, whose, how string) {
	if n := len(commits) - drawn; n > 0 {
		n++ // the one that says so is a commit too
		d.line(1, `commit id: "%s %s" type: REVERSE`, markdown.Count(n, "earlier commit"), whose)
		commits = commits[n:]
	}
	for i, c := range commits {
		tag := ""
		if how != "" && i == len(commits)-1 {
			tag = ` tag: "landed"`
		}
		d.line(1, `commit id: "%s"%s%s`, d.id(c), how, tag)
	}
}

// id names a commit in a picture, where no two may have the same name.
func (d *drawing) id(c model.Commit) string {
	id := strings.TrimSpace(label(markdown.Short(c.SHA), 10) + " " + label(c.Subject, 40))
	for n := 2; d.ids[id] || id == ""; n++ {
		id = strings.TrimSpace(fmt.Sprintf("%s (%d)", strings.TrimSuffix(id, fmt.Sprintf(" (%d)", n-1)), n))
	}
	d.ids[id] = true
	return id
}

// label reduces a text to what means nothing in a picture, and to so many characters.
func label(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_.,/()+=!?", r)) {
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "..."
	}
	return s
}
