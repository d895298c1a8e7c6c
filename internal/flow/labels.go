// Package flow makes the pure decisions on the way from an issue to a pull request. It decides which flow a label starts, who may
// start it, whether an outcome is valid, what happens next, and what people are told.
package flow

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Labels are those in the settings. An empty one matches no issue.
type Labels struct{ Design, Roadmap, Bugfix, SmallJob, Ignore string }

// Of returns the flow that an issue's labels ask for, and that label; ok is false for none. The order is: the label that
// pauses everything, bug fix, small job, design, roadmap.
func Of(labels []string, l Labels) (f model.Flow, label string, ok bool) {
	if model.Named(labels, l.Ignore) {
		return "", l.Ignore, false
	}
	for _, one := range []struct {
		label string
		flow  model.Flow
	}{{l.Bugfix, model.FlowBugfix}, {l.SmallJob, model.FlowSmallJob}, {l.Design, model.FlowDesign}, {l.Roadmap, model.FlowRoadmap}} {
		if model.Named(labels, one.label) {
			return one.flow, one.label, true
		}
	}
	return "", "", false
}

// Labelled is when the label was last added; ok is false if that is not known.
func Labelled(i model.Issue, label string) (change model.LabelChange, ok bool) {
	for _, c := range slices.Backward(i.LabelChanges) {
		if c.On && strings.EqualFold(c.Label, label) {
			return c, true
		}
	}
	return model.LabelChange{}, false
}

// maxChanges is how many of an issue's label changes are known: the newest ones.
const maxChanges = 100

// Since is when a label that starts an agent was first added; the zero time if never. known is false if there may have been
// earlier changes.
func Since(i model.Issue, l Labels) (first time.Time, known bool) {
	for _, label := range []string{l.Bugfix, l.SmallJob, l.Design, l.Roadmap} {
		at := slices.IndexFunc(i.LabelChanges, func(c model.LabelChange) bool { return label != "" && strings.EqualFold(c.Label, label) })
		switch {
		case at >= 0 && i.LabelChanges[at].On:
			if first.IsZero() || i.LabelChanges[at].At.Before(first) {
				first = i.LabelChanges[at].At
			}
		case at >= 0 || model.Named(i.Labels, label):
			return time.Time{}, false
		}
	}
	return first, len(i.LabelChanges) < maxChanges
}

// Starters are the people, in lower case, who can start work on the issue: who added the label, and the author.
func Starters(i model.Issue, label string) []string {
	var logins []string
	c, _ := Labelled(i, label)
	for _, a := range []model.Actor{c.By, i.Author} {
		if login, ok := person(a); ok && !slices.Contains(logins, login) {
			logins = append(logins, login)
		}
	}
	return logins
}

// Why work on an issue may not begin.
const (
	WhyNobody  = "neither the author of the issue nor the person who added the label may start an agent"
	WhyChanged = "changed after it was labeled: add the label again"
	WhyEdited  = "somebody who may not start an agent changed its title or text: check them, then add the label yourself"
)

// MayStart reports whether work on the issue may start, and why not. The author's right is enough, unless we are the author. If only the person who
// added the label has it, nobody without the right may have changed the issue since. GitHub's times are in whole seconds,
// so a change in the same second counts as later. An item of a roadmap is ours, and starts if we added the label: somebody with
// the right merged the plan that it is part of. Nobody looked at the issue before that label, so every change counts.
func MayStart(i model.Issue, label string, may func(login string) bool) (ok bool, why string) {
	allowed := func(a model.Actor) bool {
		login, ok := person(a)
		return ok && may(login)
	}
	if i.Item == "" && allowed(i.Author) {
		return true, ""
	}
	labelled, ok := Labelled(i, label)
	switch {
	case ok && !allowed(labelled.By) && ours(i, labelled.By):
		return Untouched(i, may)
	case !ok || !allowed(labelled.By):
		return false, WhyNobody
	}
	for _, e := range edits(i) {
		if !e.At.Before(labelled.At) && !allowed(e.By) && !ours(i, e.By) {
			return false, WhyChanged
		}
	}
	return true, ""
}

// Untouched reports whether an item of a roadmap may start without a look of a person at its issue, and why not.
func Untouched(i model.Issue, may func(login string) bool) (ok bool, why string) {
	for _, e := range edits(i) {
		if login, ok := person(e.By); !ours(i, e.By) && !(ok && may(login)) {
			return false, WhyEdited
		}
	}
	return true, ""
}

// Editors are the people, in lower case, whose right decides whether an item of a roadmap starts by itself.
func Editors(i model.Issue) (logins []string) {
	for _, e := range edits(i) {
		if login, ok := person(e.By); ok && !ours(i, e.By) && !slices.Contains(logins, login) {
			logins = append(logins, login)
		}
	}
	return logins
}

// ByItself reports whether an issue is an item of a roadmap that has the label from us.
func ByItself(i model.Issue, label string) bool {
	labelled, ok := Labelled(i, label)
	return ok && ours(i, labelled.By)
}

// ours reports whether an account is the one that opened the item of a roadmap that the issue is.
func ours(i model.Issue, a model.Actor) bool {
	return i.Item != "" && strings.EqualFold(a.Login, i.Author.Login)
}

// edits are the changes of the title and the text. Those of the text that were not read may be anybody's.
func edits(i model.Issue) []model.Edit {
	all := slices.Clone(i.TitleEdits)
	if i.BodyEdit != nil {
		all = append(all, *i.BodyEdit)
	}
	if all = append(all, i.BodyEdits...); i.MoreBodyEdits {
		unread := model.Edit{}
		if len(i.BodyEdits) > 0 {
			unread.At = i.BodyEdits[0].At
		}
		all = append(all, unread)
	}
	return all
}

// person is the login of somebody who is not a bot, in lower case.
func person(a model.Actor) (login string, ok bool) {
	return strings.ToLower(a.Login), a.Login != "" && !a.Bot
}
