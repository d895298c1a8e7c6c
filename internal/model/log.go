package model

import (
	"cmp"
	"slices"
	"time"
)

// LogEntry is one thing that MergeXO did, as one of its comments records it in its newest state.
type LogEntry struct {
	At     time.Time `json:"at"`    // of that state
	Began  time.Time `json:"began"` // creation of the comment
	Number int       `json:"number"`
	Kind   string    `json:"kind"`  // of the marker: turn, issue, merge, command, ...
	State  string    `json:"state"` // as in the marker: done, failed, applied, ...
	// What is the entry in words, Why the reason or the cause, and By who asked for it.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	By   string `json:"by,omitempty"`
	// SHA is the commit that resulted, or that it is about.
	SHA     string  `json:"sha,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // as the agent reported it
	RunURL  string  `json:"run_url,omitempty"`
	URL     string  `json:"url"` // of the comment
}

// DayCost is what agents cost on one number in a day (UTC).
type DayCost struct {
	Day     string  `json:"day"`
	Number  int     `json:"number"`
	Entries int     `json:"entries"` // that report a cost
	CostUSD float64 `json:"cost_usd"`
}

// CostOf returns the sum of the reported costs.
func CostOf(entries []LogEntry) (usd float64) {
	for _, e := range entries {
		usd += e.CostUSD
	}
	return usd
}

// CostsOf sums up what agents reported, by day and number, the newest day first.
func CostsOf(entries []LogEntry) []DayCost {
	out := []DayCost{}
	for _, e := range entries {
		day := e.At.UTC().Format(time.DateOnly)
		i := slices.IndexFunc(out, func(c DayCost) bool { return c.Day == day && c.Number == e.Number })
		switch {
		case e.CostUSD == 0:
			continue
		case i < 0:
			i, out = len(out), append(out, DayCost{Day: day, Number: e.Number})
		}
		out[i].Entries, out[i].CostUSD = out[i].Entries+1, out[i].CostUSD+e.CostUSD
	}
	slices.SortFunc(out, func(a, b DayCost) int { return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Number, b.Number)) })
	return out
}

// Said are all comments of a repository's conversations that were read for the log, by number.
type Said struct {
	Viewer        Actor
	Settings      string // of the default branch
	SettingsFound bool
	Comments      map[int][]Comment
}
