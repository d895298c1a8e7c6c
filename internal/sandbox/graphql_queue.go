package sandbox

import (
	"context"
	"slices"

	"github.com/graph-gophers/graphql-go"
)

// IsMergeQueueEnabled says that the base has a merge queue.
func (p *gqlPull) IsMergeQueueEnabled() bool { return p.i.hasQueue() }

func (p *gqlPull) MergeQueueEntry() *gqlQueueEntry {
	if e := p.i.queued(); e != nil {
		return &gqlQueueEntry{p, e}
	}
	return nil
}

// gqlQueueEntry is https://docs.github.com/en/graphql/reference/objects#mergequeueentry.
type gqlQueueEntry struct {
	p *gqlPull
	e *QueueEntry
}

func (q *gqlQueueEntry) ID() graphql.ID         { return graphql.ID(nodeID(nodeQueueEntry, q.e.ID)) }
func (q *gqlQueueEntry) PullRequest() *gqlPull  { return q.p }
func (q *gqlQueueEntry) HeadCommit() *gqlCommit { return q.p.look.commit(q.p.repo, q.e.Group) }

func (q *gqlQueueEntry) Enqueuer() *gqlActor {
	return &gqlActor{look: q.p.look, u: q.p.look.s.world.author(q.e.Enqueuer)}
}

// Position counts from one.
func (q *gqlQueueEntry) Position() int32 {
	return int32(slices.Index(q.p.i.repo.Queues[q.p.i.Pull.BaseRef], q.e) + 1)
}

func (q *gqlQueueEntry) State() string {
	if q.e.Group == "" {
		return "QUEUED"
	}
	return "AWAITING_CHECKS"
}

// gqlQueueEvent is https://docs.github.com/en/graphql/reference/objects#removedfrommergequeueevent or AddedToMergeQueueEvent.
type gqlQueueEvent struct {
	look *look
	i    *Issue
	e    *QueueEvent
}

func (e *gqlQueueEvent) Actor() *gqlActor         { return e.look.actor(e.e.Actor) }
func (e *gqlQueueEvent) CreatedAt() text          { return dateTime(e.e.At) }
func (e *gqlQueueEvent) Reason() *string          { return some(e.e.Reason) }
func (e *gqlQueueEvent) BeforeCommit() *gqlCommit { return e.look.commit(e.i.repo, e.e.Before) }

func (e *gqlQueueEvent) ID() graphql.ID {
	if e.e.On {
		return graphql.ID(nodeID(nodeQueueAdded, e.e.ID))
	}
	return graphql.ID(nodeID(nodeQueueRemoved, e.e.ID))
}

// gqlQueued is the payload of EnqueuePullRequest and of DequeuePullRequest.
type gqlQueued struct {
	ClientMutationID *string
	MergeQueueEntry  *gqlQueueEntry
}

// pullToQueue finds the pull request of a mutation for somebody who may queue it.
func pullToQueue(ctx context.Context, id graphql.ID) (*gqlPull, error) {
	l := lookOf(ctx)
	n := l.node(string(id))
	if n == nil {
		return nil, unresolved("Could not resolve to a node with the global id of '%s'", id)
	}
	pull, ok := as[gqlPull](n)
	if !ok {
		return nil, unresolved("Could not resolve to PullRequest node with the global id of '%s'", id)
	}
	return pull, l.mayQueue(pull.repo)
}

// EnqueuePullRequest is https://docs.github.com/en/graphql/reference/mutations#enqueuepullrequest.
func (*gqlRoot) EnqueuePullRequest(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ExpectedHeadOID  *text
		Jump             *bool
		PullRequestID    graphql.ID
	}
}) (*gqlQueued, error) {
	pull, err := pullToQueue(ctx, args.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	if args.Input.Jump != nil {
		return nil, &refusal{kind: "", message: "The sandbox lets nobody jump its merge queues"}
	}
	expected := ""
	if args.Input.ExpectedHeadOID != nil {
		expected = string(*args.Input.ExpectedHeadOID)
	}
	e, err := pull.look.s.queues.enqueue(pull.i, pull.look.viewer, expected)
	if err != nil {
		return nil, err
	}
	return &gqlQueued{args.Input.ClientMutationID, &gqlQueueEntry{pull, e}}, nil
}

// DequeuePullRequest is https://docs.github.com/en/graphql/reference/mutations#dequeuepullrequest.
func (*gqlRoot) DequeuePullRequest(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ID               graphql.ID
	}
}) (*gqlQueued, error) {
	pull, err := pullToQueue(ctx, args.Input.ID)
	if err != nil {
		return nil, err
	}
	e := pull.i.queued()
	if e == nil {
		return nil, &refusal{kind: "UNPROCESSABLE", message: "Pull request is not in the queue"}
	}
	pull.look.s.queues.leave(pull.i, pull.look.viewer, leftManual)
	return &gqlQueued{args.Input.ClientMutationID, &gqlQueueEntry{pull, e}}, pull.look.s.queues.advance(pull.repo, pull.i.Pull.BaseRef)
}

func (p *gqlPull) IsInMergeQueue() bool { return p.i.queued() != nil }
