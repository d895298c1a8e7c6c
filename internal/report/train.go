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
	if len(trains) == 0 {
		return text(w, "There is no merge train.\n")
	}
	var said []string
	for _, t := range trains {
		said = append(said, train(t, columnsOf(w)))
	}
	return text(w, strings.Join(said, "\n"))
}

// mostLanded is how many landings are printed.
const mostLanded = 5

// clockForm is how a terminal shows a time.
const clockForm = "2006-01-02 15:04 UTC"

func train(t model.Train, columns int) string {
	b := wrap("", "Merge train of "+oneLine(t.Base), columns) + wrap("  ", landedToday(t), columns)
	if t.Trouble != "" {
		b += wrap("  ", "stopped: "+oneLine(t.Trouble), columns)
	}
	if len(t.Queue) == 0 {
		b += "  no request is waiting\n"
	}
	line := func(number, state, rest string) {
		b += wrap(fmt.Sprintf("  %-7s %-13s ", number, state), rest, columns)
	}
	for _, c := range t.Cars {
		line(fmt.Sprintf("car %d", c.Number), c.Doing(), fmt.Sprintf("%-8s ", pulls(c.Members))+standing(c, clockForm))
		if c.Why != "" && c.Why != t.Trouble {
			b += wrap("    ", oneLine(c.Why), columns)
		}
		for _, f := range c.Shown() {
			b += wrap("    ", fmt.Sprintf("%s: %s", f.Doing(), oneLine(f.Name)), columns)
			if f.URL != "" {
				b += "      " + oneLine(f.URL) + "\n"
			}
		}
	}
	for _, q := range t.Queue {
		if q.Car == 0 {
			line(fmt.Sprintf("#%d", q.Number), "waiting", oneLine(cmp.Or(q.Why, "for a place in a car"))+lands(q.ETA, clockForm))
		}
	}
	for _, l := range t.Landed[:min(len(t.Landed), mostLanded)] {
		line(fmt.Sprintf("#%d", l.Number), "landed", "as "+short(l.SHA)+" at "+l.At.UTC().Format(clockForm)+after(l.Took()))
	}
	return b
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
