package sandbox

import (
	"slices"

	"github.com/graph-gophers/graphql-go"
)

// gqlLabelEvent is https://docs.github.com/en/graphql/reference/objects#labeledevent or, of the same shape, UnlabeledEvent.
type gqlLabelEvent struct {
	*look
	i *Issue
	e *LabelEvent
}

func (e *gqlLabelEvent) Actor() *gqlActor { return e.actor(e.e.Actor) }
func (e *gqlLabelEvent) CreatedAt() text  { return dateTime(e.e.At) }

func (e *gqlLabelEvent) ID() graphql.ID {
	if e.e.On {
		return graphql.ID(nodeID(nodeLabeled, e.e.ID))
	}
	return graphql.ID(nodeID(nodeUnlabeled, e.e.ID))
}

// Label is the label as it is called today; once it is deleted, as it was called then.
func (e *gqlLabelEvent) Label() *gqlLabel {
	for _, l := range e.i.repo.Labels {
		if l.ID == e.e.Label.ID {
			return &gqlLabel{e.look, e.i.repo, l}
		}
	}
	return &gqlLabel{e.look, e.i.repo, &e.e.Label}
}

// timelineItem is a member of the unions IssueTimelineItems and PullRequestTimelineItems.
type timelineItem struct{ *gqlLabelEvent }

func (t *timelineItem) ToLabeledEvent() (*gqlLabelEvent, bool)   { return t.gqlLabelEvent, t.e.On }
func (t *timelineItem) ToUnlabeledEvent() (*gqlLabelEvent, bool) { return t.gqlLabelEvent, !t.e.On }

// The other members of the unions that the schema knows; no item is one.

func (t *timelineItem) ToIssueComment() (*gqlComment, bool)           { return nil, false }
func (t *timelineItem) ToPullRequestCommit() (*gqlPullCommit, bool)   { return nil, false }
func (t *timelineItem) ToPullRequestReview() (*gqlReview, bool)       { return nil, false }
func (t *timelineItem) ToPullRequestReviewThread() (*gqlThread, bool) { return nil, false }

// TimelineItems are the label events, oldest first. The sandbox keeps no others, so it answers nobody who asks for them.
func (i *gqlSubject) TimelineItems(args struct {
	pageArgs
	ItemTypes *[]string
}) (*connection[timelineItem], error) {
	const on, off = "LABELED_EVENT", "UNLABELED_EVENT"
	if args.ItemTypes == nil || slices.ContainsFunc(*args.ItemTypes, func(t string) bool { return t != on && t != off }) {
		return nil, &refusal{"", "The sandbox keeps no timeline but label events: ask for itemTypes: [LABELED_EVENT, UNLABELED_EVENT]"}
	}
	var found []*LabelEvent
	for _, e := range i.i.LabelEvents {
		if slices.Contains(*args.ItemTypes, map[bool]string{true: on, false: off}[e.On]) {
			found = append(found, e)
		}
	}
	return pageOf(args.pageArgs, listing[*LabelEvent, timelineItem]{items: found,
		key:  func(_ int, e *LabelEvent) sortKey { return sortKey{e.At.Unix(), e.ID} },
		wrap: func(e *LabelEvent) *timelineItem { return &timelineItem{&gqlLabelEvent{i.look, i.i, e}} }})
}

func (l *look) findLabelEvent(id string) (any, *Repository) {
	for _, r := range l.s.st.Repositories {
		for _, i := range r.Issues {
			for _, e := range i.LabelEvents {
				if found := (&gqlLabelEvent{l, i, e}); string(found.ID()) == id {
					return found, r
				}
			}
		}
	}
	return nil, nil
}

// labelEventAs keeps apart the two kinds of label events, which are one type here.
func labelEventAs(n *gqlNode, on bool) (*gqlLabelEvent, bool) {
	e, ok := as[gqlLabelEvent](n)
	return e, ok && e.e.On == on
}
