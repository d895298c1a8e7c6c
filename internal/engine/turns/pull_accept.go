package turns

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// Accept checks one answer of the agent against the rules. It returns the head that results, and what a push of it would publish.
func (p *Pull) Accept(ctx context.Context, out, _ model.Outcome) (string, *history.Published, error) {
	head, err := work.GuardLocal(ctx, p.Work)
	if err != nil {
		return "", nil, err
	}
	if head == p.TakenUp && out.CommitMessage == "" { // nobody has said that the earlier work is ready
		head = work.Base(p.Work)
	}
	if strings.TrimSpace(out.CommitMessage) != "" {
		if head, err = commit(ctx, p.Attempt, head, out.CommitMessage); err != nil {
			return "", nil, err
		}
	}
	head, listed, err := ownAndInspect(ctx, p.Attempt, head)
	if err == nil {
		err = p.roadmaps(ctx, head, listed)
	}
	return head, listed, err
}

// roadmaps sends the agent back to a roadmap that it has changed and that no longer holds. listed is what a push of the head would
// publish, nil for nothing.
func (p *Pull) roadmaps(ctx context.Context, head string, listed *history.Published) error {
	for _, name := range listed.Paths() {
		if roadmap.FileOf(p.Settings.Roadmap.Dir, name) == 0 {
			continue
		}
		text, err := history.Blob(ctx, p.Checkout, head, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if wrong := roadmap.Check(name, text); len(wrong) > 0 {
			return &work.Repair{Name: "roadmap", Log: name + " is no longer valid:\n" + wrong.Error(), Reason: model.ReasonOutcome}
		}
	}
	return nil
}
