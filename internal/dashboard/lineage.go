package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Lineage is a drawn history: marks on a line in the order of time.
type Lineage struct {
	Marks  []mark
	Width  int
	Height int
	Line   string // path of what is on the branch
	Aside  string // path to a head that was found there and is not on the branch
	Said   string // the same in words
}

// mark is a head, or an attempt that led to none.
type mark struct {
	Kind     string // of its symbol
	X, Y     int
	Accepted bool
	Title    string

	sha string
}

// legend says what a mark means.
type legend struct{ Mark, Words string }

var legends = []legend{
	{"start", "The commit at which the history begins."},
	{"head", "A turn pushed commits."},
	{"same", "A turn answered and pushed no commits."},
	{"other", "Somebody else pushed commits."},
	{"ring", "MergeXO accepted this commit. The next turn starts from it."},
	{"run", "A turn or a merge is running."},
	{"wait", "A merge request or an issue waits."},
	{"fail", "A turn or a merge failed."},
	{"merge", "The commits landed on the base branch."},
	{"block", "MergeXO stopped. A person has to decide."},
}

const (
	markStep = 22 // from one mark to the next, in pixels
	markRow  = 14 // middle of the line
	markFork = 30 // and of what lies aside of it
)

// trail collects the marks of a history.
type trail struct {
	d     drawer
	marks []mark
	at    string // head so far
	aside bool   // the last mark lies aside of the line
}

func (t *trail) add(kind, sha, title string) {
	if sha != "" {
		title += " " + short(sha)
		t.at = sha
	}
	t.marks = append(t.marks, mark{Kind: kind, sha: sha, Title: title})
}

// walk collects what the turns led to.
func (d drawer) walk(turns []model.BoardTurn) *trail {
	t := &trail{d: d}
	for _, turn := range turns {
		switch {
		case turn.From == "" || turn.From == t.at:
		case t.at == "":
			t.add("start", turn.From, "began at")
		case turn.Kind == "flow": // it started over from the base at that time
			t.at = turn.From
		default:
			t.add("other", turn.From, "somebody pushed")
		}
		what := words(turn.Kind)
		look := phase(turn.Phase)
		when := ""
		if !turn.Began.IsZero() {
			when = ", " + turn.Began.UTC().Format("2 Jan 15:04")
		}
		switch {
		case look.Mark != "head":
			t.add(look.Mark, "", what+" "+look.Word+when)
		case turn.To == "" || turn.To == t.at:
			t.add("same", "", what+" done, no commits"+when)
		case turn.Kind == mergeKind:
			t.add("merge", turn.To, "merged"+when+":")
		default:
			t.add("head", turn.To, what+" done"+when+":")
		}
	}
	return t
}

// lineage is the history of a pull request, up to its head now.
func (d drawer) lineage(p model.BoardPull) Lineage {
	t := d.walk(p.Turns)
	if p.Accepted != "" && t.at == "" {
		t.add("start", p.Accepted, "accepted")
	}
	switch b := p.Block; {
	case b != nil && b.Observed != "" && b.Observed != t.at:
		t.aside = true
		t.add("block", b.Observed, "blocked: "+words(b.Reason)+", found")
	case b != nil:
		t.add("block", "", "blocked: "+words(b.Reason))
	case p.Head != "" && p.Head != t.at && !t.knows(p.Head):
		t.add("other", p.Head, "head now")
	}
	for i := range t.marks {
		m := &t.marks[i]
		m.Accepted = p.Accepted != "" && m.sha == p.Accepted && !(t.aside && i == len(t.marks)-1)
	}
	return t.drawn()
}

func (t *trail) knows(sha string) bool {
	return slices.ContainsFunc(t.marks, func(m mark) bool { return m.sha == sha })
}

// drawn places the newest marks on the line.
func (t *trail) drawn() Lineage {
	left := max(0, len(t.marks)-mostMarks)
	marks := t.marks[left:]
	if len(marks) == 0 {
		return Lineage{}
	}
	l := Lineage{Marks: marks, Width: markStep * len(marks), Height: 2 * markRow}
	var said []string
	if left > 0 {
		said = append(said, markdown.Count(left, "older mark")+" left out")
	}
	for i := range marks {
		m := &marks[i]
		m.X, m.Y = markStep/2+i*markStep, markRow
		if m.Accepted {
			m.Title += ", accepted"
		}
		said = append(said, m.Title)
	}
	last, begin := marks[len(marks)-1].X, marks[0].X
	if left > 0 {
		begin = 0
	}
	if t.aside {
		l.Height = markRow + markFork
		marks[len(marks)-1].Y = markFork
		from := max(last-markStep, 0)
		l.Aside = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", from, markRow, from+markStep/2, markRow, last-markStep/2, markFork, last, markFork)
		last = from
	}
	if last > begin {
		l.Line = fmt.Sprintf("M%d %dH%d", begin, markRow, last)
	}
	l.Said = strings.Join(said, "; ")
	return l
}
