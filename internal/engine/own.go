package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/guard"
	"github.com/mergexo/mergexo/internal/model"
)

// own makes the commits between base and head ours, whoever their agent said made them: those that the server does not have
// on a branch that was fetched. What was taken out of their messages is said.
func (p *pass) own(ctx context.Context, base, head string) (commits.Recommitted, error) {
	done, taken, err := p.recommit(ctx, base, head)
	if err == nil {
		p.tellTaken(taken)
	}
	return done, err
}

// recommit is own that tells people nothing.
func (p *pass) recommit(ctx context.Context, base, head string) (done commits.Recommitted, taken []string, err error) {
	done, err = commits.Recommit(ctx, p.Checkout, base, head, fetch.Tips(p.Checkout), func(message string) string {
		text, out := flow.Message(message, p.closes())
		taken = append(taken, out...)
		return text
	})
	if sprawl := (*guard.ErrTreeLimits)(nil); errors.As(err, &sprawl) {
		return done, nil, p.blocked(model.ReasonForbidden, sprawl.Error())
	}
	if err == nil && done.Head != head {
		slices.Sort(taken)
		taken = slices.Compact(taken)
		p.Log.Info("commits_made_ours", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "was", head, "head", done.Head, "taken_out", strings.Join(taken, ", "))
	}
	return done, taken, err
}

// ownHere is own for what the checkout is at, which moves along.
func (p *pass) ownHere(ctx context.Context, base, head string) (string, error) {
	done, err := p.own(ctx, base, head)
	if err == nil {
		err = commits.Follow(ctx, p.Checkout, done)
	}
	return done.Head, err
}

const takenOut = "taken out of the agent's commit messages: "

// tellTaken tells people in one note what was taken out of the messages of an agent's commits.
func (p *pass) tellTaken(taken []string) {
	if len(taken) == 0 {
		return
	}
	at := slices.IndexFunc(p.notes, func(n string) bool { return strings.HasPrefix(n, takenOut) })
	if at < 0 {
		p.note(takenOut + strings.Join(taken, ", "))
		return
	}
	all := append(strings.Split(strings.TrimPrefix(p.notes[at], takenOut), ", "), taken...)
	slices.Sort(all)
	p.notes[at] = takenOut + strings.Join(slices.Compact(all), ", ")
}

// closes is the number that commits may close: what they are for, unless they only design what is to be done.
func (p *pass) closes() int {
	switch {
	case p.issue != nil && p.issue.marker.Flow != model.FlowDesign, p.issue == nil && p.Snap.Pull.CrossRepo:
		return p.Event.Number
	}
	return 0
}
