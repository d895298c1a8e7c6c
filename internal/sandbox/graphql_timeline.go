package sandbox

import (
	"slices"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/mergexo/mergexo/internal/model"
)

// gqlLabelEvent is https://docs.github.com/en/graphql/reference/objects#labeledevent or, of the same shape, UnlabeledEvent.
type gqlLabelEvent struct {
	look *look
	i    *Issue
	e    *LabelEvent
}

func (e *gqlLabelEvent) Actor() *gqlActor { return e.look.actor(e.e.Actor) }
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

// gqlTitleEvent is https://docs.github.com/en/graphql/reference/objects#renamedtitleevent.
type gqlTitleEvent struct {
	look *look
	e    *TitleEvent
}

func (e *gqlTitleEvent) Actor() *gqlActor      { return e.look.actor(e.e.Actor) }
func (e *gqlTitleEvent) CreatedAt() text       { return dateTime(e.e.At) }
func (e *gqlTitleEvent) CurrentTitle() string  { return e.e.To }
func (e *gqlTitleEvent) PreviousTitle() string { return e.e.From }
func (e *gqlTitleEvent) ID() graphql.ID        { return graphql.ID(nodeID(nodeRenamed, e.e.ID)) }

// gqlBaseEvent is https://docs.github.com/en/graphql/reference/objects#baserefchangedevent. AutomaticBaseChangeSucceededEvent,
// which the sandbox has no occasion for, is of the same shape as far as the schema here goes.
type gqlBaseEvent struct {
	look *look
	e    *BaseEvent
}

func (e *gqlBaseEvent) Actor() *gqlActor        { return e.look.actor(e.e.Actor) }
func (e *gqlBaseEvent) CreatedAt() text         { return dateTime(e.e.At) }
func (e *gqlBaseEvent) CurrentRefName() string  { return e.e.To }
func (e *gqlBaseEvent) PreviousRefName() string { return e.e.From }
func (e *gqlBaseEvent) ID() graphql.ID          { return graphql.ID(nodeID(nodeBaseChanged, e.e.ID)) }

// gqlDeletion is https://docs.github.com/en/graphql/reference/objects#commentdeletedevent. It does not say which comment that was.
type gqlDeletion struct {
	look *look
	i    *Issue
	e    *Deletion
}

func (e *gqlDeletion) CreatedAt() text                 { return dateTime(e.e.At) }
func (e *gqlDeletion) ID() graphql.ID                  { return graphql.ID(nodeID(nodeDeletion, e.e.ID)) }
func (e *gqlDeletion) DeletedCommentAuthor() *gqlActor { return e.look.actor(e.e.Author) }

// Actor is shown to people with write access only:
// https://docs.github.com/en/communities/moderating-comments-and-conversations/managing-disruptive-comments
func (e *gqlDeletion) Actor() *gqlActor {
	if w := e.look.s.world; w.permission(e.i.repo, e.look.viewer.Login) < model.PermissionWrite {
		return nil
	}
	return e.look.actor(e.e.Actor)
}

// timelineItem is an event, which is a member of the unions IssueTimelineItems and PullRequestTimelineItems.
type timelineItem struct {
	kind  string
	key   sortKey
	event interface{ ID() graphql.ID }
}

// The words of GitHub's IssueTimelineItemsItemType for what the sandbox keeps.
const (
	itemLabeled   = "LABELED_EVENT"
	itemUnlabeled = "UNLABELED_EVENT"
	itemRenamed   = "RENAMED_TITLE_EVENT"
	itemQueued    = "ADDED_TO_MERGE_QUEUE_EVENT"
	itemDequeued  = "REMOVED_FROM_MERGE_QUEUE_EVENT"
	itemRebased   = "BASE_REF_CHANGED_EVENT"
	itemDeleted   = "COMMENT_DELETED_EVENT"
	itemMoved     = "AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT" // there never is one
)

var itemsKept = []string{itemLabeled, itemUnlabeled, itemRenamed, itemQueued, itemDequeued, itemRebased, itemDeleted, itemMoved}

// timeline is all that the sandbox keeps of an issue's.
func (l *look) timeline(i *Issue) []timelineItem {
	var all []timelineItem
	add := func(kind string, at time.Time, id int64, event interface{ ID() graphql.ID }) {
		all = append(all, timelineItem{kind, sortKey{at.Unix(), id}, event})
	}
	for _, e := range i.LabelEvents {
		add(map[bool]string{true: itemLabeled, false: itemUnlabeled}[e.On], e.At, e.ID, &gqlLabelEvent{l, i, e})
	}
	for _, e := range i.TitleEvents {
		add(itemRenamed, e.At, e.ID, &gqlTitleEvent{l, e})
	}
	for _, e := range i.Deletions {
		add(itemDeleted, e.At, e.ID, &gqlDeletion{l, i, e})
	}
	if i.Pull != nil {
		for _, e := range i.Pull.QueueEvents {
			add(map[bool]string{true: itemQueued, false: itemDequeued}[e.On], e.At, e.ID, &gqlQueueEvent{l, i, e})
		}
		for _, e := range i.Pull.BaseEvents {
			add(itemRebased, e.At, e.ID, &gqlBaseEvent{l, e})
		}
	}
	return all
}

// TimelineItems are labels, titles, bases, deleted comments and the merge queue, oldest first. The sandbox keeps nothing else, so it answers nobody who
// asks for more.
func (i *gqlSubject) TimelineItems(args struct {
	pageArgs
	ItemTypes *[]string
}) (*connection[gqlNode], error) {
	if args.ItemTypes == nil || slices.ContainsFunc(*args.ItemTypes, func(t string) bool { return !slices.Contains(itemsKept, t) }) {
		return nil, &refusal{kind: "", message: "The sandbox keeps no timeline but these: ask for itemTypes: [" + strings.Join(itemsKept, ", ") + "]"}
	}
	found := slices.DeleteFunc(i.look.timeline(i.i), func(t timelineItem) bool { return !slices.Contains(*args.ItemTypes, t.kind) })
	return pageOf(args.pageArgs, listing[timelineItem, gqlNode]{items: found,
		key:  func(_ int, t timelineItem) sortKey { return t.key },
		wrap: func(t timelineItem) *gqlNode { return &gqlNode{string(t.event.ID()), t.event} }})
}

func (l *look) findTimelineEvent(id string) (any, *Repository) {
	for _, r := range l.s.st.Repositories {
		for _, i := range r.Issues {
			for _, t := range l.timeline(i) {
				if string(t.event.ID()) == id {
					return t.event, r
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

// queueEventAs keeps apart the two kinds of events of the merge queue, which are one type here.
func queueEventAs(n *gqlNode, on bool) (*gqlQueueEvent, bool) {
	e, ok := as[gqlQueueEvent](n)
	return e, ok && e.e.On == on
}
