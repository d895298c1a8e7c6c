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
