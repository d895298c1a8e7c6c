package train_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// Only one run at a time is at a landing, and one that is over or that nobody can have begun keeps nobody from it.
func TestWhoMayLand(t *testing.T) {
	in := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	type row struct {
		state train.State
		claim *train.Claim
		over  bool
		fails error
		holds string
		asked bool
	}
	must.Each(t, map[string]row{
		"nothing lands":               {state: train.Green, claim: &train.Claim{Holder: "other", Until: in(time.Minute)}},
		"nobody is at it":             {state: train.Moving, holds: "me"},
		"we are":                      {state: train.Moving, claim: &train.Claim{Holder: "me", Until: in(-time.Hour)}, holds: "me"},
		"another run is":              {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(time.Minute)}, holds: "other", asked: true},
		"another run was":             {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(time.Minute)}, over: true, holds: "me", asked: true},
		"nobody can say":              {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(time.Minute)}, fails: errors.New("503"), holds: "other", asked: true},
		"for too long":                {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(0)}, holds: "me"},
		"its clock is ahead":          {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(35 * time.Minute)}, holds: "other", asked: true},
		"for longer than any landing": {state: train.Moving, claim: &train.Claim{Holder: "other", Until: in(35*time.Minute + time.Second)}, holds: "me"},
	}, func(t *testing.T, c row) {
		m := train.New("main")
		m.Claim = c.claim
		m.Cars = []train.Car{{Number: 1, State: c.state}}
		asked := false
		err := m.Take("me", noon, func(rival string) (bool, error) {
			asked = true
			assert.Equal(t, "other", rival)
			return c.over, c.fails
		})
		assert.Equal(t, c.fails, err)
		assert.Equal(t, c.asked, asked)
		assert.Equal(t, c.holds == "me", m.Claim.By("me"))
		if c.holds == "" {
			assert.Nil(t, m.Claim)
		} else {
			assert.Equal(t, c.holds, m.Claim.Holder)
		}
	})
}
