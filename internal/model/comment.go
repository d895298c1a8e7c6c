package model

import "time"

// Key is the comment's event key on pull request number.
func (c Comment) Key(number int) string { return EventKey(number, c.Kind, c.ID, c.UpdatedAt) }

// Thread is the ID that a reply to this review comment must name: GitHub refuses replies to replies.
func (c Comment) Thread() int64 {
	if c.InReplyTo != 0 {
		return c.InReplyTo
	}
	return c.ID
}

// SaidAt is when others could first see the comment as it was posted. GitHub creates the parts of a review when they are drafted, and
// shows them once the review is submitted, which may be days later.
func (c Comment) SaidAt() time.Time {
	if c.Submitted.After(c.CreatedAt) {
		return c.Submitted
	}
	return c.CreatedAt
}

// replicaLag is how long a replica of GitHub may hide what was said. The readings that set marks come from replicas.
const replicaLag = 2 * time.Minute

// Reach is how far back of the mark something may have changed that its reading did not see.
func (m Mark) Reach() time.Time { return m.At.Add(-replicaLag) }

// PassedOver reports whether the mark's reading has seen the comment for certain, and not only could have: then a comment without
// an answer was read and left.
func (m Mark) PassedOver(c Comment) bool {
	return Mark{At: m.Reach(), ID: m.ID}.Settles(c)
}
