package train_test

import (
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// Two requests are tested together and land.
func Example() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	facts := train.Facts{
		Base: "b0",
		Requests: map[int]train.Standing{
			7: {State: model.PullOpen, Head: "h7"},
			8: {State: model.PullOpen, Head: "h8"},
		},
		Asked: []train.Request{
			{Number: 7, Head: "h7", Token: "comment 1", At: now.Unix()},
			{Number: 8, Head: "h8", Token: "comment 2", At: now.Unix() + 1},
		},
		Branches: map[int]string{},
	}
	record := train.New("main")
	step := func() {
		var effects []train.Effect
		record, effects = train.Fold(record, facts, train.Defaults(), now)
		facts.Results = nil // here the record is written
		for _, e := range effects {
			switch e := e.(type) {
			case train.Build:
				fmt.Printf("build car %d onto %s\n", e.Car, e.Onto)
				facts.Results = append(facts.Results, train.Built{Car: e.Car, On: e.Onto,
					Members: []train.Member{{Number: 7, Head: "h7", Tip: "b1"}, {Number: 8, Head: "h8", Tip: "b2"}}})
			case train.Push:
				fmt.Printf("push %s to %s\n", e.Tip, e.Branch)
				facts.Branches[e.Car] = e.Tip
			case train.Land:
				fmt.Printf("land %s\n", e.To)
				facts.Base = e.To
			case train.Finish:
				fmt.Printf("#%d %s\n", e.Request.Number, e.Request.End.Outcome)
			}
		}
	}
	step()
	step()
	facts.Checks = map[string]train.Checks{"b2": {State: model.CheckPassed}}
	step()
	step()
	// Output:
	// build car 1 onto b0
	// push b2 to mergexo/train/main/1
	// land b2
	// #7 landed
	// #8 landed
}
