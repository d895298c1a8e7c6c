// Package model holds the nouns that all packages share, as plain values. So decisions can be written, tested and replayed on
// data alone.
package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Repo names a repository on its server.
type Repo struct{ Owner, Name string }

// ParseRepo reads "owner/name".
func ParseRepo(s string) (Repo, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(s, " \t\n?#") || strings.Contains(name, "/") {
		return Repo{}, fmt.Errorf("repository %q: want owner/name", s)
	}
	return Repo{owner, name}, nil
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Actor is an account on GitHub. Login is the REST form: a bot's ends in "[bot]".
type Actor struct {
	Login string
	ID    int64
	Bot   bool
}

// Permission is a person's role in a repository, in GitHub's terms, weakest first.
type Permission int

// The order matters: rights are compared with >=.
const (
	PermissionNone Permission = iota
	PermissionRead
	PermissionTriage
	PermissionWrite
	PermissionMaintain
	PermissionAdmin
)

// ParsePermission reads REST's role_name or GraphQL's RepositoryPermission, ignoring case. Anything unknown is
// PermissionNone: a custom role must never count as more than it is.
func ParsePermission(s string) Permission {
	switch strings.ToLower(s) {
	case "read", "pull":
		return PermissionRead
	case "triage":
		return PermissionTriage
	case "write", "push":
		return PermissionWrite
	case "maintain":
		return PermissionMaintain
	case "admin":
		return PermissionAdmin
	}
	return PermissionNone
}

// Kind says where feedback was given. The values are part of event keys, so they never change.
type Kind string

// The kinds of feedback.
const (
	KindReview        Kind = "review"         // a review comment on a line or file of the diff
	KindIssue         Kind = "issue"          // a comment in the conversation
	KindReviewSummary Kind = "review_summary" // the body of a submitted review
	KindActions       Kind = "actions"        // a failed workflow run
	KindMerge         Kind = "merge"          // a failed merge, by the comment that tells of it
)

// Event is one trigger as GitHub delivered it. It only says where to look: no decision depends on its text.
type Event struct {
	Name   string // issue_comment, schedule, ...
	Action string // created, edited, labeled, ...; empty if the trigger has none
	Repo   Repo
	Number int // issue or pull request; 0 if the trigger is about the whole repository
	// Numbers are the pull requests that the trigger names if it can name several: those of a checked commit. Number is the
	// first.
	Numbers []int
	SHA     string // commit that was checked or pushed; "" if the trigger is about none
	// Branch is the branch that was checked, pushed or deleted; "" where the trigger does not say.
	Branch   string
	Branches []string // at the commit of a status
	// RunID is the run of a workflow_run, and Conclusion its result; "" until it is completed.
	RunID      int64
	Conclusion string
	IsPull     bool // known to be a pull request
	Sender     Actor
	// Author, CommentID, CommentNode and CommentBody describe the comment or review that the trigger carries, if any.
	Author      Actor
	CommentID   int64
	CommentNode string // GraphQL node id
	CommentBody string
	// CommentAt is when the comment or review got the trigger's text; zero if the payload does not say.
	CommentAt time.Time
}

// carriers are the triggers that carry a comment, and its kind.
var carriers = map[string]Kind{"issue_comment": KindIssue, "pull_request_review_comment": KindReview, "pull_request_review": KindReviewSummary}

// Carries reports whether the trigger carried this comment. IDs of different kinds may be equal.
func (e Event) Carries(c Comment) bool { return e.CommentID == c.ID && carriers[e.Name] == c.Kind }

// Sweeps reports whether the trigger asks for a sweep: the schedule, or a start by hand that names no number.
func (e Event) Sweeps() bool {
	return e.Number == 0 && (e.Name == "schedule" || e.Name == "workflow_dispatch")
}

// Comment is one issue comment, review comment or review summary.
type Comment struct {
	Kind        Kind
	ID          int64
	Author      Actor
	Association string // OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE, ...
	Body        string
	URL         string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// Submitted is when its review was submitted; zero for a conversation comment.
	Submitted time.Time
	// Ours is GraphQL's viewerDidAuthor as read; journal.Attribute turns it into whether MergeXO posted this, and not the
	// person whose account it uses.
	Ours bool
	// Marked is set by journal.Attribute: the comment ends, or was posted, with a token or marker of our shape.
	Marked bool
	// EditedByOther is set if the last edit may not be the author's own: Editor is somebody else, or "" for a deleted
	// account.
	EditedByOther bool
	Editor        string
	// Edited is set if the text was edited since it was posted.
	Edited bool
	// Seen and Closed are our reactions to it: eyes, and a rocket or a confused face. GitHub allows none on a review
	// summary.
	Seen, Closed bool
	// Posted is the original text: Body if it was not edited, empty if GitHub does not say.
	Posted string
	// NodeID is its GraphQL id. Node is the same where it was edited and its original text may still be asked for.
	NodeID, Node string
	// WasMarked is set if somebody else edited a conversation comment that was posted with one of our JSON markers, whether
	// the marker is still there or not.
	WasMarked bool

	// Review comments only.
	Path string
	Lines
	DiffHunk  string
	InReplyTo int64 // id of the first comment of the thread; 0 for that comment itself
	ReviewID  int64
	CommitID  string
	Outdated  bool
	// Resolved, ResolvedBy and ThreadNode are of its thread, where that was read: who resolved it ("" for a bot, or an account that
	// was deleted), and its GraphQL id.
	Resolved   bool
	ResolvedBy string
	Minimized  bool // somebody has hidden it
	ThreadNode string

	// Review summaries only.
	ReviewState string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED

	// Failed workflow runs only: the run, with its failed jobs.
	Run *CIRun
}

// Mark is how far a conversation is settled: by a reading at time At, on GitHub's clock, that saw conversation comments up
// to ID. GitHub's times are in whole seconds, so within that second only the ID decides; it is 0 if it cannot decide
// either.
type Mark struct {
	At time.Time
	ID int64
}

// Settles reports whether the comment already existed in its current state when the mark was set.
func (m Mark) Settles(c Comment) bool {
	seen := c.Kind == KindIssue && c.ID <= m.ID && c.CreatedAt.Equal(c.UpdatedAt)
	return c.UpdatedAt.Before(m.At) || c.UpdatedAt.Equal(m.At) && seen
}

// Span is a period on GitHub's clock, in whole seconds. A zero To is open.
type Span struct{ From, To time.Time }

// Holds reports whether a moment is within the span. In the last second only what is certainly later is outside.
func (s Span) Holds(at time.Time, later bool) bool {
	switch {
	case at.Before(s.From):
		return false
	case s.To.IsZero():
		return true
	}
	return at.Before(s.To) || at.Equal(s.To) && !later
}

// File is one changed file of a pull request.
type File struct {
	Path      string
	Change    string // ADDED, MODIFIED, DELETED, RENAMED, COPIED, CHANGED
	Additions int
	Deletions int
}

// Change is one path that differs between two commits. Modes are git's ("100644", "120000", "160000", "000000" for none).
type Change struct {
	Path          string
	Status        string // A, M, D, T, R, C
	OldMode, Mode string
	Size          int64  // bytes, of the new side
	Target        string // of a symbolic link
}

// Commit is one commit as a list of them shows it.
type Commit struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"`
	Author  string `json:"author,omitempty"`
}

// Edit is a change of a text: by whom and when.
type Edit struct {
	By Actor
	At time.Time
}

// Issue is the source issue of a pull request, or what a snapshot is of.
type Issue struct {
	Number int
	Title  string
	Body   string
	URL    string
	Author Actor
	Labels []string
	// LabelChanges are the newest 100, oldest first.
	LabelChanges []LabelChange
	Ours         bool // GraphQL's viewerDidAuthor
	// Item is the key of the roadmap's item that we opened it for, and Roadmap the issue of that; once its body was read.
	Item    string
	Roadmap int

	// The rest is only set for what a snapshot is of.

	Association string // the author's, as in Comment
	Posted      string // the text that it was opened with: Body if it was not edited, empty if GitHub does not say
	Closed      bool
	Reopened    bool // it is open again
	Locked      bool
	// BodyEdit is the newest edit of the body, and TitleEdits the newest changes of the title, oldest first; nil for none.
	BodyEdit   *Edit
	TitleEdits []Edit
	// BodyEdits are the newest 100 edits of the body, oldest first. MoreBodyEdits says that there are older ones.
	BodyEdits     []Edit
	MoreBodyEdits bool
	// Pulls are the open pull requests that will close the issue.
	Pulls []int
}

// PullRef is a pull request in brief.
type PullRef struct {
	Number  int
	Title   string
	URL     string
	State   PullState
	BaseRef string
	HeadSHA string
	Ours    bool  // GraphQL's viewerDidAuthor
	Author  Actor // if a branch's pull requests were requested
	// ClosedAt is when it was closed or merged; zero while it is open.
	ClosedAt time.Time
}

// Branch is a branch of a repository, as far as it exists.
type Branch struct {
	Name  string
	SHA   string    // its tip; "": the branch does not exist
	Pulls []PullRef // of this repository with this head branch, in whatever state, the newest first
}

// PullDraft is a pull request to be opened, within one repository.
type PullDraft struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Head  string `json:"-"` // branch
	Base  string `json:"-"` // branch
}

// PullState is the state of a pull request in GraphQL's words.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "OPEN"
	PullClosed PullState = "CLOSED"
	PullMerged PullState = "MERGED"
)

// Pull is a pull request.
type Pull struct {
	Number       int
	Title        string
	Body         string
	URL          string
	State        PullState
	Draft        bool
	Author       Actor
	Labels       []string
	LabelChanges []LabelChange // the newest 100, oldest first
	BaseRef      string
	BaseSHA      string // tip of the base branch now
	// BaseChangedAt is when the pull request was last moved to another base; zero for never, and in a survey, which does not ask.
	BaseChangedAt time.Time
	HeadRef       string
	HeadSHA       string
	HeadExists    bool // false once the branch is deleted
	CrossRepo     bool // the head is in a fork
	Fork          Repo // that has the head; none if there is no ForkPushedAt
	// ForkPushedAt is when the fork was last pushed to, or its branch, where somebody has asked for that; zero if it was deleted, or
	// if GitHub does not say.
	ForkPushedAt time.Time
	ForkDeleted  bool
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Rollup is GitHub's summary of the head's checks: SUCCESS, FAILURE, ERROR, PENDING or EXPECTED; "" for none.
	Rollup string
	// Checks are the newest checks of the head, of each name and App. Only a survey reads them, and only the first ones of
	// each pull request: MoreChecks says that there are further ones.
	Checks     []Check
	MoreChecks bool
	// CheckCounts fingerprints how many of the head's checks there are in each state. It only shows whether any has changed.
	CheckCounts string
	// Approvals are those among the newest ten reviews, oldest first, whoever gave them.
	Approvals []Review
	// Opinions fingerprints which of the newest ten reviews approve or request changes, or did so. It only shows a change.
	Opinions      string
	Reviews       int // how many there are
	Files         []File
	FilesComplete bool
	Commits       []CommitText // the newest, oldest first
	Issue         *Issue
}

// Paths are the paths of its files that were read.
func (p Pull) Paths() []string {
	paths := make([]string, len(p.Files))
	for i, f := range p.Files {
		paths[i] = f.Path
	}
	return paths
}

// Leads reports whether the newest commits lead from an earlier one to a later one, as far as they were read. GitHub may list them up to
// a head that is no longer the branch's.
func (p Pull) Leads(earlier, later string) bool {
	n := len(p.Commits)
	return n > 0 && p.Commits[n-1].SHA == later && slices.ContainsFunc(p.Commits[:n-1], func(c CommitText) bool { return c.SHA == earlier })
}

// Snapshot is everything that a run reads about one pull request or issue, read once.
type Snapshot struct {
	Repo          Repo
	Number        int
	Viewer        Actor  // the token's account
	DefaultBranch string // "" in a repository without any commit
	DefaultSHA    string // its tip
	// Branch is the branch named in the query; nil for none.
	Branch *Branch
	// Of is what the number stands for. Pull is empty where that is an issue, until the pull request that it is on its way to is put there.
	Of   Numbered
	Pull Pull
	// Settings is the text of .github/mergexo.toml on the base branch, which is the default branch for an issue.
	Settings      string
	SettingsFound bool
	// Comments are all comments that were read, of every kind, oldest first by creation, then by ID. Ours are included.
	Comments []Comment
	// Deletions are comments that somebody else than their authors deleted, oldest first. A survey does not tell.
	Deletions []Deletion
	// Failures are the head's failed workflow runs as feedback, if requested: of KindActions, with the run's ID.
	Failures []Comment
	// CommentsComplete is false if paging stopped at the newest receipt: older comments are settled.
	CommentsComplete bool
	// Floor is the oldest update among the conversation comments read by paging; zero if all were read. An answer is
	// updated later than its comment, so above the floor every receipt was read too.
	Floor time.Time
	// ReviewsComplete is set if all reviews, their comments and their threads were read.
	ReviewsComplete bool
	// ReviewFloor is the ID of the oldest review read by paging; zero if all were read. Reviews are read newest first.
	ReviewFloor int64
	// LongReviews are the IDs of reviews of which only the first comments were read: the others are settled.
	LongReviews []int64
	// Edited is up to when edits beyond the reviews that were read are known, where that is not ReadAt.
	Edited time.Time
	// Permissions known already, by lower-case login. An absent login was not looked up.
	Permissions map[string]Permission
	// ReadAt is the server's time of the reading (the Date header); the run's only clock for data on GitHub.
	ReadAt time.Time
}

// SettledBelow reports whether a comment is older than what was read completely, and settled by a receipt's mark: its
// answer was not read.
func (s Snapshot) SettledBelow(c Comment, m Mark) bool {
	return !s.Floor.IsZero() && !c.UpdatedAt.After(s.Floor) && m.Settles(c)
}
