package github

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// The shapes of GraphQL answers: one for each of GitHub's types, with all that any document asks of it. What is null, and what a
// document does not ask for, is zero.

// repositoryNode is a repository. Some of its fields are aliases.
type repositoryNode struct {
	NameWithOwner                                              string
	MergeCommitAllowed, SquashMergeAllowed, RebaseMergeAllowed bool
	ViewerCanAdminister, DeleteBranchOnMerge                   bool
	Collaborators, Sender                                      *rightsNode
	DefaultBranchRef, Branch, Base                             branchNode
	Manifest, Commit                                           commitNode

	// IssueOrPullRequest, PullRequest and Issue have the number that is asked about.
	IssueOrPullRequest, PullRequest, Issue *threadNode
	Source                                 *threadNode

	PullRequests, BranchPulls, Closed, Issues, Roadmaps threads
	Heads, Bases, Past, Below, Fed                      threads
	Mirrors, Ours, Cars                                 connection[branchNode]
}

type connection[N any] struct {
	Nodes      []N
	TotalCount int // where it is asked for
	PageInfo   pageInfo
}

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	EndCursor, StartCursor       string
}

// branchNode is a branch; null is one without a name.
type branchNode struct {
	Prefix, Name string
	Target       commitNode
	Rule         *updateRuleNode
}

// commitNode is a commit, with what is asked of it alone or of its files.
type commitNode struct {
	OID           string
	Message       string
	CommittedDate time.Time
	Author        struct{ User struct{ Login string } }
	File          struct{ Object *blobNode }
	// Dir and Roadmaps are directories: that of a roadmap, and of all of them in a survey.
	Dir, Roadmaps          objectNode
	StatusCheckRollup      rollupNode
	CheckSuites            *connection[suiteNode]
	AssociatedPullRequests threads
}

// objectNode is a commit, or a tree.
type objectNode struct{ OID string }

type blobNode struct {
	Text                  *string
	IsBinary, IsTruncated bool
}

// text is what is in the file, if GitHub shows it whole.
func (n *blobNode) text() (text string, whole bool) {
	if n == nil || n.Text == nil || n.IsBinary || n.IsTruncated {
		return "", false
	}
	return *n.Text, true
}

// settingsPath is the file that the queries read on a branch as its settings.
const settingsPath = ".github/mergexo.toml"

// settings is the text of the settings file on the branch. A file that has no text is an error, not no file: running with
// the defaults instead of what somebody wrote there would be worse than not running.
func (n branchNode) settings(op, branch string) (text string, found bool, err error) {
	file := n.Target.File.Object
	if text, found = file.text(); !found && file != nil {
		err = &Error{Kind: Invalid, Op: op, Message: settingsPath + " on " + branch + " is not a text file that GitHub shows whole",
			Fix: "make it a plain UTF-8 text file"}
	}
	return text, found, err
}

type actorNode struct {
	Typename   string `json:"__typename"`
	Login      string
	DatabaseID int64 `json:"databaseId"`
}

// actor gives the REST form of the login: GraphQL leaves out a bot's "[bot]". A deleted account is "ghost", as GitHub
// shows it: https://docs.github.com/account-and-profile/concepts/deletion-of-your-personal-account
func (n *actorNode) actor() model.Actor {
	if n == nil || n.Login == "" {
		return model.Actor{Login: "ghost"}
	}
	a := model.Actor{Login: n.Login, ID: n.DatabaseID, Bot: n.Typename == "Bot" || strings.HasSuffix(n.Login, botSuffix)}
	if a.Bot && !strings.HasSuffix(a.Login, botSuffix) {
		a.Login += botSuffix
	}
	return a
}

const botSuffix = "[bot]"

// bigID is GraphQL's BigInt, which comes as a string; plain numbers are read too. What is neither is 0.
type bigID int64

func (id *bigID) UnmarshalJSON(b []byte) error {
	n, _ := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64) // what is no number is 0
	*id = bigID(n)
	return nil
}

type idNode struct {
	FullDatabaseID bigID `json:"fullDatabaseId"`
}

func (n idNode) id() int64 { return int64(n.FullDatabaseID) }

// ofRepository is the repository that something is in.
type ofRepository struct {
	Repository struct{ NameWithOwner string }
}

func (n ofRepository) isIn(repo model.Repo) bool {
	return strings.EqualFold(n.Repository.NameWithOwner, repo.String())
}

// firstText is the text that an issue or a comment began with. Once it was edited that is the oldest version that GitHub kept, where
// IncludesCreatedEdit says so. Its diff is the whole text, or null when somebody deleted it from the history.
type firstText struct {
	IncludesCreatedEdit bool
	Opened, Posted      connection[struct{ Diff *string }] // of an issue; of a comment
}

// of is that text, or "" where GitHub does not say.
func (f firstText) of(body string, edited bool) string {
	versions := append(f.Opened.Nodes, f.Posted.Nodes...)
	switch {
	case !edited:
		return body
	case !f.IncludesCreatedEdit || len(versions) == 0 || versions[0].Diff == nil:
		return ""
	}
	return *versions[0].Diff
}

type labelNodes = connection[struct{ Name string }]

func names(labels labelNodes) []string {
	var out []string
	for _, l := range labels.Nodes {
		out = append(out, l.Name)
	}
	return out
}

// saidNode is a comment in the conversation, a review, or a comment on lines.
type saidNode struct {
	Typename string `json:"__typename"`
	ID       string
	idNode
	Author, Editor                     *actorNode
	AuthorAssociation                  string
	Body, URL                          string
	CreatedAt, UpdatedAt, LastEditedAt time.Time
	ViewerDidAuthor, IsMinimized       bool
	firstText
	ReactionGroups []struct {
		Content          string
		ViewerHasReacted bool
	}

	// Of a comment on lines; null is 0.
	State, Path, DiffHunk                            string
	SubjectType                                      string // LINE or FILE
	Outdated                                         bool
	ReplyTo                                          idNode
	Commit                                           objectNode
	Line, StartLine, OriginalLine, OriginalStartLine int

	// Of a review.
	ReviewState string
	SubmittedAt time.Time
	Comments    connection[saidNode]

	// Where it is asked for by its id: what it belongs to.
	ConversationOf    *struct{ Number int } // of a comment in the conversation: null on an issue
	PullRequest       *struct{ Number int } // of the other kinds
	PullRequestReview *saidNode             // without its comments, and with its text where that was asked for
	ofRepository
}

// hasMarker finds a JSON marker of internal/journal. Its action tokens look the same but for their kind.
func hasMarker(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "<!-- mergexo-")[1:], func(rest string) bool { return !strings.HasPrefix(rest, "action:") })
}

// comment is what all three kinds of comments have in common.
func (n *saidNode) comment(kind model.Kind) model.Comment {
	c := model.Comment{
		Kind: kind, ID: n.id(), Author: n.Author.actor(), Association: n.AuthorAssociation,
		NodeID: n.ID, Body: n.Body, URL: n.URL, CreatedAt: n.CreatedAt.UTC(), UpdatedAt: n.UpdatedAt.UTC(), Ours: n.ViewerDidAuthor,
		Edited: !n.LastEditedAt.IsZero(), Minimized: n.IsMinimized,
	}
	if n.Editor != nil {
		c.Editor = n.Editor.actor().Login
	}
	// An edit without an editor is by an account that was deleted since.
	c.EditedByOther = (c.Edited || n.Editor != nil) && (n.Editor == nil || n.Author == nil || !strings.EqualFold(c.Editor, c.Author.Login))
	for _, group := range n.ReactionGroups {
		switch content := strings.ToLower(group.Content); {
		case !group.ViewerHasReacted:
		case content == ReactionEyes:
			c.Seen = true
		case content == ReactionRocket, content == ReactionConfused:
			c.Closed = true
		}
	}
	for _, version := range n.Posted.Nodes {
		c.WasMarked = c.WasMarked || version.Diff != nil && c.EditedByOther && hasMarker(*version.Diff)
	}
	if c.Posted = n.firstText.of(n.Body, c.Edited); c.Edited && c.Posted == "" {
		c.Node = n.ID
	}
	return c
}

// onLines is the comment on lines of a review. It gives nothing for one of a review that is not submitted yet. A comment was first to
// be seen when its review was submitted, however long before it was drafted; so it counts as updated then at the earliest.
func (n *saidNode) onLines(review *saidNode) (model.Comment, bool) {
	if n.State == "PENDING" {
		return model.Comment{}, false
	}
	c := n.comment(model.KindReview)
	if c.Submitted = review.submitted(); c.Submitted.After(c.UpdatedAt) {
		c.UpdatedAt = c.Submitted
	}
	c.ReviewID, c.InReplyTo = review.id(), n.ReplyTo.id()
	c.Path, c.Outdated, c.DiffHunk, c.CommitID = n.Path, n.Outdated, n.DiffHunk, n.Commit.OID
	if n.SubjectType != "FILE" {
		c.Lines = model.Lines{Line: n.Line, StartLine: n.StartLine, OriginalLine: n.OriginalLine, OriginalStartLine: n.OriginalStartLine}
	}
	c.Side = sideOf(n.DiffHunk)
	return c, true
}

// sideOf reads the side from the line that a hunk ends with, which is the line that was commented on.
func sideOf(hunk string) string {
	hunk = strings.TrimRight(hunk, "\r\n")
	if strings.HasPrefix(hunk[strings.LastIndexByte(hunk, '\n')+1:], "-") {
		return "LEFT"
	}
	return "RIGHT"
}

// submitted is when the review could first be seen.
func (n *saidNode) submitted() time.Time {
	if n.SubmittedAt.IsZero() {
		return n.CreatedAt.UTC()
	}
	return n.SubmittedAt.UTC()
}

// updated is when the text of the review got what it says now. Its own updatedAt also moves when nobody edited it.
func (n *saidNode) updated() time.Time {
	if n.LastEditedAt.IsZero() {
		return n.submitted()
	}
	return n.LastEditedAt.UTC()
}

// comments are the review's own text, if it has one, and its comments on lines. A review that is still being written
// is seen by its author alone and says nothing yet.
func (n *saidNode) comments() []model.Comment {
	if n.ReviewState == "PENDING" {
		return nil
	}
	var out []model.Comment
	if strings.TrimSpace(n.Body) != "" {
		c := n.comment(model.KindReviewSummary)
		c.ReviewState, c.Submitted, c.UpdatedAt = n.ReviewState, n.submitted(), n.updated()
		out = append(out, c)
	}
	for _, said := range n.Comments.Nodes {
		if c, ok := said.onLines(n); ok {
			out = append(out, c)
		}
	}
	return out
}

// review is the opinion of a review.
func (n *saidNode) review() model.Review {
	return model.Review{Login: n.Author.actor().Login, State: n.State, URL: n.URL, SHA: n.Commit.OID, At: n.SubmittedAt.UTC()}
}

// reviewThreadNode is a thread of review comments.
type reviewThreadNode struct {
	ID         string
	IsResolved bool
	ResolvedBy actorNode // null for a bot
	// StartDiffSide is null where there is only one line.
	DiffSide, StartDiffSide string
	Comments                connection[idNode]
}
