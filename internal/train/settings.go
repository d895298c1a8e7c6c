package train

import "time"

// Settings are the limits of a train.
type Settings struct {
	Batch     int           // most requests in a car
	Speculate int           // most commits of the line under test at once
	Retries   int           // re-runs of a red result before a request fails for it
	Timeout   time.Duration // how long checks may take to report
	Attempts  int           // how often GitHub may refuse to land a car
	Pause     time.Duration // before a push that was refused is tried again
}

// Defaults are the settings where none are given.
func Defaults() Settings {
	return Settings{Batch: 4, Speculate: 3, Retries: 1, Timeout: 2 * time.Hour, Attempts: 3, Pause: 10 * time.Minute}
}

// effective are the settings with each limit at least at what a train needs to move.
func (s Settings) effective() Settings {
	s.Batch, s.Speculate, s.Retries, s.Attempts = max(s.Batch, 1), max(s.Speculate, 1), max(s.Retries, 0), max(s.Attempts, 1)
	if s.Timeout <= 0 {
		s.Timeout = Defaults().Timeout
	}
	return s
}
