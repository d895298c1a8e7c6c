package sandbox

import (
	"time"
)

// Post is what everything that somebody said has in common.
type Post struct {
	ID                   int64
	Author               string // login
	Body                 string
	CreatedAt, UpdatedAt time.Time
	Editor               string      `json:",omitempty"` // login of who edited last; empty when nobody did
	LastEditedAt         *time.Time  `json:",omitempty"`
	Versions             []*Version  `json:",omitempty"` // oldest first, the present one too; empty until the first edit
	Reactions            []*Reaction `json:",omitempty"`
	Minimized            string      `json:",omitempty"` // why somebody has hidden it; "": nobody has
}

// Version is the text that a post had from some time on.
type Version struct {
	ID     int64
	Editor string // login
	Body   string
	At     time.Time
}

// Reaction is one person's emoji.
type Reaction struct {
	ID            int64
	User, Content string
	CreatedAt     time.Time
}

// Issue is an issue, or the issue side of a pull request when Pull is set. Its Post is the opening text.
type Issue struct {
	Post
	Number      int
	Title       string
	State       string // open or closed
	StateReason string `json:",omitempty"` // completed, not_planned or reopened
	ClosedAt    *time.Time
	ClosedBy    string        `json:",omitempty"`
	LabelIDs    []int64       `json:",omitempty"`
	LabelEvents []*LabelEvent `json:",omitempty"` // oldest first
	TitleEvents []*TitleEvent `json:",omitempty"` // oldest first
	Deletions   []*Deletion   `json:",omitempty"` // oldest first
	Assignees   []string      `json:",omitempty"`
	Locked      bool          `json:",omitempty"`
	Converted   bool          `json:",omitempty"` // into a discussion
	SubIDs      []int64       `json:",omitempty"` // of its sub-issues, in their order
	Comments    []*Comment
	Pull        *Pull `json:",omitempty"`

	repo *Repository
}

// kind is GraphQL's name of what it is.
func (i *Issue) kind() string {
	if i.Pull != nil {
		return "PullRequest"
	}
	return "Issue"
}

// LabelEvent is a label that was put on an issue or taken off. Label is the label as it was then: events outlive labels.
type LabelEvent struct {
	ID    int64
	On    bool
	Label Label
	Actor string // login
	At    time.Time
}

// TitleEvent is a change of the title.
type TitleEvent struct {
	ID       int64
	From, To string
	Actor    string // login
	At       time.Time
}

// Deletion is a comment that somebody else than its author deleted.
type Deletion struct {
	ID            int64
	Author, Actor string // logins
	At            time.Time
}

// labels are the issue's labels in the order in which they were set.
func (i *Issue) labels() []*Label {
	var ls []*Label
	for _, id := range i.LabelIDs {
		for _, l := range i.repo.Labels {
			if l.ID == id {
				ls = append(ls, l)
			}
		}
	}
	return ls
}

// Pull is what a pull request has beside its issue. The commits come from git, see derive.go.
type Pull struct {
	ID       int64
	HeadRepo int64 // repository id; 0 when it is gone
	HeadRef  string
	BaseRef  string
	// HeadSHA is the head that GitHub shows, once the pull request is closed or while the branch's tip is not seen yet.
	HeadSHA string
	// BaseSHA is the base's tip when the head was last compared with it, see recordBase.
	BaseSHA             string
	NewHead             *lateHead  `json:",omitempty"`
	NewMerge            *lateMerge `json:",omitempty"`
	Draft               bool
	MergedAt            *time.Time `json:",omitempty"`
	MergedBy            string     `json:",omitempty"`
	MergeCommitSHA      string     `json:",omitempty"`
	MaintainerCanModify bool
	RequestedReviewers  []string `json:",omitempty"`
	RequestedTeams      []string `json:",omitempty"`
	Reviews             []*Review
	ReviewComments      []*ReviewComment
	Test                mergeTest
	QueueEvents         []*QueueEvent `json:",omitempty"` // oldest first
	BaseEvents          []*BaseEvent  `json:",omitempty"` // oldest first
}

// BaseEvent is a change of the branch that a pull request goes into.
type BaseEvent struct {
	ID       int64
	From, To string
	Actor    string // login
	At       time.Time
}

// merged tells whether the pull request is merged.
func (p *Pull) merged() bool { return p.MergedAt != nil }

// Comment is a comment in the conversation of an issue or a pull request.
type Comment struct {
	Post
	issue *Issue
}

// Review is a submitted or pending review; every review comment belongs to one.
type Review struct {
	Post
	State       string // PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED
	CommitID    string
	SubmittedAt *time.Time
	issue       *Issue
}

// ReviewComment is a comment on a line or a file of a diff.
type ReviewComment struct {
	Post
	ReviewID                        int64
	Path                            string
	SubjectType                     string // line or file
	Side                            string // RIGHT or LEFT
	StartSide                       string `json:",omitempty"`
	OriginalLine, OriginalStartLine int    // 0: none
	OriginalCommit, OriginalBase    string // head commented on, and the base tip at that moment
	InReplyTo                       int64  `json:",omitempty"` // first comment of the thread; 0 for that comment
	// GivenHunk is set on comments that were seeded with their hunk; all others derive it from git.
	GivenHunk string `json:",omitempty"`
	// Resolved and ResolvedBy are of the thread, and kept on its first comment.
	Resolved   bool   `json:",omitempty"`
	ResolvedBy string `json:",omitempty"`
	issue      *Issue
}
