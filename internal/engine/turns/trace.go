package turns

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/model"
)

// Trace returns what the turn at hand leaves beside its receipt, in replies and commits.
func Trace(p *Attempt) model.AnswerMarker {
	m := p.Marker
	return model.AnswerMarker{Repo: m.Repo, Number: m.Number, Key: m.Key, Events: m.Events, Start: m.Start, Head: m.Planned, Since: m.Since, Seen: m.Seen, Session: m.Session}
}

// trail has the last commit of a turn say which turn it is of, and gives the head that it is then. Of an issue's work the pull request
// tells.
func trail(ctx context.Context, p *Attempt, head string) (string, error) {
	if p.Issue != nil || head == work.Base(p.Work) || head != p.Made.Head {
		return head, nil
	}
	done, err := checkout.Reword(ctx, p.Checkout, p.Made, func(message string) string { return p.Codec.Trail(message, Trace(p)) })
	if err == nil {
		err = checkout.Follow(ctx, p.Checkout, done)
	}
	return done.Head, err
}
