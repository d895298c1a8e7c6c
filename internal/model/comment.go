package model

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Happened says that nobody said the feedback: a workflow run or a merge failed.
func (k Kind) Happened() bool { return k == KindActions || k == KindMerge }

// EventKey names one state of one comment: "{number}:{kind}:{id}:{updated_at}". An edit makes a new key.
func EventKey(number int, kind Kind, id int64, updated time.Time) string {
	return fmt.Sprintf("%d:%s:%d:%s", number, kind, id, updated.UTC().Format(time.RFC3339))
}

// Key is the comment's event key on pull request number.
func (c Comment) Key(number int) string { return EventKey(number, c.Kind, c.ID, c.UpdatedAt) }

// Is says that an event is of this comment, whatever it said then.
func (c Comment) Is(event string) bool {
	part := strings.SplitN(event, ":", 4)
	return len(part) == 4 && part[1] == string(c.Kind) && part[2] == strconv.FormatInt(c.ID, 10)
}

// KindOfEvent is the kind that an event key names.
func KindOfEvent(event string) Kind {
	_, rest, _ := strings.Cut(event, ":")
	kind, _, _ := strings.Cut(rest, ":")
	return Kind(kind)
}

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

// Lines are what a review comment is about: from one position in the diff to another, each a line of one version of the file.
type Lines struct {
	Line      int    `json:"line,omitempty"`       // the last one; 0: the comment is outdated or about the whole file
	Side      string `json:"side,omitempty"`       // its version: RIGHT is the new one, LEFT the old one
	StartLine int    `json:"start_line,omitempty"` // the first one; 0: there is only one
	StartSide string `json:"start_side,omitempty"`
	// The numbers in the diff that was commented on.
	OriginalLine      int `json:"original_line,omitempty"`
	OriginalStartLine int `json:"original_start_line,omitempty"`
}

// OfOld reports whether some of the lines are of the old version.
func (l Lines) OfOld() bool { return l.Side == "LEFT" || l.StartLine != 0 && l.StartSide == "LEFT" }

// Then are the lines by the numbers that they had when somebody commented on them.
func (l Lines) Then() Lines {
	l.Line, l.StartLine = l.OriginalLine, l.OriginalStartLine
	return l
}

// Named is what the lines are called: "lines 5 to 8 of the new version".
func (l Lines) Named() string {
	version := map[string]string{"LEFT": " of the old version", "RIGHT": " of the new version"}
	start := cmp.Or(l.StartSide, l.Side)
	switch {
	case l.StartLine == 0 || l.StartLine == l.Line && start == l.Side:
		return fmt.Sprintf("line %d%s", l.Line, version[l.Side])
	case start == l.Side:
		return fmt.Sprintf("lines %d to %d%s", l.StartLine, l.Line, version[l.Side])
	}
	return fmt.Sprintf("line %d%s to line %d%s", l.StartLine, version[start], l.Line, version[l.Side])
}
