package dashboard

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aclements/go-moremath/scale"

	"github.com/mergexo/mergexo/internal/model"
)

// bucket is what began in one span of time.
type bucket struct {
	Label, Tick        string // when it begins, in full and below the plot
	Machine            string // for a time element
	Done, Failed, Open int    // turns
	CostUSD            float64
	Cost               string
	// Least, Median and Most are how long those took that have ended, in minutes.
	Least, Median, Most float64
	Took                string // the median; "" for none

	took []time.Duration
}

// widths are how much time one column may stand for: the first one that does with mostBuckets is taken.
var widths = []struct {
	width       time.Duration
	label, tick string // formats of its time, in full and below the plot
	words       string
}{
	{time.Hour, "2 Jan 15:04", "2 Jan 15:04", "an hour"}, {6 * time.Hour, "2 Jan 15:04", "2 Jan", "six hours"},
	{24 * time.Hour, "2 Jan 2006", "2 Jan", "a day"}, {7 * 24 * time.Hour, "2 Jan 2006", "Jan 2006", "a week"},
}

// ledger counts turns by the time that they began, from the first one up to now, and says in words what a column is.
func ledger(turns []model.BoardTurn, now time.Time) ([]bucket, string) {
	now = now.UTC()
	turns = slices.DeleteFunc(slices.Clone(turns), func(t model.BoardTurn) bool { return t.Began.IsZero() || t.Began.After(now) })
	if len(turns) == 0 {
		return nil, ""
	}
	first := slices.MinFunc(turns, func(a, b model.BoardTurn) int { return a.Began.Compare(b.Began) }).Began.UTC()
	w, n := widths[len(widths)-1], mostBuckets
	for _, try := range widths {
		if count := int(now.Truncate(try.width).Sub(first.Truncate(try.width))/try.width) + 1; count <= mostBuckets {
			w, n = try, count
			break
		}
	}
	begin := now.Truncate(w.width).Add(-time.Duration(n-1) * w.width)
	buckets := make([]bucket, n)
	for i := range buckets {
		at := begin.Add(time.Duration(i) * w.width)
		buckets[i].Label, buckets[i].Tick, buckets[i].Machine = at.Format(w.label), at.Format(w.tick), at.Format(time.RFC3339)
	}
	left := 0
	for _, t := range turns {
		i := int(t.Began.Sub(begin) / w.width)
		if t.Began.Before(begin) {
			left++
			continue
		}
		buckets[i].count(t)
	}
	for i := range buckets {
		buckets[i].settle()
	}
	note := "One column is " + w.words + ", in UTC."
	if left > 0 {
		note += fmt.Sprintf(" %d older turns are left out.", left)
	}
	return buckets, note
}

func (b *bucket) count(t model.BoardTurn) {
	switch phase(t.Phase).Mark {
	case "head":
		b.Done++
	case "fail":
		b.Failed++
	default:
		b.Open++
	}
	b.CostUSD += cost(t)
	if took := lasted(t); took > 0 {
		b.took = append(b.took, took)
	}
}

func (b *bucket) settle() {
	if b.CostUSD > 0 {
		b.Cost = money(b.CostUSD)
	}
	if len(b.took) == 0 {
		return
	}
	slices.Sort(b.took)
	median := b.took[len(b.took)/2]
	b.Least, b.Median, b.Most, b.Took = b.took[0].Minutes(), median.Minutes(), b.took[len(b.took)-1].Minutes(), span(median)
}

// plot is one drawn measure over time.
type plot struct {
	ID, Title, Said string
	Keys            []key
	Bars            []shape
	Dots            []shape
	Rows, Columns   []tick
}

// key says what a fill means.
type key struct{ Class, Words string }

// shape is a bar, or the span and the middle of one column.
type shape struct {
	Class         string
	X, Y, W, H, M float64
	Title         string
}

type tick struct {
	At    float64
	Label string
}

// The area of a plot that is drawn in, in pixels of its view of 360 by 168. Templates know them too.
const (
	plotLeft, plotRight = 40.0, 352.0
	plotTop, plotBottom = 10.0, 142.0
)

func plots(buckets []bucket) []plot {
	if len(buckets) == 0 {
		return nil
	}
	var turns, cost, took plot
	turns = plot{ID: "turns", Title: "Turns", Keys: []key{{"done", "done"}, {"failed", "failed"}, {"open", "not ended"}}}
	cost = plot{ID: "cost", Title: "Cost", Keys: []key{{"cost", "US dollars"}}}
	took = plot{ID: "took", Title: "Duration", Keys: []key{{"took", "median and range, in minutes"}}}
	var most bucket // of each measure
	for _, b := range buckets {
		most.Done = max(most.Done, b.Done+b.Failed+b.Open)
		most.CostUSD, most.Most = max(most.CostUSD, b.CostUSD), max(most.Most, b.Most)
	}
	x := scale.Linear{Max: float64(len(buckets))}
	high := turns.axis(float64(most.Done), whole, "")
	dollars := cost.axis(most.CostUSD, fine, "$")
	minutes := took.axis(most.Most, fine, "")
	width := round(min((plotRight-plotLeft)/float64(len(buckets))*0.72, 28))
	for i, b := range buckets {
		middle := plotLeft + x.Map(float64(i)+0.5)*(plotRight-plotLeft)
		bar := func(p *plot, y scale.Linear, class string, from, to float64, title string) {
			if to > from {
				top, bottom := height(y, to), height(y, from)
				p.Bars = append(p.Bars, shape{Class: class, X: round(middle - width/2), Y: top, W: width, H: round(bottom - top), Title: b.Label + ": " + title})
			}
		}
		done, failed := float64(b.Done), float64(b.Failed)
		bar(&turns, high, "done", 0, done, fmt.Sprintf("%d done", b.Done))
		bar(&turns, high, "failed", done, done+failed, fmt.Sprintf("%d failed", b.Failed))
		bar(&turns, high, "open", done+failed, done+failed+float64(b.Open), fmt.Sprintf("%d unfinished", b.Open))
		bar(&cost, dollars, "cost", 0, b.CostUSD, b.Cost)
		if b.Took != "" {
			took.Dots = append(took.Dots, shape{
				Class: "took", X: round(middle), Y: height(minutes, b.Most), H: height(minutes, b.Least), M: height(minutes, b.Median),
				Title: b.Label + ": " + b.Took,
			})
		}
	}
	all := slices.DeleteFunc([]plot{turns, cost, took}, func(p plot) bool { return p.points() < leastPoints })
	for i := range all {
		all[i].columns(buckets, x)
		all[i].Said = fmt.Sprintf("%s, %s to %s; the numbers are in the table below.", all[i].Title, buckets[0].Label, buckets[len(buckets)-1].Label)
	}
	return all
}

// points is how many columns have something in them.
func (p *plot) points() int {
	at := map[float64]bool{}
	for _, s := range slices.Concat(p.Bars, p.Dots) {
		at[s.X] = true
	}
	return len(at)
}

// whole lets lines stand at whole numbers only, and fine at any.
var (
	whole = scale.TickOptions{Max: 6, MinLevel: 0, MaxLevel: 100}
	fine  = scale.TickOptions{Max: 6}
)

// axis makes a scale from 0 to a round number that is not below top, with its lines.
func (p *plot) axis(top float64, steps scale.TickOptions, unit string) scale.Linear {
	if top <= 0 {
		top = 1
	}
	s := scale.Linear{Max: top}
	s.Nice(steps)
	lines, _ := s.Ticks(steps)
	for _, v := range lines {
		p.Rows = append(p.Rows, tick{height(s, v), unit + fmt.Sprint(math.Round(v*1e4)/1e4)})
	}
	return s
}

// columns names some of the buckets.
func (p *plot) columns(buckets []bucket, x scale.Linear) {
	lines, _ := x.Ticks(whole)
	for _, v := range lines {
		if i := int(v); i < len(buckets) {
			p.Columns = append(p.Columns, tick{round(plotLeft + x.Map(v+0.5)*(plotRight-plotLeft)), buckets[i].Tick})
		}
	}
}

// height is where a value lies on a scale.
func height(s scale.Linear, v float64) float64 {
	return round(plotBottom - s.Map(v)*(plotBottom-plotTop))
}

// round keeps numbers short, and the same on each machine.
func round(v float64) float64 { return math.Round(v*10) / 10 }
