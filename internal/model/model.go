// Package model holds the nouns that every other package speaks in, as plain values without behaviour that touches
// the world, so that decisions can be written, tested and replayed on data alone.
package model

import (
	"fmt"
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

// Actor is somebody who says or does something on GitHub. Login is the REST form: a bot's ends in "[bot]".
type Actor struct {
	Login string
	ID    int64
	Bot   bool
}

// Permission is what somebody may do in a repository, in GitHub's words, weakest first.
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

// ParsePermission reads REST's role_name or GraphQL's RepositoryPermission, whatever the case. What it does not know is
// PermissionNone: a custom role must never be taken for more than it is.
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

// Kind says where a piece of feedback was given. The values are part of event keys, so they never change.
type Kind string

// The kinds of feedback.
const (
	KindReview        Kind = "review"         // a review comment on a line or file of the diff
	KindIssue         Kind = "issue"          // a comment in the conversation
	KindReviewSummary Kind = "review_summary" // the body of a submitted review
	KindActions       Kind = "actions"        // a failed workflow run
)

// EventKey names one state of one thing said: "{number}:{kind}:{id}:{updated_at}". An edit makes a new key.
func EventKey(number int, kind Kind, id int64, updated time.Time) string {
	return fmt.Sprintf("%d:%s:%d:%s", number, kind, id, updated.UTC().Format(time.RFC3339))
}

// Event is one trigger as GitHub delivered it. It only says where to look: nothing is decided from its text.
type Event struct {
	Name   string // issue_comment, schedule, ...
	Action string // created, edited, labeled, ...; empty where the trigger has none
	Repo   Repo
	Number int // issue or pull request; 0 where the trigger is about the whole repository
	// Numbers are the pull requests that the trigger names where it can name several: those of a commit that was checked.
	// Number is the first of them.
	Numbers []int
	// SHA is the commit that was checked; "" where the trigger is about no commit.
	SHA string
	// RunID is the workflow run that a workflow_run is about, and Conclusion how it ended; "" until it is completed.
	RunID      int64
	Conclusion string
	IsPull     bool // known to be a pull request
	Sender     Actor
	// Author, CommentID, CommentNode and CommentBody describe the comment or review that the trigger carries, if any.
	Author      Actor
	CommentID   int64
	CommentNode string // GraphQL node id
	CommentBody string
	// CommentAt is when the comment or review got the text that the trigger carries; zero where the payload does not tell.
	CommentAt time.Time
}

// carriers are the triggers that carry something said, and what it is.
var carriers = map[string]Kind{"issue_comment": KindIssue, "pull_request_review_comment": KindReview, "pull_request_review": KindReviewSummary}

// Carries says that the trigger came with this comment. Ids of different kinds may be the same.
func (e Event) Carries(c Comment) bool { return e.CommentID == c.ID && carriers[e.Name] == c.Kind }

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
	// Ours is GraphQL's viewerDidAuthor as it is read; journal.Attribute makes of it that MergeXO said this, and not the
	// person whose account it uses.
	Ours bool
	// Marked is set by journal.Attribute: the comment ends in, or was posted with, a token or marker of MergeXO's shape.
	Marked bool
	// EditedByOther is set when the last edit is not known to be the author's own: Editor is somebody else, or "" where that
	// account was deleted.
	EditedByOther bool
	Editor        string
	// Edited is set when anybody edited the text since it was posted.
	Edited bool
	// Seen and Closed are our reactions under it: eyes, and a rocket or a confused face. GitHub takes none under a review
	// summary.
	Seen, Closed bool
	// Posted is the text it was posted with: Body when nobody edited it, empty when GitHub does not tell.
	Posted string
	// WasMarked is set when somebody else edited a comment in the conversation that was posted with one of our JSON
	// markers, whether the marker is still there or not.
	WasMarked bool

	// Review comments only.
	Path      string
	Line      int // 0: the comment is outdated or about the whole file
	StartLine int
	Side      string // RIGHT or LEFT
	DiffHunk  string
	InReplyTo int64 // id of the first comment of the thread; 0 for that comment itself
	ReviewID  int64
	CommitID  string
	Outdated  bool
	Resolved  bool

	// Review summaries only.
	ReviewState string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED

	// Failed workflow runs only: the run, with its failed jobs.
	Run *CIRun
}

// Key is the comment's event key on pull request number.
func (c Comment) Key(number int) string { return EventKey(number, c.Kind, c.ID, c.UpdatedAt) }

// Thread is the id that a reply to this review comment must name: GitHub refuses replies to replies.
func (c Comment) Thread() int64 {
	if c.InReplyTo != 0 {
		return c.InReplyTo
	}
	return c.ID
}

// Mark is how far a conversation is settled: by a reading at the time At, on GitHub's clock, that had seen conversation
// comments up to the id ID. GitHub tells times in whole seconds, so within that second only the id tells what was there;
// ID is 0 where that does not tell either.
type Mark struct {
	At time.Time
	ID int64
}

// Settles says that the comment had been there, as it is now, when the mark was set.
func (m Mark) Settles(c Comment) bool {
	seen := c.Kind == KindIssue && c.ID <= m.ID && c.CreatedAt.Equal(c.UpdatedAt)
	return c.UpdatedAt.Before(m.At) || c.UpdatedAt.Equal(m.At) && seen
}

// Span is a time on GitHub's clock, which tells whole seconds. A zero To is not over.
type Span struct{ From, To time.Time }

// Holds says that a moment is within the span. In the second in which the span ends only what is known to be later is not.
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

// LabelChange is a label that was put on or taken off.
type LabelChange struct {
	Label string
	On    bool
	At    time.Time
	By    Actor // without a login where GitHub does not tell
	// LabelAt is when the label itself was changed last, for example renamed; zero where it was taken off, or where GitHub does not tell.
	LabelAt time.Time
}

// Edit is a change of a text: by whom and when.
type Edit struct {
	By Actor
	At time.Time
}

// Issue is the source issue of a pull request, or the thread that a snapshot is about.
type Issue struct {
	Number int
	Title  string
	Body   string
	URL    string
	Author Actor
	Labels []string
	// LabelChanges are the newest 100, oldest first.
	LabelChanges []LabelChange

	// The rest is filled for the thread of a snapshot only.

	Association string // the author's, as in Comment
	Closed      bool
	Locked      bool
	// BodyEdit is the newest edit of the body, and TitleEdits the newest changes of the title, oldest first; nil where there
	// was none.
	BodyEdit   *Edit
	TitleEdits []Edit
	// Pulls are the open pull requests that will close the issue.
	Pulls []int
}

// PullRef is a pull request in short.
type PullRef struct {
	Number  int
	Title   string
	URL     string
	State   PullState
	BaseRef string
	HeadSHA string
	Ours    bool  // GraphQL's viewerDidAuthor
	Author  Actor // where a branch's pull requests were asked for
	// ClosedAt is when it was closed or merged; zero while it is open.
	ClosedAt time.Time
}

// Branch is what a repository holds under the name of a branch.
type Branch struct {
	Name  string
	SHA   string    // of its tip; "": there is none
	Pulls []PullRef // of this repository with this head branch, in whatever state, the newest first
}

// PullDraft is a pull request that is to be opened, within one repository.
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
	HeadRef      string
	HeadSHA      string
	HeadExists   bool // false once the branch is deleted
	CrossRepo    bool // the head is in a fork
	// ForkPushedAt is when anything was pushed to the fork last; zero where it was deleted, or where GitHub does not tell.
	ForkPushedAt time.Time
	ForkDeleted  bool
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Rollup is GitHub's sum of all checks of the head: SUCCESS, FAILURE, ERROR, PENDING or EXPECTED; "" for none.
	Rollup string
	// Opinions stand for those of the newest ten reviews that approve or ask for changes, or did so: ids and states in one text
	// that says nothing but whether anything of that has changed.
	Opinions      string
	Files         []File
	FilesComplete bool
	Commits       []CommitText // the newest, oldest first
	Issue         *Issue
}

// Paths are those of its files that were read.
func (p Pull) Paths() []string {
	paths := make([]string, len(p.Files))
	for i, f := range p.Files {
		paths[i] = f.Path
	}
	return paths
}

// Snapshot is all that a run reads about one pull request, read once.
type Snapshot struct {
	Repo          Repo
	Viewer        Actor  // who the token is
	DefaultBranch string // "" in a repository without any commit
	DefaultSHA    string // its tip
	// Branch is the branch that the query named; nil for none.
	Branch *Branch
	// IsPull is false when the number is an issue: then Thread says which, and Pull is empty.
	IsPull bool
	Pull   Pull
	Thread *Issue
	// Settings is the text of .github/mergexo.toml on the base branch, which is the default branch for an issue.
	Settings      string
	SettingsFound bool
	// Comments are all kinds of comments that were read, oldest first by creation, then by id. Those of ours are among them.
	Comments []Comment
	// Failures are the failed workflow runs of the head as feedback, where they were asked for: KindActions, and the id is the run's.
	Failures []Comment
	// CommentsComplete is false when paging stopped at the newest receipt: what is older is settled.
	CommentsComplete bool
	// Floor is the oldest update among the conversation comments that paging reached; zero when all were read. Whatever
	// answers a comment was updated later than that comment, so above the floor every receipt was read too.
	Floor time.Time
	// ReviewFloor is the id of the oldest review that paging reached; zero when all were read. Reviews are read newest first.
	ReviewFloor int64
	// Permissions that are known already, by lower-case login. A login that is absent was not asked for.
	Permissions map[string]Permission
	// ReadAt is the server's time of the reading (the Date header); the run's only clock for what GitHub holds.
	ReadAt time.Time
}

// SettledBelow says that a comment is older than what was read without a gap, and settled by the mark of a receipt: what
// answers it was not read.
func (s Snapshot) SettledBelow(c Comment, m Mark) bool {
	return !s.Floor.IsZero() && !c.UpdatedAt.After(s.Floor) && m.Settles(c)
}
