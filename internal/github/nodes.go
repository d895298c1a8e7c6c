package github

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// The shapes of GraphQL answers, as the documents ask for them, and what they mean in our nouns.

type connection[N any] struct {
	Nodes      []N
	TotalCount int // where it is asked for
	PageInfo   pageInfo
}

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	EndCursor, StartCursor       string
}

// objectNode is a commit, or a tree.
type objectNode struct{ OID string }

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
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	if err != nil {
		n = 0
	}
	*id = bigID(n)
	return nil
}

type idNode struct {
	FullDatabaseID bigID `json:"fullDatabaseId"`
}

type saidNode struct {
	ID string
	idNode
	Author            *actorNode
	AuthorAssociation string
	Body              string
	URL               string
	CreatedAt         time.Time
	UpdatedAt         time.Time
	LastEditedAt      time.Time
	Editor            *actorNode
	ViewerDidAuthor   bool
	IsMinimized       bool
	// Posted holds the oldest version that GitHub kept, once the comment was edited: the one it was posted with, where
	// IncludesCreatedEdit says so. Its diff is the whole text, or null when somebody deleted it from the history.
	Posted              connection[struct{ Diff *string }]
	IncludesCreatedEdit bool
	ReactionGroups      []struct {
		Content          string
		ViewerHasReacted bool
	}
}

// hasMarker finds a JSON marker of internal/journal. Its action tokens look the same but for their kind.
func hasMarker(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "<!-- mergexo-")[1:], func(rest string) bool { return !strings.HasPrefix(rest, "action:") })
}

// comment is what all three kinds of comments have in common.
func (n saidNode) comment(kind model.Kind) model.Comment {
	c := model.Comment{
		Kind: kind, ID: int64(n.FullDatabaseID), Author: n.Author.actor(), Association: n.AuthorAssociation,
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
	if c.Posted = n.firstText().of(n.Body, c.Edited); c.Edited && c.Posted == "" {
		c.Node = n.ID
	}
	return c
}

// firstText is the text that the comment was posted with, where that was asked for.
func (n saidNode) firstText() firstText { return firstText{n.IncludesCreatedEdit, n.Posted} }

type reviewCommentNode struct {
	saidNode
	State       string
	Path        string
	SubjectType string // LINE or FILE
	Outdated    bool
	DiffHunk    string
	ReplyTo     *idNode
	Commit      objectNode
	// null is 0
	Line, StartLine, OriginalLine, OriginalStartLine int
}

// comment gives nothing for a comment of a review that is not submitted yet. A comment was first to be seen when its
// review was submitted, however long before it was drafted; so it counts as updated then at the earliest.
func (n reviewCommentNode) comment(review idNode, submitted time.Time) (model.Comment, bool) {
	if n.State == "PENDING" {
		return model.Comment{}, false
	}
	c := n.saidNode.comment(model.KindReview)
	c.Submitted = submitted.UTC()
	if submitted.After(c.UpdatedAt) {
		c.UpdatedAt = submitted.UTC()
	}
	c.ReviewID = int64(review.FullDatabaseID)
	c.Path, c.Outdated, c.DiffHunk, c.CommitID = n.Path, n.Outdated, n.DiffHunk, n.Commit.OID
	if n.SubjectType != "FILE" {
		c.Lines = model.Lines{Line: n.Line, StartLine: n.StartLine, OriginalLine: n.OriginalLine, OriginalStartLine: n.OriginalStartLine}
	}
	c.Side = sideOf(n.DiffHunk)
	if n.ReplyTo != nil {
		c.InReplyTo = int64(n.ReplyTo.FullDatabaseID)
	}
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

type reviewNode struct {
	saidNode
	ReviewState string
	SubmittedAt time.Time
	Comments    connection[reviewCommentNode]
}

// submitted is when the review could first be seen.
func (n reviewNode) submitted() time.Time {
	if n.SubmittedAt.IsZero() {
		return n.CreatedAt.UTC()
	}
	return n.SubmittedAt.UTC()
}

// updated is when its text got what it says now. A review's own updatedAt also moves when nobody edited it.
func (n reviewNode) updated() time.Time {
	if n.LastEditedAt.IsZero() {
		return n.submitted()
	}
	return n.LastEditedAt.UTC()
}

// comments are the review's own text, if it has one, and its comments on lines. A review that is still being written
// is seen by its author alone and says nothing yet.
func (n reviewNode) comments() []model.Comment {
	if n.ReviewState == "PENDING" {
		return nil
	}
	var out []model.Comment
	if strings.TrimSpace(n.Body) != "" {
		c := n.saidNode.comment(model.KindReviewSummary)
		c.ReviewState, c.Submitted, c.UpdatedAt = n.ReviewState, n.submitted(), n.updated()
		out = append(out, c)
	}
	for _, said := range n.Comments.Nodes {
		if c, ok := said.comment(n.idNode, n.submitted()); ok {
			out = append(out, c)
		}
	}
	return out
}

type threadNode struct {
	ID         string
	IsResolved bool
	ResolvedBy *actorNode
	// StartDiffSide is null where there is only one line.
	DiffSide, StartDiffSide string
	Comments                connection[idNode]
}

type labelNodes = connection[struct{ Name string }]

func names(labels labelNodes) []string {
	var out []string
	for _, l := range labels.Nodes {
		out = append(out, l.Name)
	}
	return out
}
