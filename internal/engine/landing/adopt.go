package landing

import (
	"context"

	"github.com/mergexo/mergexo/internal/git/history"
)

// adopt takes over the commits up to tip, which an earlier run built, in place of those that this run has built from the same
// head. They are alike, and differ in their times.
func (m *member) adopt(ctx context.Context, on, tip string) error {
	own := m.made.Tip
	m.is.Tip, m.made.Tip, m.made.Tree = tip, tip, m.is.Tree
	if own == tip {
		return nil
	}
	built, err := history.List(ctx, m.Checkout, on, own)
	if err != nil {
		return err
	}
	landed, err := history.List(ctx, m.Checkout, on, tip)
	if err != nil {
		return err
	}
	is := map[string]string{}
	for i := range min(len(built), len(landed)) {
		if built[i].Subject == landed[i].Subject {
			is[built[i].SHA] = landed[i].SHA
		}
	}
	for i, c := range m.made.Commits {
		if m.made.Commits[i].SHA = is[c.SHA]; m.made.Commits[i].SHA == "" { // nobody knows which one it is
			m.made.Commits, m.made.Count = nil, 0
			break
		}
	}
	return nil
}
