package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// row is a pull request or an issue.
type row struct {
	ID     string // of its element, which links on the page lead to
	Number int
	Title  string
	URL    string
	State  badge
	CI     badge // without a word: nothing is known
	Checks []checkList
	Unread bool // there are further checks
	About  string
	Need   *model.Need // nil: nothing waits for a person
	Notes  []note
	Lineage
	Sums    string // of its turns; "" for none
	Opened  stamp
	Updated stamp
	History []turn
	Older   int // turns that are left out of History

	group string
	rank  int
}

// CheckFails says that the row has a failed check.
func (r row) CheckFails() bool { return r.CI.Word == checksFail }

// list is a list of rows in groups, and how many rows are left out.
type list struct {
	Groups []group
	Left   int
}

// group are rows of a kind: those that are shown, and those that are folded away.
type group struct {
	Key, Name    string
	Open, Folded []*row
}

// Count is how many rows there are.
func (g group) Count() int { return len(g.Open) + len(g.Folded) }

// filter is a choice of what is shown.
type filter struct {
	Key, Name string
	Count     int
}

// turn is one line of a row's history.
type turn struct {
	What     string
	State    badge
	From, To commit
	Began    stamp
	Took     string
	Cost     string
	Reason   string
	URL      string
	RunURL   string
}

func (d drawer) pulls(pulls []model.BoardPull) []*row {
	rows := make([]*row, len(pulls))
	for i, p := range pulls {
		r := &row{
			ID: fmt.Sprintf("pull-%d", p.Number), Number: p.Number, Title: clean(p.Title), URL: d.link(p.URL),
			CI: checks[p.CI], Checks: d.checkLists(p), Unread: p.MoreChecks, Need: p.Need, Notes: d.notes(p), Lineage: d.lineage(p),
			Opened: d.stamp(p.Opened), Updated: d.stamp(p.Updated),
		}
		r.stand(p)
		about := []string{clean(p.Branch) + " → " + clean(p.Base)}
		if p.Author != "" {
			about = append(about, "by "+clean(p.Author))
		}
		if p.Issue != 0 {
			about = append(about, fmt.Sprintf("for #%d", p.Issue))
		}
		r.About = strings.Join(about, " · ")
		d.fill(r, p.Turns)
		rows[i] = r
	}
	return pressing(rows)
}

func (d drawer) issues(issues []model.BoardIssue) []*row {
	rows := make([]*row, len(issues))
	for i, s := range issues {
		r := &row{
			ID: fmt.Sprintf("issue-%d", s.Number), Number: s.Number, Title: clean(s.Title), URL: d.link(s.URL),
			Need: s.Need, Lineage: d.walk(s.Turns).drawn(),
		}
		r.standIssue(s)
		r.About = words(string(s.Flow))
		if s.Pull != 0 {
			r.About = strings.TrimPrefix(fmt.Sprintf("%s · pull request #%d", r.About, s.Pull), " · ")
		}
		if s.RoadmapURL != "" {
			r.About = strings.TrimPrefix(fmt.Sprintf("%s · %s", r.About, clean(model.TallyOf(s.Roadmap).String())), " · ")
		}
		if s.Need != nil {
			r.Notes = append(r.Notes, note{
				Text: "Waits since", At: d.stamp(s.Need.Since), Rest: ": " + clean(s.Need.Headline), URL: d.link(s.Need.URL), About: "the stop",
			})
		}
		d.fill(r, s.Turns)
		rows[i] = r
	}
	return pressing(rows)
}

// pressing sorts rows: first those that need a person, then the most urgent, then the oldest.
func pressing(rows []*row) []*row {
	slices.SortStableFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.rank, b.rank), cmp.Compare(a.Number, b.Number))
	})
	return rows
}

// place is that of the row's group among the groups.
func (r row) place() int {
	for i, g := range groups {
		if g.key == r.group {
			return i
		}
	}
	return len(groups)
}

// grouped puts sorted rows into their groups.
func grouped(rows []*row) list {
	l := list{Left: max(0, len(rows)-mostRows)}
	for i, r := range rows[:len(rows)-l.Left] {
		if at := len(l.Groups) - 1; at < 0 || l.Groups[at].Key != r.group {
			l.Groups = append(l.Groups, group{Key: r.group, Name: groups[r.place()].name})
		}
		g := &l.Groups[len(l.Groups)-1]
		if i < openRows {
			g.Open = append(g.Open, r)
			continue
		}
		g.Folded = append(g.Folded, r)
		for i := range r.Marks { // the label of the drawing repeats what they say
			r.Marks[i].Title = ""
		}
	}
	return l
}

// filters are the choices of what is shown, the first of which is everything.
func filters(lists ...list) []filter {
	all, failing := filter{Key: "all", Name: "Everything"}, filter{Key: "checks", Name: "Failed checks"}
	count := map[string]int{}
	for _, l := range lists {
		for _, g := range l.Groups {
			count[g.Key] += g.Count()
			all.Count += g.Count()
			for _, r := range slices.Concat(g.Open, g.Folded) {
				if r.CheckFails() {
					failing.Count++
				}
			}
		}
	}
	out := []filter{all}
	for _, g := range groups {
		if n := count[g.key]; n > 0 {
			out = append(out, filter{g.key, g.name, n})
		}
	}
	if failing.Count > 0 {
		out = append(out, failing)
	}
	return out
}

// mergeKind is that of a merge, which is no agent's turn.
const mergeKind = "merge"

// kinds are what turns are called.
var kinds = map[string]string{"flow": "turn on the issue"}

// fill adds what the turns tell.
func (d drawer) fill(r *row, turns []model.BoardTurn) {
	paid, took, merges := 0.0, time.Duration(0), 0
	for _, t := range turns {
		paid += cost(t)
		took += lasted(t)
		if t.Kind == mergeKind {
			merges++
		}
	}
	if len(turns) == 0 {
		return
	}
	var sums []string
	if n := len(turns) - merges; n > 0 {
		sums = append(sums, markdown.Count(n, "turn"))
	}
	if merges > 0 {
		sums = append(sums, markdown.Count(merges, "merge"))
	}
	if took > 0 {
		sums = append(sums, span(took))
	}
	if paid > 0 {
		sums = append(sums, money(paid))
	}
	r.Sums = strings.Join(sums, " · ")
	r.Older = max(0, len(turns)-mostTurns)
	for _, t := range slices.Backward(turns[r.Older:]) {
		h := turn{
			What: cmp.Or(kinds[t.Kind], words(t.Kind)), State: phase(t.Phase), From: d.commit(t.From), To: d.commit(t.To), Began: d.stamp(t.Began),
			Reason: words(t.Reason), URL: d.link(t.URL), RunURL: d.link(t.RunURL),
		}
		if s := lasted(t); s > 0 {
			h.Took = span(s)
		}
		if c := cost(t); c > 0 {
			h.Cost = money(c)
		}
		r.History = append(r.History, h)
	}
}

// lasted is how long a turn took; 0 while it is in progress.
func lasted(t model.BoardTurn) time.Duration {
	if t.Began.IsZero() || t.Ended.Before(t.Began) {
		return 0
	}
	return t.Ended.Sub(t.Began)
}

// cost returns what a turn cost, in US dollars. A marker can contain any number: an impossible one counts as none.
func cost(t model.BoardTurn) float64 {
	if t.CostUSD > 0 && t.CostUSD < 1e6 {
		return t.CostUSD
	}
	return 0
}
