package landing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// moveBase and moveHead are the effects of a landing.
func (l *localMerger) moveBase() effect.Effect {
	as := model.Effect{Kind: "merge", Target: l.order.Base, Token: l.token("merge_local", l.order.Base)}
	move := effect.Move{Update: transport.Update{Branch: l.order.Base, Start: l.div.BaseSHA, SHA: l.made.Tip}, As: as}
	if l.order.Checkout.Local {
		move.By = effect.ForwardHere
	}
	if l.lock != nil {
		move.Drop = []git.Ref{l.lock.Ref()}
	}
	return effect.Push(move)
}

func (l *localMerger) moveHead() effect.Effect {
	kind, by := "push", effect.Rewrite
	if l.order.Checkout.Local {
		kind, by = "move", effect.RewriteHere
	}
	as := model.Effect{Kind: kind, Target: l.order.Branch, Token: l.token("head_local", l.order.Branch)}
	return effect.Push(effect.Move{Update: transport.Update{Branch: l.order.Branch, Start: l.div.HeadSHA, SHA: l.made.Tip}, By: by, As: as})
}

// token names the move of a branch by what is merged into what: the commits that land are others when they are built again.
func (l *localMerger) token(move, branch string) string {
	return journal.Token(move, branch, l.div.BaseSHA, l.div.HeadSHA, l.way.Strategy)
}

// moves are the effects in their order. In a checkout the base goes first, since it may be in use, and that changes nothing. On
// an origin the head does, as for a pull request.
func (l *localMerger) moves() []effect.Effect {
	switch {
	case !l.carries:
		return []effect.Effect{l.moveBase()}
	case l.order.Checkout.Local:
		return []effect.Effect{l.moveBase(), l.moveHead()}
	}
	return []effect.Effect{l.moveHead(), l.moveBase()}
}

// unmoved refuses branches that are not where they were when they were tested.
func (l *localMerger) unmoved(ctx context.Context) (err error) {
	base, head := "refs/heads/"+l.order.Base, "refs/heads/"+l.order.Branch
	at := map[string]string{}
	if l.order.Checkout.Local {
		at[base] = l.div.BaseSHA // which its move asks for
		at[head], err = merging.TipOf(ctx, l.Checkout, head)
	} else {
		at, err = fetch.Remote(ctx, l.Checkout, base, head)
	}
	switch {
	case err != nil:
		return err
	case at[base] != l.div.BaseSHA:
		return l.baseMoved(at[base])
	case at[head] == "":
		return &Failure{Failure: merge.Failure{Code: model.CodeBranchMissing, Detail: fmt.Sprintf("branch %s was deleted while it was tested", l.order.Branch)}}
	case at[head] != l.div.HeadSHA:
		return &Failure{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: fmt.Sprintf("%s moved from %s to %s", l.order.Branch, markdown.Short(l.div.HeadSHA), markdown.Short(at[head]))}}
	}
	return nil
}

// landHere moves the branches of the checkout.
func (l *localMerger) landHere(ctx context.Context) error {
	if err := l.unmoved(ctx); err != nil {
		return err
	}
	_, err := l.Apply(ctx, l.moveBase())
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) && rejected.Reason == git.Stale {
		return &Failure{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: err.Error()}}
	}
	if err != nil {
		return failureOf(err, l.way.Strategy)
	}
	if l.carries {
		if _, err := l.Apply(ctx, l.moveHead()); err != nil {
			l.keepHead(err.Error())
		}
	}
	return l.landed()
}

// keepHead notes why the branch is not at the result.
func (l *localMerger) keepHead(why string) {
	l.kept = fmt.Sprintf("The branch %s was not moved to the result: %s", l.order.Branch, why)
}

// rewriteHead moves the branch of the origin. Where the origin does not let a branch be moved like that, it stays.
func (l *localMerger) rewriteHead(ctx context.Context) error {
	_, err := l.Apply(ctx, l.moveHead())
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		l.tips = append(l.tips, l.made.Tip)
		return nil
	case !errors.As(err, &rejected) && !errors.As(err, &unclear):
		return err
	}
	at, lookErr := transport.BranchTip(ctx, l.Checkout, l.order.Branch)
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
		l.keepHead(rejected.Message)
	}
	return nil
}

// landThere moves the branches of the origin, and gives the lock back with the base. The branch moves while the base is where it was:
// onto a base that has gone back the branch would bring what was taken away there.
func (l *localMerger) landThere(ctx context.Context) error {
	l.kept = ""
	if err := l.unmoved(ctx); err != nil {
		return err
	}
	if l.carries {
		if err := l.rewriteHead(ctx); err != nil {
			return err
		}
	}
	move := l.moveBase()
	_, err := l.Apply(ctx, move)
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		return l.landed()
	case errors.As(err, &unclear):
	case errors.As(err, &rejected) && strings.Contains(rejected.Message, "hook declined") || strings.Contains(rejected.Message, "checked out"): // a rule of the origin's own, which stays
		return &Failure{Failure: merge.Failure{Code: model.CodeProtected, Detail: err.Error()}}
	case rejected == nil || rejected.Reason != git.Stale:
		return failureOf(err, l.way.Strategy)
	}
	at, lookErr := transport.BranchTip(ctx, l.Checkout, l.order.Base)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case at == l.made.Tip:
		thread.Noted(l.Thread, move.As, effect.Applied)
		return l.landed()
	case at == l.div.BaseSHA:
		return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: err.Error()}}
	}
	return l.baseMoved(at)
}

func (l *localMerger) baseMoved(at string) error {
	return &Failure{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: fmt.Sprintf("%s moved from %s to %s", l.order.Base, markdown.Short(l.div.BaseSHA), markdown.Short(at))}}
}
