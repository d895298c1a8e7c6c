package landing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// landHere moves the branches of the checkout: the base first, since it may be in use, and that changes nothing.
func (l *localMerger) landHere(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := merging.LandLocal(ctx, l.checkout, l.order.Base, l.div.BaseSHA, l.made.Tip)
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) && rejected.Reason == git.Stale {
		return &Failure{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: err.Error()}}
	}
	if err != nil {
		return failureOf(err, l.way.Strategy)
	}
	move := func(ctx context.Context, branch, from, to string) error {
		return merging.MoveLocal(ctx, l.checkout, branch, from, to)
	}
	if err := l.carry(ctx, move); err != nil {
		l.kept = fmt.Sprintf("The branch %s was not moved to the result: %s", l.order.Branch, err)
	}
	return l.landed()
}

// carry moves the branch to the tip, where it is not part of what lands.
func (l *localMerger) carry(ctx context.Context, move func(ctx context.Context, branch, from, to string) error) error {
	relation, err := history.Relation(ctx, l.checkout, l.div.HeadSHA, l.made.Tip)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return err
	}
	return move(ctx, l.order.Branch, l.div.HeadSHA, l.made.Tip)
}

// moveHead moves the branch of the origin, while the base is where it was: onto a base that has gone back the branch would
// bring what was taken away there. Where the origin does not let a branch be moved like that, it stays.
func (l *localMerger) moveHead(ctx context.Context) error {
	l.kept = ""
	err := l.carry(ctx, func(ctx context.Context, branch, from, to string) error {
		at, err := transport.BranchTip(ctx, l.checkout, l.order.Base)
		if err == nil && at != l.div.BaseSHA {
			err = l.baseMoved(at)
		}
		if err == nil {
			err = transport.Rewrite(ctx, l.checkout, branch, from, to)
		}
		if err == nil {
			l.tips = append(l.tips, to)
		}
		return err
	})
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	if !errors.As(err, &rejected) && !errors.As(err, &unclear) {
		return err
	}
	at, lookErr := transport.BranchTip(ctx, l.checkout, l.order.Branch)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case at == l.made.Tip:
		l.tips = append(l.tips, at)
	case at != l.div.HeadSHA:
		return &Failure{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: err.Error()}}
	case rejected == nil:
		return failureOf(err, l.way.Strategy)
	default:
		l.kept = fmt.Sprintf("The branch %s was not moved to the result: %s", l.order.Branch, rejected.Message)
	}
	return nil
}

// landThere moves the branches of the origin: the head first where it is not part of what lands, as for a pull request.
func (l *localMerger) landThere(ctx context.Context, lock *transport.Lock) error {
	ctx = context.WithoutCancel(ctx)
	if err := l.moveHead(ctx); err != nil {
		return err
	}
	order := transport.Update{Branch: l.order.Base, Start: l.div.BaseSHA, SHA: l.made.Tip}
	if lock != nil {
		order.Drop = []git.Ref{lock.Ref()}
	}
	err := transport.Publish(ctx, l.checkout, order)
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		return l.landed()
	case errors.As(err, &unclear):
	case errors.As(err, &rejected) && strings.Contains(rejected.Message, "hook declined"): // a rule of the origin's own, which stays
		return &Failure{Failure: merge.Failure{Code: model.CodeProtected, Detail: err.Error()}}
	case rejected == nil || rejected.Reason != git.Stale:
		return failureOf(err, l.way.Strategy)
	}
	at, lookErr := transport.BranchTip(ctx, l.checkout, l.order.Base)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case at == l.made.Tip:
		return l.landed()
	case at == l.div.BaseSHA:
		return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: err.Error()}}
	}
	return l.baseMoved(at)
}

func (l *localMerger) baseMoved(at string) error {
	return &Failure{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: fmt.Sprintf("%s moved from %s to %s", l.order.Base, markdown.Short(l.div.BaseSHA), markdown.Short(at))}}
}
