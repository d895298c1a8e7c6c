package model

import (
	"cmp"
	"slices"
	"time"
)

// Lease says which process works on a record, and until when. Every marker of a record embeds one.
type Lease struct {
	Run        int64     `json:"run,omitempty"` // workflow run id; 0 in a terminal
	RunAttempt int       `json:"run_attempt,omitempty"`
	RunURL     string    `json:"run_url,omitempty"`
	Expires    time.Time `json:"expires,omitzero"` // when it is over, whatever else is known; zero: nobody holds the record
	// Claim is the random name of the process that took it. It stays when the work has ended.
	Claim string `json:"claim,omitempty"`
}

// Leased is the marker of a record: a comment of ours that a run claims, rewrites and ends.
type Leased interface {
	// Holder is the lease in the marker.
	Holder() *Lease
	// Open reports whether work is left.
	Open() bool
}

// Holder makes a marker with a lease Leased.
func (l *Lease) Holder() *Lease { return l }

// Expired reports whether the lease is over at this time on GitHub's clock; a zero time is not known.
func (l Lease) Expired(now time.Time) bool {
	return !l.Expires.IsZero() && !now.IsZero() && !now.Before(l.Expires)
}

// Recorded is a record as it was read.
type Recorded struct {
	Leased
	URL       string
	UpdatedAt time.Time
}

// Record finds a record by its comment; nil: it is not there.
func (s State) Record(comment int64) *Recorded {
	return cmp.Or(recorded(s.Turns, comment), recorded(s.Merges, comment), recorded(s.Reviews, comment), recorded(s.Externals, comment),
		recorded(only(s.Roadmap), comment), recorded(only(s.Conflicts), comment))
}

func only[M any](said *Posted[M]) []Posted[M] {
	if said == nil {
		return nil
	}
	return []Posted[M]{*said}
}

func recorded[M any, P interface {
	*M
	Leased
}](all []Posted[M], comment int64) *Recorded {
	at := slices.IndexFunc(all, func(said Posted[M]) bool { return said.CommentID == comment })
	if at < 0 {
		return nil
	}
	return &Recorded{P(&all[at].Marker), all[at].URL, all[at].UpdatedAt}
}
