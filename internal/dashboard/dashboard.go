// Package dashboard renders the state of a repository as one HTML file without scripts, fonts or network requests. It is separate
// from package report because its output is HTML for a browser, and others wrote almost all text in it.
package dashboard

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

// How much of a list is shown. What is left out is counted on the page.
const (
	openRows    = 50   // with full details, and expanded
	mostRows    = 2000 // of one list; those after openRows in short
	mostNeeds   = 20   // not folded away
	mostTurns   = 20   // the newest of one row
	mostMarks   = 12   // of one drawn lineage, the newest
	mostInGrid  = 30   // rows and columns of the matrix
	mostPairs   = 200  // conflicts with their files
	mostPaths   = 20   // files of one conflict
	mostBuckets = 45   // columns of a plot
	mostChecks  = 5    // names of one row, of each state
	leastPoints = 3    // of a plot
)

// page is the template's data. Texts only went through clean; the template escapes them.
type page struct {
	Style template.CSS
	Hash  string // of Style, for the page's policy
	Repo  string
	URL   string
	At    stamp
	Facts []fact
	Needs []need
	More  []need // the further ones

	Filters       []filter
	Pulls, Issues list
	Plots         []plot
	Ledger        []bucket // the numbers that the plots draw
	PlotNote      string
	Grid          grid
	Trains        []line
	Work          []fact
	LeftWhy       string
	Empty         bool
	Legend        []legend
}

// fact is one number of the whole repository.
type fact struct {
	Name, Value string
	Class       string // of its color; "" if nothing needs attention
	To          string // id of the section that has more
}

// need is something that a person has to do.
type need struct {
	Row      *row
	Text     string
	Who      string
	Next     string   // besides the commands
	Commands []string // each of which is one way
	Since    stamp
	URL      string // of the comment that says so
}

func (d drawer) need(r *row) need {
	n := need{Row: r, Text: sentence(clean(r.Need.Headline)), Who: clean(r.Need.Who), Since: d.stamp(r.Need.Since), URL: d.link(r.Need.URL)}
	next, commands := r.Need.Ways()
	n.Next = clean(next)
	for _, c := range commands {
		n.Commands = append(n.Commands, clean(c))
	}
	return n
}

// Write writes the page for b to w. The same board gives the same bytes: times are UTC, and the only clock is b.At. Texts of
// b are shown as they are and never obeyed; links that do not lead to the server of b.URL are left out.
func Write(w io.Writer, b model.Board) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the dashboard's template: %w", err)
	}
	var out bytes.Buffer // so that w gets all of it or nothing
	if err := t.Execute(&out, newPage(b)); err != nil {
		return fmt.Errorf("fill the dashboard: %w", err)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	return nil
}

func newPage(b model.Board) page {
	d := drawer{now: b.At}
	if u, err := url.Parse(b.URL); err == nil && web(u) {
		d.server, d.repo = u, u.String()
	}
	hash := sha256.Sum256([]byte(style))
	pulls, issues := d.pulls(b.Pulls), d.issues(b.Issues)
	p := page{
		Style: template.CSS(style), Hash: base64.StdEncoding.EncodeToString(hash[:]),
		Repo: clean(b.Repo.String()), URL: d.repo, At: d.stamp(b.At),
		Pulls: grouped(pulls), Issues: grouped(issues), Legend: legends,
		Grid: d.grid(b), Trains: d.trains(b), LeftWhy: clean(b.LeftWhy),
		Empty: len(b.Pulls)+len(b.Issues)+len(b.Trains) == 0,
	}
	p.Filters = filters(p.Pulls, p.Issues)
	atWork := 0
	for _, r := range slices.Concat(pulls, issues) {
		if r.Need != nil {
			p.Needs = append(p.Needs, d.need(r))
		}
		if r.group == groupWork {
			atWork++
		}
	}
	turns := allTurns(b)
	p.Facts, p.Work = facts(b, counted{len(p.Needs), atWork, len(p.Grid.Pairs) + p.Grid.More}, turns), work(b)
	p.Ledger, p.PlotNote = ledger(turns, b.At)
	p.Plots = plots(p.Ledger)
	if len(p.Needs) > mostNeeds {
		p.Needs, p.More = p.Needs[:mostNeeds], p.Needs[mostNeeds:]
	}
	return p
}

// allTurns returns the agents' turns of all pull requests and issues, in order. A turn that appears in both counts once.
func allTurns(b model.Board) []model.BoardTurn {
	var all []model.BoardTurn
	seen := map[string]bool{}
	add := func(turns []model.BoardTurn) {
		for _, t := range turns {
			if t.Kind == mergeKind || t.URL != "" && seen[t.URL] {
				continue
			}
			seen[t.URL] = true
			all = append(all, t)
		}
	}
	for _, p := range b.Pulls {
		add(p.Turns)
	}
	for _, i := range b.Issues {
		add(i.Turns)
	}
	return all
}

// counted are numbers of what the page lists.
type counted struct{ needs, atWork, conflicts int }

// facts are the numbers at the head of the page.
func facts(b model.Board, listed counted, turns []model.BoardTurn) []fact {
	states := countStates(b.Pulls)
	paid, spent := 0.0, time.Duration(0)
	for _, t := range turns {
		paid += cost(t)
		spent += lasted(t)
	}
	seeTo := func(f fact, n int, class string) fact {
		if f.Value = fmt.Sprint(n); n > 0 {
			f.Class = class
		}
		return f
	}
	return []fact{
		seeTo(fact{Name: "need a person", To: "needs"}, listed.needs, "amber"),
		seeTo(fact{Name: "blocked", To: "needs"}, states[model.StatusBlocked], "red"),
		seeTo(fact{Name: "in progress", To: "pulls"}, listed.atWork, "blue"),
		seeTo(fact{Name: "conflicts", To: "conflicts"}, listed.conflicts, "red"),
		{Name: "turns", Value: fmt.Sprint(len(turns)), To: "plots"},
		{Name: "cost", Value: money(paid), To: "plots"},
		{Name: "agent time", Value: fmt.Sprintf("%.1f\u00a0h", spent.Hours()), To: "plots"},
	}
}

// work is what is still to be done.
func work(b model.Board) []fact {
	states, pending, queued := countStates(b.Pulls), 0, 0
	for _, p := range b.Pulls {
		pending += p.Pending
		if p.Merge != nil && p.Merge.State == model.MergeWaiting {
			queued++
		}
	}
	return []fact{
		{Name: "comments without an answer", Value: fmt.Sprint(pending)},
		{Name: "waiting to be merged", Value: fmt.Sprint(queued)},
		{Name: "failed, will be retried", Value: fmt.Sprint(states[model.StatusFailed])},
		{Name: "left for the next sweep", Value: fmt.Sprint(b.Left)},
		{Name: "open pull requests without MergeXO", Value: fmt.Sprint(b.Untracked)},
	}
}

func countStates(pulls []model.BoardPull) map[model.StatusState]int {
	states := map[model.StatusState]int{}
	for _, p := range pulls {
		states[p.State]++
	}
	return states
}

// drawer holds what links and ages are made from.
type drawer struct {
	server *url.URL // nil: no link is safe
	repo   string   // page of the repository, without a slash at its end
	now    time.Time
}

// link is address, if it is a page of the repository's own server; else "".
func (d drawer) link(address string) string {
	u, err := url.Parse(address)
	if err != nil || d.server == nil || !web(u) || u.Host != d.server.Host {
		return ""
	}
	return u.String()
}

func web(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// commit is a head in short, with its page.
func (d drawer) commit(sha string) commit {
	c := commit{Short: short(sha)}
	if _, err := hex.DecodeString(sha); err == nil && sha != "" && d.repo != "" {
		c.URL = d.repo + "/commit/" + sha
	}
	return c
}

type commit struct{ Short, URL string }
