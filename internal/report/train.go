package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Trains prints merge trains: what is tested, who waits, and what landed last.
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
	_, err := io.WriteString(w, b.String())
	return err
}

// mostLanded is how many landings are printed.
const mostLanded = 5

func train(b *strings.Builder, t model.Train) {
	fmt.Fprintf(b, "Merge train of %s\n", oneLine(t.Base))
	if t.Trouble != "" {
		fmt.Fprintf(b, "  stopped: %s\n", oneLine(t.Trouble))
	}
	if len(t.Queue) == 0 {
		b.WriteString("  nobody waits\n")
	}
	for _, c := range t.Cars {
		fmt.Fprintf(b, "  car %-4d %-9s %-20s %s\n", c.Number, c.State, pulls(c.Members), c.Branch)
		for _, f := range c.Failed {
			fmt.Fprintf(b, "           failed: %s %s\n", oneLine(f.Name), oneLine(f.URL))
		}
	}
	for _, q := range t.Queue {
		if q.Car == 0 {
			fmt.Fprintf(b, "  waiting  #%-8d %s\n", q.Number, oneLine(cmp.Or(q.Why, "for a place in a car")))
		}
	}
	for _, l := range t.Landed[:min(len(t.Landed), mostLanded)] {
		fmt.Fprintf(b, "  landed   #%-8d %s at %s\n", l.Number, markdown.Short(l.SHA), l.At.Format("2006-01-02 15:04 MST"))
	}
}

func pulls(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, fmt.Sprintf("#%d", n))
	}
	return strings.Join(all, " ")
}
