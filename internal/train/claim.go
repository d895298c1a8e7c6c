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

// Take makes the landing of a car that of holder, and the word about what was lost, unless another run is at it. gone says of
// such a run whether it is over. Where nothing lands there is no claim on it.
func (m *Manifest) Take(holder string, now time.Time, gone func(rival string) (bool, error)) (err error) {
	if !slices.ContainsFunc(m.Cars, func(c Car) bool { return c.State == Moving }) {
		m.Claim = nil
	} else if m.Claim, err = m.Claim.taken(holder, now, gone); err != nil {
		return err
	}
	for i := range m.Losses {
		if m.Losses[i].By, err = m.Losses[i].By.taken(holder, now, gone); err != nil {
			return err
		}
	}
	return nil
}

// taken is a claim of holder, or c, if it is of holder or of another run that lives.
func (c *Claim) taken(holder string, now time.Time, gone func(rival string) (bool, error)) (*Claim, error) {
	switch {
	case c.By(holder):
		return c, nil
	case c != nil && now.Unix() < c.Until && c.Until <= now.Add(claimFor+clocksApart).Unix():
		over, err := gone(c.Holder)
		if err != nil || !over {
			return c, err
		}
	}
	return &Claim{Holder: holder, Until: now.Add(claimFor).Unix()}, nil
}

// By says whether a claim is that of holder.
func (c *Claim) By(holder string) bool { return c != nil && c.Holder == holder }
