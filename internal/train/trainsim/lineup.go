package trainsim

import "github.com/mergexo/mergexo/internal/train"

// Policy is a way to land the requests of a day.
type Policy struct {
	Name string
	Live func(Day) Figures
}

// Lineup are the policies that are compared: with the settings that each has by itself, and with those that use the runners of
// TheDay.
func Lineup() []Policy {
	busy, large := train.Defaults(), train.Defaults()
	busy.Speculate = 12
	large.Batch, large.Speculate = 8, 12
	return []Policy{
		{"one after the other", func(d Day) Figures { return Queue(d, 1) }},
		{"merge queue of GitHub, 5 builds", func(d Day) Figures { return Queue(d, 5) }}, // its own setting
		{"merge queue of GitHub, 16 builds", func(d Day) Figures { return Queue(d, d.Runners) }},
		{"merge train, batch 4, speculate 3", func(d Day) Figures { return lived(d, train.Defaults()) }},
		{"merge train, batch 4, speculate 12", func(d Day) Figures { return lived(d, busy) }},
		{"merge train, batch 8, speculate 12", func(d Day) Figures { return lived(d, large) }},
	}
}

func lived(d Day, s train.Settings) Figures {
	figures, _ := Train(d, s)
	return figures
}

// Ahead counts in how many of three budgets f is ahead of g: landed per hour, the time from approval to landing (median and
// 95th percentile) and the time of CI for each that landed; and in how many it is more than a tenth behind.
func (f Figures) Ahead(g Figures) (ahead, behind int) {
	for _, ratios := range [][]float64{{f.PerHour / g.PerHour}, {g.Median / f.Median, g.P95 / f.P95}, {g.CI / f.CI}} {
		least := ratios[0]
		for _, r := range ratios {
			least = min(least, r)
		}
		if least > 1 {
			ahead++
		}
		if least < 1/1.1 {
			behind++
		}
	}
	return ahead, behind
}
