package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Trains prints merge trains: what is tested, who is behind whom, who waits, and what landed last.
func Trains(w io.Writer, trains []model.Train) error {
	var b strings.Builder
	if len(trains) == 0 {
		b.WriteString("There is no merge train.\n")
	}
	for i, t := range trains {
		if i > 0 {
			b.WriteByte('\n')
		}
		train(&b, t)
	}
	return text(w, b.String())
}

// mostLanded is how many landings are printed.
const mostLanded = 5

// clockForm is how a terminal shows a time.
const clockForm = "2006-01-02 15:04 UTC"

func train(b *strings.Builder, t model.Train) {
	fmt.Fprintf(b, "Merge train of %s\n", oneLine(t.Base))
	fmt.Fprintf(b, "  %s\n", landedToday(t))
	if t.Trouble != "" {
		fmt.Fprintf(b, "  stopped: %s\n", oneLine(t.Trouble))
	}
	if len(t.Queue) == 0 {
		b.WriteString("  no request is waiting\n")
	}
	for _, c := range t.Cars {
		fmt.Fprintf(b, "  car %-6d %-13s %-14s %s\n", c.Number, c.Doing(), pulls(c.Members), standing(c, clockForm))
		if c.Why != "" && c.Why != t.Trouble {
			fmt.Fprintf(b, "             %s\n", oneLine(c.Why))
		}
		for _, f := range c.Shown() {
			b.WriteString(strings.TrimRight(fmt.Sprintf("             %-13s %-14s %s", f.Doing(), oneLine(f.Name), oneLine(f.URL)), " ") + "\n")
		}
	}
	for _, q := range t.Queue {
		if q.Car == 0 {
			fmt.Fprintf(b, "  waiting    #%-12d %s%s\n", q.Number, oneLine(cmp.Or(q.Why, "for a place in a car")), lands(q.ETA, clockForm))
		}
	}
	for _, l := range t.Landed[:min(len(t.Landed), mostLanded)] {
		fmt.Fprintf(b, "  landed     #%-12d as %s at %s%s\n", l.Number, short(l.SHA), l.At.UTC().Format(clockForm), after(l.Took()))
	}
}

// landedToday says how much landed today, and how long that takes.
func landedToday(t model.Train) string {
	out := "landed today: " + t.Today.Count()
	if took := t.Today.Median(); took > 0 {
		out += "; median time from approval to landing: " + minutes(took)
	}
	return out
}

// standing says whom a car lands behind, and when.
func standing(c model.TrainCar, form string) string {
	switch {
	case c.Try:
		return "only tried, never lands"
	case c.State == "landing":
		return "now"
	case c.Behind == 0:
		return "next in line" + lands(c.ETA, form)
	}
	return fmt.Sprintf("behind car %d", c.Behind) + lands(c.ETA, form)
}

// lands is when something probably lands, behind other words; "" if it is unknown.
func lands(at time.Time, form string) string {
	if at.IsZero() {
		return ""
	}
	return ", probably on " + at.UTC().Format(form)
}

// after is a time since the approval, behind other words; "" if it is unknown.
func after(took time.Duration) string {
	if took <= 0 {
		return ""
	}
	return ", after " + minutes(took)
}

// minutes is a span of time as people read it.
func minutes(d time.Duration) string {
	if d < time.Minute {
		return d.Truncate(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func pulls(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, fmt.Sprintf("#%d", n))
	}
	return strings.Join(all, " ")
}
