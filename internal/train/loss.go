package train

import "slices"

// Loss is a record, or what a record said of a car, that was not what a run had written.
type Loss struct {
	Record string `json:"record"`        // commit that is not obeyed
	Why    string `json:"why"`           // without a full stop
	Car    int    `json:"car,omitempty"` // only what was said of this car; 0: all of the record
	Tell   []int  `json:"tell,omitempty"`
	By     *Claim `json:"by,omitempty"` // who tells; nil: nobody yet
}

// Lose notes that a record was not obeyed, and that the manifest was made again from the requests in it.
func (m Manifest) Lose(record, why string) Manifest {
	loss := Loss{Record: record, Why: why}
	for _, r := range m.Queue {
		loss.Tell = append(loss.Tell, r.Number)
	}
	m.Losses = append(slices.Clone(m.Losses), loss)
	return m
}

// TellLoss says once in the conversation of a request what the record has lost. Result: LossTold.
type TellLoss struct {
	Request Request
	Loss    Loss
}

func (TellLoss) effect() {}

// LossTold is a request whose conversation tells of a loss.
type LossTold struct {
	Number int
	Record string
}

func (r LossTold) learn(f *fold) {
	for i := range f.Losses {
		if l := &f.Losses[i]; l.Record == r.Record {
			l.Tell = slices.DeleteFunc(slices.Clone(l.Tell), func(n int) bool { return n == r.Number })
		}
	}
}

// forget leaves out who is in the queue no more, and then the losses that nobody has to hear of.
func forget(f *fold) {
	for i := range f.Losses {
		l := &f.Losses[i]
		l.Tell = slices.DeleteFunc(slices.Clone(l.Tell), func(n int) bool { return f.request(n) < 0 })
	}
	f.Losses = slices.DeleteFunc(f.Losses, func(l Loss) bool { return len(l.Tell) == 0 })
	if len(f.Losses) == 0 {
		f.Losses = nil
	}
}

// losses are who has to hear of what was lost.
func losses(f *fold) []Effect {
	var out []Effect
	for _, l := range f.Losses {
		for _, n := range l.Tell {
			out = append(out, TellLoss{Request: f.Queue[f.request(n)], Loss: Loss{Record: l.Record, Why: l.Why, Car: l.Car}})
		}
	}
	return out
}
