package command

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// DelegateCancel is the name of `delegate cancel` in its receipt.
const DelegateCancel = "delegate cancel"

// maxDelegates bounds how many people may be delegates of one pull request.
const maxDelegates = 20

// delegated reports whether somebody was a delegate at a time, and still is.
func (p Policy) delegated(login string, at time.Time) bool {
	return slices.ContainsFunc(p.Delegates, func(d model.Delegate) bool { return strings.EqualFold(d.Login, login) && at.After(d.At) })
}

// RoleOf derives the role of the author of a comment: that of Role, or of a delegate. What they said before they were one does not
// count, and neither does a delegate who has lost access.
func (p Policy) RoleOf(c model.Comment, permission model.Permission) Role {
	role := p.Role(c.Author.Login, permission)
	if role != Operator && permission >= model.PermissionRead && p.delegated(c.Author.Login, c.SaidAt()) {
		return Delegate
	}
	return role
}

// Delegable reports whether a delegate of the pull request with this number may give the command there: a merge of that pull
// request that does not overtake others.
func (c Command) Delegable(number int) bool {
	return c.Name == "merge" && (c.PR == 0 || c.PR == number) && c.Issue == 0 && !c.Train.Now && c.Train.Priority <= 0
}

// RefuseDelegate answers a command that a delegate may not give.
func RefuseDelegate(c Case) Answer {
	return c.reject("A delegate such as %s can give `/mergexo merge`, `/mergexo merge cancel` and `/mergexo try` here, without `now` and without a `priority` above normal. An operator can give this command.", c.By)
}

// delegate lets somebody have this pull request merged, or takes that back, which is always allowed.
func delegate(c Case) Answer {
	number, who := c.Target.Pull.Number, c.Command.Login
	if c.Command.Cancel {
		if len(c.State.Delegates) == 0 {
			return c.reject("Pull request %d has no delegates.", number)
		}
		return c.delegation(DelegateCancel, "", "**Revoked.** Pull request %d has no delegates now. An earlier request to merge stays open: `/mergexo merge cancel` cancels it.", number)
	}
	if a, ok := c.changeable(); !ok {
		return a
	}
	switch {
	case c.Policy.Role(who, c.Facts.Permission) == Operator:
		return c.reject("%s may already have every pull request merged.", who)
	case c.Facts.Permission < model.PermissionRead:
		return c.reject("%s has no access to this repository. Give them read access as a collaborator first, and give the command again.", who)
	case slices.ContainsFunc(c.State.Delegates, func(d model.Delegate) bool { return strings.EqualFold(d.Login, who) }):
		return c.reject("%s is already a delegate of pull request %d.", who, number)
	case len(c.State.Delegates) >= maxDelegates:
		return c.reject("Pull request %d has %d delegates, which is the maximum. `/mergexo delegate cancel` revokes all of them.", number, maxDelegates)
	}
	return c.delegation("delegate", who, "**Delegated.** @%s can now have this pull request merged, with `/mergexo merge`, `/mergexo merge cancel` and `/mergexo try`. "+
		"All conditions still apply: a new head has to be approved. `/mergexo delegate cancel` revokes it.", who)
}

// delegation is an applied answer with the receipt that makes it so.
func (c Case) delegation(name, login, format string, args ...any) Answer {
	a := c.apply(format, args...)
	a.Marker = model.CommandMarker{Key: c.Key, Command: name, Result: model.Applied, By: c.By, At: c.At, Login: login}
	return a
}
