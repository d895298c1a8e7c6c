package landing

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// confirm looks once more at all that may have changed while the tests ran, and at who says that it is at this merge.
func (g *merger) confirm(ctx context.Context) error {
	if err := lookAgain(ctx, g, g.marker.Claim); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool { return m.is.Landed != "" })
	for _, m := range left {
		if err := refresh(ctx, g, m); err != nil {
			return of(g, m, err)
		}
	}
	if err := halted(ctx, g); err != nil {
		return err
	}
	for _, m := range left {
		v, err := m.Evaluate(ctx, requestOf(g, m), "")
		if err != nil {
			return err
		}
		if !v.Go {
			return of(g, m, &Failure{Failure: merge.Failure{Code: v.Code, Detail: v.Reason}, waits: v.Wait})
		}
		if at := m.MergeFacts.BaseSHA; at != m.is.BaseSHA {
			return of(g, m, failed(model.CodeBaseMoved, movedTo(m.is.Base, m.is.BaseSHA, at)))
		}
	}
	return nil
}

// refresh reads a member as it is now; the request itself was read just before. It must not land by other settings than those of
// the commit that it lands on.
func refresh(ctx context.Context, g *merger, m *member) error {
	if !isSelf(g, m) {
		if err := m.Read(ctx); err != nil {
			return err
		}
	}
	m.MergeFacts = nil
	was := m.Settings
	if err := thread.Configure(m.Thread); err != nil || reflect.DeepEqual(was, m.Settings) {
		return err
	}
	return &Failure{again: true, Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: fmt.Sprintf("the settings on %s changed in the meantime", m.is.Base)}}
}

// halts are the commands that stop a merge which has not begun to land.
var halts = []string{"pause", "release", "merge"}

// halted ends a merge of which an operator has asked that it stops, in a comment that no run has answered yet. Its *Failure names
// the comment.
func halted(ctx context.Context, g *merger) error {
	stops := func(c command.Command) bool {
		return c.Problem == "" && slices.Contains(halts, c.Name) && (c.Name != "merge" || c.Cancel)
	}
	open, err := thread.Commands(ctx, g.Thread, func(s command.Said) bool { return slices.ContainsFunc(s.Commands, stops) })
	if err != nil {
		return err
	}
	for _, said := range open {
		role := thread.CommandPolicy(g.Thread).RoleOf(said.Comment, g.Memory.Rights[strings.ToLower(said.Comment.Author.Login)])
		delegated := func(c command.Command) bool { return stops(c) && c.Delegable(g.Event.Number) }
		if role == command.Operator || role == command.Delegate && slices.ContainsFunc(said.Commands, delegated) {
			why := fmt.Sprintf("%s made another request in the meantime, see %s", said.Comment.Author.Login, said.Comment.URL)
			return &Failure{waits: true, Failure: merge.Failure{Code: model.CodeBlocked, Detail: why}}
		}
	}
	return nil
}
