package train

import (
	"fmt"
	"slices"
)

// Overdue says that CI has not begun with a car in time. Either CI is down, or what the car holds keeps it from reporting.
func (c Car) Overdue() bool { return c.State == Testing && c.Why != "" }

// paused says why the line waits for its first car that is overdue; "": none is.
func paused(f *fold) string {
	for _, i := range line(f) {
		if c := f.Cars[i]; c.Overdue() {
			return fmt.Sprintf("the train is paused, since %s on car %d", c.Why, c.Number)
		}
	}
	return ""
}

// resume builds a car again, and what stands behind it, once it has waited for twice as long as the settings say: CI may have lost its
// push. Each of its members has a car of its own then, and the others board beside it. What reports shows who is to blame. Where
// all were built again and nobody else waits, another time would show nothing new: they fail.
func resume(f *fold) bool {
	for k, i := range line(f) {
		c := f.Cars[i]
		if !c.Overdue() || f.now-c.Since < 2*int64(f.settings.Timeout.Seconds()) {
			continue
		}
		if rebuilt(f) && firstAboard(f) == nil {
			f.Cars[i].Why += ", also when it was built again"
			f.fail(k)
			return true
		}
		for _, m := range c.Members {
			if at := f.request(m.Number); at >= 0 {
				f.Queue[at].Late = true
			}
		}
		return f.drop(k, c.Why)
	}
	return false
}

// rebuilt says that all of the line was built again, since CI had not begun with it in time.
func rebuilt(f *fold) bool {
	return !slices.ContainsFunc(f.Queue, func(r Request) bool { return aboard(f)[r.Number] && !r.Try && !r.Late })
}

// reportedBeside says that CI has reported on a car that stands beside another one.
func reportedBeside(f *fold, c Car) bool {
	return slices.ContainsFunc(f.Cars, func(o Car) bool {
		return !o.Try && o.Number != c.Number && o.On == c.On && (o.State == Green || o.State == Red)
	})
}
