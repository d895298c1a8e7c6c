package github

import (
	"cmp"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// threadNode is a pull request or an issue. The state of an issue is told by Closed, where it is not asked for by itself.
type threadNode struct {
	Typename string `json:"__typename"`
	ID       string
	Number   int
	idNode
	Title, Body, URL, State, AuthorAssociation             string
	Author, Editor                                         *actorNode
	ViewerDidAuthor, Closed, Locked                        bool
	CreatedAt, UpdatedAt, ClosedAt, MergedAt, LastEditedAt time.Time
	Labels                                                 labelNodes
	LabelChanges                                           connection[labelChangeNode] // null where the token may not see them
	Deletions                                              connection[editNode]        // of comments, the newest; none in a survey
	Comments                                               connection[saidNode]
	firstText
	ofRepository

	// Of an issue. The newest of the BodyEdits come first, and the text that it was opened with is among them. ClosedBy are pull
	// requests in whatever repository that will close it.
	StateReason           string
	TitleEdits, BodyEdits connection[editNode]
	SubIssues, ClosedBy   threads

	// Of a pull request.
	IsDraft, IsCrossRepository, IsMergeQueueEnabled  bool
	BaseRefName, BaseRefOID, HeadRefName, HeadRefOID string
	BaseRef                                          branchNode
	HeadRef                                          *branchNode
	HeadRepository                                   *struct {
		NameWithOwner string
		PushedAt      time.Time
	}
	// StatusCheckRollup and Checks are null where there are no checks, or where the token may not see them.
	StatusCheckRollup       struct{ State string }
	Checks                  *rollupNode
	BaseChanges             *connection[editNode] // the newest: nil in a survey, and where the token may not see it
	ClosingIssuesReferences threads
	Files                   *connection[fileNode]
	Commits                 connection[struct{ Commit commitNode }]
	Reviews                 connection[saidNode]
	Opinions                *connection[*saidNode]
	ReviewThreads           connection[reviewThreadNode]
	Mergeable               string
	MergeCommit             objectNode
	Awaited                 connection[struct{ RequestedReviewer struct{ Login, Slug string } }]
	MergeQueueEntry         *queueEntryNode
	TimelineItems           connection[*queueExitNode]
}

// threads are pull requests or issues; one is null where GitHub does not show it.
type threads = connection[*threadNode]

// head is the commit that the branch of an open pull request is at. GitHub shows it on the pull request some time after a push
// (https://github.com/Mergifyio/mergify/pull/4718): who has pushed would take what it shows for the push undone. That of a
// fork is fetched by the ref of the pull request, so it is what that shows.
func (n *threadNode) head() string {
	if n.State != string(model.PullOpen) || n.IsCrossRepository || n.HeadRef == nil {
		return n.HeadRefOID
	}
	return cmp.Or(n.HeadRef.Target.OID, n.HeadRefOID)
}

// labelChangeNode is an entry of a timeline; null where GitHub cannot show it.
type labelChangeNode struct {
	Typename  string `json:"__typename"`
	CreatedAt time.Time
	Label     struct {
		Name      string
		UpdatedAt time.Time // asked for where it was put on
	}
	Actor *actorNode // a survey does not ask for that of an issue
}

func changes(timeline connection[labelChangeNode]) []model.LabelChange {
	var out []model.LabelChange
	for _, n := range timeline.Nodes {
		if n.Typename == "" {
			continue
		}
		on := n.Typename == "LabeledEvent"
		c := model.LabelChange{Label: n.Label.Name, On: on, At: n.CreatedAt.UTC(), LabelAt: n.Label.UpdatedAt.UTC()}
		if n.Actor != nil {
			c.By = n.Actor.actor()
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b model.LabelChange) int { return a.At.Compare(b.At) })
	return out
}

// editNode is a change that somebody made: a version of a text, or an entry of a timeline.
type editNode struct {
	CreatedAt, EditedAt  time.Time
	Actor, Editor        *actorNode
	DeletedCommentAuthor *actorNode
}

// deletions are those that were read. If there are more, one of them may have been of the viewer's.
func (n *threadNode) deletions(viewer model.Actor) []model.Deletion {
	var out []model.Deletion
	for i, e := range n.Deletions.Nodes {
		d := model.Deletion{Author: e.DeletedCommentAuthor.actor(), By: e.Actor.actor(), At: e.CreatedAt.UTC()}
		if i == 0 && n.Deletions.PageInfo.HasPreviousPage {
			d.Author, d.By = viewer, (*actorNode)(nil).actor()
		}
		out = append(out, d)
	}
	return out
}

type fileNode struct {
	model.File
	ChangeType string
}

// pull is a pull request as all that is one thread reads it.
func (n *threadNode) pull() model.Pull {
	p := model.Pull{
		Number: n.Number, Title: n.Title, Body: n.Body, URL: n.URL, State: model.PullState(n.State), Draft: n.IsDraft,
		Author: n.Author.actor(), Labels: names(n.Labels), LabelChanges: changes(n.LabelChanges),
		BaseRef: n.BaseRefName, HeadRef: n.HeadRefName, HeadSHA: n.head(), HeadExists: n.HeadRef != nil, CrossRepo: n.IsCrossRepository,
		BaseSHA: n.BaseRef.Target.OID, CreatedAt: n.CreatedAt.UTC(), UpdatedAt: n.UpdatedAt.UTC(), Reviews: n.Reviews.TotalCount,
	}
	if p.HeadSHA == n.HeadRefOID { // else the checks are of the commit before
		checks := cmp.Or(n.Checks, &rollupNode{})
		p.Rollup, p.CheckCounts = n.StatusCheckRollup.State, checks.counts()
		p.Checks, p.MoreChecks = checks.newest(), checks.Contexts.PageInfo.HasNextPage
	}
	if fork := n.HeadRepository; n.IsCrossRepository && fork == nil {
		p.ForkDeleted = true
	} else if n.IsCrossRepository && !fork.PushedAt.IsZero() {
		p.ForkPushedAt = fork.PushedAt.UTC()
		p.Fork, _ = model.ParseRepo(fork.NameWithOwner)
	}
	if n.Files != nil {
		p.FilesComplete = !n.Files.PageInfo.HasNextPage
		for _, f := range n.Files.Nodes {
			f.Change = f.ChangeType
			p.Files = append(p.Files, f.File)
		}
	}
	for _, c := range n.Commits.Nodes {
		if n := c.Commit; n.OID != "" {
			text := model.CommitText{SHA: n.OID, Message: n.Message, At: n.CommittedDate.UTC(), Author: n.Author.User.Login}
			p.Commits = append(p.Commits, text)
		}
	}
	p.Opinions, p.Approvals = opinions(n.Reviews.Nodes)
	if closes := n.ClosingIssuesReferences.Nodes; len(closes) > 0 {
		p.Issue = closes[0].issue()
	}
	return p
}

// tellBase adds when the base changed last. Where GitHub does not show it, nobody can tell what a label on the pull request of a
// fork was for.
func (n *threadNode) tellBase(p *model.Pull) {
	switch {
	case n.BaseChanges == nil && p.CrossRepo:
		p.LabelChanges = nil
	case n.BaseChanges != nil && len(n.BaseChanges.Nodes) > 0:
		p.BaseChangedAt = n.BaseChanges.Nodes[0].CreatedAt.UTC()
	}
}

// ref is a pull request in short.
func (n *threadNode) ref() model.PullRef {
	ref := model.PullRef{Number: n.Number, Title: n.Title, URL: n.URL, State: model.PullState(n.State), BaseRef: n.BaseRefName,
		HeadSHA: n.HeadRefOID, Ours: n.ViewerDidAuthor, ClosedAt: n.ClosedAt.UTC()}
	if n.Author != nil { // it was asked for
		ref.Author = n.Author.actor()
	}
	return ref
}

// issue is an issue in short; nil: the token may not see it.
func (n *threadNode) issue() *model.Issue {
	if n == nil {
		return nil
	}
	return &model.Issue{
		Number: n.Number, Title: n.Title, Body: n.Body, URL: n.URL, Author: n.Author.actor(), Ours: n.ViewerDidAuthor,
		Labels: names(n.Labels), LabelChanges: changes(n.LabelChanges),
	}
}

// wholeIssue is an issue that is the thread itself, with the open pull requests of its own repository that will close it.
func (n *threadNode) wholeIssue(repo model.Repo) *model.Issue {
	i := n.issue()
	i.Association, i.Closed, i.Reopened, i.Locked = n.AuthorAssociation, n.Closed, n.StateReason == "REOPENED", n.Locked
	if !n.LastEditedAt.IsZero() {
		i.BodyEdit = &model.Edit{By: n.Editor.actor(), At: n.LastEditedAt.UTC()}
	}
	i.Posted = n.firstText.of(i.Body, i.BodyEdit != nil)
	versions := n.BodyEdits.Nodes
	if i.MoreBodyEdits = n.BodyEdits.TotalCount > len(versions); !i.MoreBodyEdits && n.IncludesCreatedEdit && len(versions) > 0 {
		versions = versions[:len(versions)-1]
	}
	for _, e := range slices.Backward(versions) {
		i.BodyEdits = append(i.BodyEdits, model.Edit{By: e.Editor.actor(), At: e.EditedAt.UTC()})
	}
	for _, e := range n.TitleEdits.Nodes {
		i.TitleEdits = append(i.TitleEdits, model.Edit{By: e.Actor.actor(), At: e.CreatedAt.UTC()})
	}
	for _, p := range n.ClosedBy.Nodes {
		if p != nil && p.State == string(model.PullOpen) && p.isIn(repo) {
			i.Pulls = append(i.Pulls, p.Number)
		}
	}
	return i
}

// item is an issue that may be one of a roadmap's items.
func (n *threadNode) item() ItemIssue {
	edited := !n.LastEditedAt.IsZero()
	return ItemIssue{
		Number: n.Number, ID: n.id(), Title: n.Title, Posted: n.firstText.of(n.Body, edited), State: n.State, Reason: n.StateReason,
		Labels: names(n.Labels), Edited: edited, Ours: n.ViewerDidAuthor, Author: n.Author.actor(), CreatedAt: n.CreatedAt.UTC(),
	}
}
