package train

import (
	"slices"
	"time"
)

// claimFor is how long a landing may take. A claim for longer than that and the difference of two clocks is none of ours.
const (
	claimFor    = 30 * time.Minute
	clocksApart = 5 * time.Minute
)

// Take makes the landing of a car that of holder, unless another run is at it. gone says of such a run whether it is over. Where
// nothing lands there is no claim.
func (m *Manifest) Take(holder string, now time.Time, gone func(rival string) (bool, error)) error {
	landing := slices.ContainsFunc(m.Cars, func(c Car) bool { return c.State == Moving })
	switch c := m.Claim; {
	case !landing:
		m.Claim = nil
		return nil
	case c == nil:
	case c.By(holder):
		return nil
	case now.Unix() < c.Until && c.Until <= now.Add(claimFor+clocksApart).Unix():
		over, err := gone(c.Holder)
		if err != nil || !over {
			return err
		}
	}
	m.Claim = &Claim{Holder: holder, Until: now.Add(claimFor).Unix()}
	return nil
}

// By says whether a claim is that of holder.
func (c *Claim) By(holder string) bool { return c != nil && c.Holder == holder }
