package github

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// settingsPath is the file that the query reads on the base branch, or on the default branch for an issue.
const settingsPath = ".github/mergexo.toml"

// pullNode is a pull request, or an issue, which has of these fields those that an issueNode has.
type pullNode struct {
	Typename          string `json:"__typename"`
	Number            int
	Title             string
	Body              string
	URL               string
	State             string
	IsDraft           bool
	IsCrossRepository bool
	Author            *actorNode
	ViewerDidAuthor   bool // of an issue
	Labels            labelNodes
	BaseRefName       string
	HeadRefName       string
	HeadRefOID        string `json:"headRefOid"`
	HeadRef           *headNode
	HeadRepository    *struct {
		NameWithOwner string
		PushedAt      time.Time
	}
	CreatedAt time.Time
	UpdatedAt time.Time
	// StatusCheckRollup and Checks are null where there are no checks, or where the token may not see them.
	StatusCheckRollup struct{ State string }
	Checks            rollupNode
	BaseRef           branchNode
	// LabelChanges are null where the token may not see them.
	LabelChanges connection[labelChangeNode]
	// BaseChanges holds the newest change of the base: nil in a survey, and where the token may not see it.
	BaseChanges             *connection[struct{ CreatedAt time.Time }]
	Deletions               connection[deletionNode] // the newest; none in a survey
	ClosingIssuesReferences connection[issueNode]
	Files                   *connection[fileNode]
	Commits                 connection[struct{ Commit commitTextNode }]

	threadFacts

	// ClosedBy is for an issue: the pull requests that will close it, in whatever repository.
	ClosedBy connection[struct {
		Number     int
		State      string
		Repository struct{ NameWithOwner string }
	}]

	Comments      connection[saidNode]
	Reviews       connection[reviewNode]
	ReviewThreads connection[threadNode]
}

type headNode struct {
	Name   string
	Target objectNode
}

// head is the commit that the branch of an open pull request is at. GitHub shows it on the pull request some time after a push
// (https://github.com/Mergifyio/mergify/pull/4718): who has pushed would take what it shows for the push undone. That of a
// fork is fetched by the ref of the pull request, so it is what that shows.
func (n pullNode) head() string {
	if n.State != string(model.PullOpen) || n.IsCrossRepository || n.HeadRef == nil || n.HeadRef.Target.OID == "" {
		return n.HeadRefOID
	}
	return n.HeadRef.Target.OID
}

// branchNode is a branch with a file of it; null is one without a name.
type branchNode struct {
	Name   string
	Target struct {
		OID  string
		File fileAtNode
		// Dir and Roadmaps are directories: that of a roadmap, and of all of them in a survey.
		Dir, Roadmaps objectNode
	}
}

type fileAtNode struct{ Object *blobNode }

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

type issueNode struct {
	Number           int
	Title, Body, URL string
	Author           *actorNode
	Labels           labelNodes
	LabelChanges     connection[labelChangeNode]
	ViewerDidAuthor  bool
}

func (n issueNode) issue() model.Issue {
	return model.Issue{Number: n.Number, Title: n.Title, Body: n.Body, URL: n.URL, Author: n.Author.actor(), Ours: n.ViewerDidAuthor,
		Labels: names(n.Labels), LabelChanges: changes(n.LabelChanges)}
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

func (n labelChangeNode) change() model.LabelChange {
	on := n.Typename == "LabeledEvent"
	c := model.LabelChange{Label: n.Label.Name, On: on, At: n.CreatedAt.UTC(), LabelAt: n.Label.UpdatedAt.UTC()}
	if n.Actor != nil {
		c.By = n.Actor.actor()
	}
	return c
}

func changes(timeline connection[labelChangeNode]) []model.LabelChange {
	var out []model.LabelChange
	for _, n := range timeline.Nodes {
		if n.Typename != "" {
			out = append(out, n.change())
		}
	}
	slices.SortStableFunc(out, func(a, b model.LabelChange) int { return a.At.Compare(b.At) })
	return out
}

type deletionNode struct {
	CreatedAt            time.Time
	Actor                *actorNode
	DeletedCommentAuthor *actorNode
}

// deletions are those that were read. If there are more, one of them may have been of the viewer's.
func (n pullNode) deletions(viewer model.Actor) []model.Deletion {
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
	Path, ChangeType     string
	Additions, Deletions int
}

type commitTextNode struct {
	OID           string
	Message       string
	CommittedDate time.Time
	Author        struct{ User struct{ Login string } }
}

func (n pullNode) pull() model.Pull {
	p := model.Pull{
		Number: n.Number, Title: n.Title, Body: n.Body, URL: n.URL, State: model.PullState(n.State), Draft: n.IsDraft,
		Author: n.Author.actor(), Labels: names(n.Labels), LabelChanges: changes(n.LabelChanges),
		BaseRef: n.BaseRefName, HeadRef: n.HeadRefName, HeadSHA: n.head(), HeadExists: n.HeadRef != nil, CrossRepo: n.IsCrossRepository,
		BaseSHA: n.BaseRef.Target.OID, CreatedAt: n.CreatedAt.UTC(), UpdatedAt: n.UpdatedAt.UTC(),
	}
	if p.HeadSHA == n.HeadRefOID { // else the checks are of the commit before
		p.Rollup, p.CheckCounts = n.StatusCheckRollup.State, n.Checks.counts()
		p.Checks, p.MoreChecks = n.Checks.newest(), n.Checks.Contexts.PageInfo.HasNextPage
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
			p.Files = append(p.Files, model.File{Path: f.Path, Change: f.ChangeType, Additions: f.Additions, Deletions: f.Deletions})
		}
	}
	for _, c := range n.Commits.Nodes {
		if n := c.Commit; n.OID != "" {
			text := model.CommitText{SHA: n.OID, Message: n.Message, At: n.CommittedDate.UTC(), Author: n.Author.User.Login}
			p.Commits = append(p.Commits, text)
		}
	}
	if len(n.ClosingIssuesReferences.Nodes) > 0 {
		i := n.ClosingIssuesReferences.Nodes[0]
		if i.Number != 0 { // null: an issue that the token may not see
			issue := i.issue()
			p.Issue = &issue
		}
	}
	return p
}

// tellBase adds when the base changed last. Where GitHub does not show it, nobody can tell what a label on the pull request of a
// fork was for.
func (n pullNode) tellBase(p *model.Pull) {
	switch {
	case n.BaseChanges == nil && p.CrossRepo:
		p.LabelChanges = nil
	case n.BaseChanges != nil && len(n.BaseChanges.Nodes) > 0:
		p.BaseChangedAt = n.BaseChanges.Nodes[0].CreatedAt.UTC()
	}
}

// threadFacts are what is asked of an issue only where it is the thread itself.
type threadFacts struct {
	AuthorAssociation string
	Closed, Locked    bool
	StateReason       string
	LastEditedAt      time.Time
	Editor            *actorNode
	TitleEdits        connection[struct {
		CreatedAt time.Time
		Actor     *actorNode
	}]
	// BodyEdits are the versions of the text, the newest first; the one that it was opened with is among them.
	BodyEdits connection[struct {
		EditedAt time.Time
		Editor   *actorNode
	}]
	firstText
}

// firstText is the text that an issue or a comment began with, once it was edited: see saidNode.
type firstText struct {
	IncludesCreatedEdit bool
	Opened              connection[struct{ Diff *string }]
}

// of is that text, or "" where GitHub does not say.
func (f firstText) of(body string, edited bool) string {
	switch {
	case !edited:
		return body
	case !f.IncludesCreatedEdit || len(f.Opened.Nodes) == 0 || f.Opened.Nodes[0].Diff == nil:
		return ""
	}
	return *f.Opened.Nodes[0].Diff
}

func (f threadFacts) tell(i *model.Issue) {
	i.Association, i.Closed, i.Reopened, i.Locked = f.AuthorAssociation, f.Closed, f.StateReason == "REOPENED", f.Locked
	if !f.LastEditedAt.IsZero() {
		i.BodyEdit = &model.Edit{By: f.Editor.actor(), At: f.LastEditedAt.UTC()}
	}
	i.Posted = f.of(i.Body, i.BodyEdit != nil)
	versions := f.BodyEdits.Nodes
	if i.MoreBodyEdits = f.BodyEdits.TotalCount > len(versions); !i.MoreBodyEdits && f.IncludesCreatedEdit && len(versions) > 0 {
		versions = versions[:len(versions)-1]
	}
	for _, n := range slices.Backward(versions) {
		i.BodyEdits = append(i.BodyEdits, model.Edit{By: n.Editor.actor(), At: n.EditedAt.UTC()})
	}
	for _, n := range f.TitleEdits.Nodes {
		i.TitleEdits = append(i.TitleEdits, model.Edit{By: n.Actor.actor(), At: n.CreatedAt.UTC()})
	}
}

// branchPullNode is a pull request whose head has the name of the branch that was asked for.
type branchPullNode struct {
	Number            int
	Title, URL, State string
	IsCrossRepository bool
	ViewerDidAuthor   bool
	Author            *actorNode
	BaseRefName       string
	HeadRefOID        string `json:"headRefOid"`
	ClosedAt          time.Time
}

func (n branchPullNode) ref() model.PullRef {
	ref := model.PullRef{Number: n.Number, Title: n.Title, URL: n.URL, State: model.PullState(n.State), BaseRef: n.BaseRefName,
		HeadSHA: n.HeadRefOID, Ours: n.ViewerDidAuthor, ClosedAt: n.ClosedAt.UTC()}
	if n.Author != nil { // it was asked for
		ref.Author = n.Author.actor()
	}
	return ref
}

// thread is the issue that the node is, with the open pull requests of its own repository that will close it.
func (n pullNode) thread(repo model.Repo) *model.Issue {
	i := issueNode{n.Number, n.Title, n.Body, n.URL, n.Author, n.Labels, n.LabelChanges, n.ViewerDidAuthor}.issue()
	n.threadFacts.tell(&i)
	for _, p := range n.ClosedBy.Nodes {
		if p.State == string(model.PullOpen) && strings.EqualFold(p.Repository.NameWithOwner, repo.String()) {
			i.Pulls = append(i.Pulls, p.Number)
		}
	}
	return &i
}

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
