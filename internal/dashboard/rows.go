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
	About  string
	Need   *model.Need // nil: nothing waits for a person
	Notes  []string
	Lineage
	Sums    string // of its turns; "" for none
	Opened  stamp
	Updated stamp
	History []turn
	Older   int // turns that are left out of History

	rank int
}

// badge is a state in a word, with a mark of the lineages and a colour.
type badge struct{ Word, Mark, Class string }

// list is a list of rows: those that are shown, those that are folded away, and how many are left out.
type list struct {
	Open, Folded []*row
	Left         int
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

// states says how each state is drawn, the most urgent first.
var states = []struct {
	state       model.StatusState
	mark, class string
}{
	{model.StatusBlocked, "block", "red"},
	{model.StatusFailed, "fail", "red"},
	{model.StatusClaimed, "run", "blue"},
	{model.StatusMerging, "run", "violet"},
	{model.StatusPending, "wait", "amber"},
	{model.StatusQueued, "wait", "violet"},
	{model.StatusTaken, "quiet", "grey"},
	{model.StatusPaused, "quiet", "grey"},
	{model.StatusIdle, "head", "green"},
	{model.StatusReleased, "quiet", "grey"},
	{model.StatusUntracked, "quiet", "grey"},
	{model.StatusMerged, "merge", "violet"},
	{model.StatusClosed, "quiet", "grey"},
}

var checks = map[string]badge{
	"SUCCESS": {"checks pass", "head", "green"}, "FAILURE": {"checks fail", "fail", "red"}, "ERROR": {"checks fail", "fail", "red"},
	"PENDING": {"checks run", "run", "amber"}, "EXPECTED": {"checks run", "run", "amber"},
}

// phases are how far a turn, a flow or a merge has come.
var phases = map[string]badge{
	string(model.PhaseStarted):  {"at work", "run", "blue"},
	string(model.PhasePlanned):  {"to be published", "run", "blue"},
	string(model.PhaseDone):     {"done", "head", "green"},
	string(model.PhaseFailed):   {"failed", "fail", "red"},
	string(model.PhaseWaiting):  {"waits for a person", "wait", "amber"},
	string(model.MergeWaiting):  {"waits for approval", "wait", "violet"},
	string(model.MergeRunning):  {"merging", "run", "violet"},
	string(model.ReviewRunning): {"under way", "run", "blue"},
	string(model.MergeFailed):   {"failed", "fail", "red"},
}

func (d drawer) pulls(pulls []model.BoardPull) []*row {
	rows := make([]*row, len(pulls))
	for i, p := range pulls {
		r := &row{
			ID: fmt.Sprintf("pull-%d", p.Number), Number: p.Number, Title: clean(p.Title), URL: d.link(p.URL),
			CI: checks[p.CI], Need: p.Need, Notes: d.notes(p), Lineage: d.lineage(p),
			Opened: d.stamp(p.Opened), Updated: d.stamp(p.Updated),
		}
		r.State, r.rank = standing(p.State)
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
			Need: s.Need, State: badge{"not begun", "quiet", "grey"}, rank: len(states),
			Lineage: d.walk(s.Turns).drawn(),
		}
		if b, ok := phases[string(s.Status)]; ok {
			r.State = b
		} else if s.Status != "" {
			r.State = badge{words(string(s.Status)), "quiet", "grey"}
		}
		r.About = words(string(s.Flow))
		if s.Pull != 0 {
			r.About = strings.TrimPrefix(fmt.Sprintf("%s · pull request #%d", r.About, s.Pull), " · ")
		}
		if s.Waiting != "" {
			r.Notes = append(r.Notes, "waits: "+words(s.Waiting))
		}
		d.fill(r, s.Turns)
		rows[i] = r
	}
	return pressing(rows)
}

// pressing sorts rows: first those that need a person, then the most urgent, then the oldest.
func pressing(rows []*row) []*row {
	slices.SortStableFunc(rows, func(a, b *row) int {
		switch {
		case a.Need != nil && b.Need == nil:
			return -1
		case a.Need == nil && b.Need != nil:
			return 1
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Number, b.Number))
	})
	return rows
}

// standing returns how a state is drawn and how urgent it is.
func standing(s model.StatusState) (badge, int) {
	for i, look := range states {
		if look.state == s {
			return badge{s.Words(), look.mark, look.class}, i
		}
	}
	return badge{words(string(s)), "quiet", "grey"}, len(states)
}

func fold(rows []*row) list {
	shown := rows[:min(len(rows), mostRows)]
	cut := min(len(shown), openRows)
	for _, r := range shown[cut:] {
		for i := range r.Marks { // the label of the drawing repeats what they say
			r.Marks[i].Title = ""
		}
	}
	return list{shown[:cut], shown[cut:], len(rows) - len(shown)}
}

// notes add what the state does not show.
func (d drawer) notes(p model.BoardPull) []string {
	var notes []string
	if b := p.Block; b != nil {
		note := "blocked " + d.stamp(b.Since).Ago + ": " + words(b.Reason)
		if b.Expected != "" && b.Observed != "" {
			note += fmt.Sprintf(", expected %s, found %s", short(b.Expected), short(b.Observed))
		}
		notes = append(notes, note)
	}
	if p.Pending > 0 {
		notes = append(notes, markdown.Count(p.Pending, "comment")+" without an answer")
	}
	if p.Failed > 0 {
		notes = append(notes, markdown.Count(p.Failed, "attempt")+" failed")
	}
	if m := p.Merge; m != nil {
		note := "merge asked for by " + clean(m.By) + ": " + phase(string(m.State)).Word
		if m.Reason != "" {
			note += ", " + strings.ToLower(words(string(m.Reason)))
		}
		notes = append(notes, note)
	}
	if e := p.External; e != nil {
		note := "from a fork, let in by " + clean(e.By) + ": " + words(string(e.State))
		if e.Reason != "" {
			note += ", " + clean(e.Reason)
		}
		notes = append(notes, note)
	}
	return notes
}

// fill adds what the turns tell.
func (d drawer) fill(r *row, turns []model.BoardTurn) {
	paid, took := 0.0, time.Duration(0)
	for _, t := range turns {
		paid += cost(t)
		took += lasted(t)
	}
	if len(turns) == 0 {
		return
	}
	sums := []string{markdown.Count(len(turns), "turn")}
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
			What: words(t.Kind), State: phase(t.Phase), From: d.commit(t.From), To: d.commit(t.To), Began: d.stamp(t.Began),
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

func phase(name string) badge {
	if b, ok := phases[name]; ok {
		return b
	}
	return badge{words(name), "quiet", "grey"}
}

// lasted is how long a turn took; 0 while it is under way.
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
