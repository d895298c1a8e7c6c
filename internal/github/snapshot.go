package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Query says what a Snapshot is to be of, and how far back it has to reach.
type Query struct {
	Repo   model.Repo
	Number int
	// Author and Sender are the logins whose permissions to ask for in the same request; "" for nobody's. A bot's is not
	// asked for, and Snapshot.Permissions holds both.
	Author, Sender string
	// Branch is the name of a branch, without refs/heads/, to read into Snapshot.Branch in the same request; "" for none.
	Branch string
	// Source is the number of the issue that a pull request is for, to read into Snapshot.Pull.Issue in the same request where GitHub
	// knows of none; 0 for none.
	Source int
	// Node is the GraphQL id of the comment or review that the trigger carries: it is read even when it is old.
	Node string
	// Settled is asked after each page with all that was read so far, oldest first, and with the snapshot but for its
	// comments: paging stops at the first comment that the mark settles. False, or a nil function, asks for everything.
	Settled func(s model.Snapshot, read []model.Comment) (model.Mark, bool)
	// Reviews asks for all reviews and their comments, whatever is settled.
	Reviews bool
	// Edited asks for review comments, too, that changed after what is settled and are of reviews beyond that, which costs a call
	// where there are any such reviews, and a second one where such comments changed.
	Edited bool
	// Posted is asked about each comment that was edited and came without its original text: it gives that text where it is known
	// from before, or says that it is to be read, which costs a call for all such comments together. Nil: for none.
	Posted func(s model.Snapshot, c model.Comment) (text string, ask bool)
	lately *lately // in a survey
}

// pageSize is how many nodes of one kind a request asks for; reviews come with their comments and so are fewer.
type pageSize struct{ page, reviews int }

// pageSizes are those of pageLimits.
var pageSizes = [len(pageLimits)]pageSize{{100, 50}, {25, 10}, {5, 5}, {1, 1}}

var fullPage = pageSizes[0]

// Snapshot reads one pull request or one issue: one GraphQL request on the common path, and one for each further round of pages that
// q.Settled asks for. A number that is an issue gives a snapshot of the issue, with an empty Pull and the
// settings of the default branch. A repository or a number that is not there is NotFound.
func (c Threads) Snapshot(ctx context.Context, q Query) (model.Snapshot, error) {
	if err := checkRepo(q.Repo); err != nil {
		return model.Snapshot{}, &Error{Kind: Invalid, Op: "read", Message: c.line(err.Error())}
	}
	op := fmt.Sprintf("read %s#%d", q.Repo, q.Number)
	var r *reading
	if err := c.inPages(ctx, pagesOfThread, func(ctx context.Context, step int) (err error) {
		r, err = c.begin(ctx, op, q, step)
		return err
	}); err != nil {
		return model.Snapshot{}, err
	}
	if err := c.readOn(ctx, op, r); err != nil {
		return model.Snapshot{}, named(err, q)
	}
	snap := r.of
	r.tell(&snap)
	return snap, nil
}

type snapshotData struct {
	Viewer     actorNode
	Repository *repositoryNode
	Node       *foreignNode
	// hides says that GitHub refused to show a fork.
	hides bool
}

type repositoryNode struct {
	DefaultBranchRef   *branchNode
	Collaborators      *rightsNode
	Sender             *rightsNode
	Source             *issueNode
	Branch             *struct{ Target struct{ OID string } }
	BranchPulls        connection[branchPullNode]
	IssueOrPullRequest *pullNode
}

// tolerated are the parts of an answer that may be missing, because the token may not see them or because somebody
// deleted them: without them less is known, and nothing else is wrong.
var tolerated = []string{"collaborators", "sender", "source", "node", "closingIssuesReferences", "closedBy", "labelChanges", "baseChanges", "deletions", "posted", "statusCheckRollup", "checks", headRepository}

// headRepository is a fork that the token may not see, which is not to be taken for one that is not there.
const headRepository = "headRepository"

// begin reads the first page of all, but review threads only along with the largest pages: they are heavier than all else
// (https://github.com/microsoft/vscode-pull-request-github/issues/8890), and have requests of their own after that.
func (c Threads) begin(ctx context.Context, op string, q Query, step int) (*reading, error) {
	var data snapshotData
	size := pageSizes[step]
	at, missing, err := c.queryParts(ctx, op, snapshotDocument, map[string]any{
		"owner": q.Repo.Owner, "name": q.Repo.Name, "number": q.Number, "page": size.page, "reviews": size.reviews, "posted": true,
		"author": q.Author, "askAuthor": isPerson(q.Author), "sender": q.Sender, "askSender": q.asksSender(), "node": q.Node, "askNode": q.Node != "",
		"branch": q.Branch, "branchRef": "refs/heads/" + q.Branch, "askBranch": q.Branch != "", "askThreads": step == 0,
		"source": q.Source, "askSource": q.Source != 0,
	}, &data, tolerated...)
	if err != nil {
		return nil, named(err, q)
	}
	if data.Repository == nil || data.Repository.IssueOrPullRequest == nil {
		return nil, named(&Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Fix: fixHidden}, q)
	}
	data.hides = slices.Contains(missing, headRepository)
	snap, err := data.snapshot(op, q)
	if err != nil {
		return nil, err
	}
	snap.ReadAt = at
	data.Repository.IssueOrPullRequest.tellBase(&snap.Pull)
	r := newReading(q, snap)
	r.take(data.Repository.IssueOrPullRequest, nil)
	r.takeNode(data.Node)
	if step > 0 && snap.IsPull() {
		r.threadPages.more, r.threadsDue = true, fullPage.page
	}
	return r, nil
}

// isPerson tells whether there is a right of that login to be asked for.
func isPerson(login string) bool { return login != "" && !strings.HasSuffix(login, botSuffix) }

func (q Query) asksSender() bool { return isPerson(q.Sender) && !strings.EqualFold(q.Sender, q.Author) }

// snapshot is all of the answer but what was said.
func (d *snapshotData) snapshot(op string, q Query) (model.Snapshot, error) {
	n := d.Repository.IssueOrPullRequest
	snap := model.Snapshot{Repo: q.Repo, Number: q.Number, Viewer: d.Viewer.actor(), Permissions: map[string]model.Permission{}}
	if main := d.Repository.DefaultBranchRef; main != nil {
		snap.DefaultBranch = main.Name
		if main.Target != nil {
			snap.DefaultSHA = main.Target.OID
		}
	}
	snap.Branch = d.Repository.branch(q.Branch)
	if isPerson(q.Author) && d.Repository.Collaborators != nil {
		snap.Permissions[strings.ToLower(q.Author)] = d.Repository.Collaborators.of(q.Author)
	}
	if q.asksSender() && d.Repository.Sender != nil {
		snap.Permissions[strings.ToLower(q.Sender)] = d.Repository.Sender.of(q.Sender)
	}
	branch, name := d.Repository.DefaultBranchRef, snap.DefaultBranch
	if n.Typename == "PullRequest" {
		snap.Of, snap.Pull = model.PullNumber(q.Number), n.pull()
		if source := d.Repository.Source; source != nil && snap.Pull.Issue == nil {
			issue := source.issue()
			snap.Pull.Issue = &issue
		}
		snap.Pull.Opinions, snap.Pull.ApprovedAt = opinions(n.Reviews.Nodes)
		snap.Pull.Reviews = n.Reviews.TotalCount
		snap.Pull.ForkDeleted = snap.Pull.ForkDeleted && !d.hides
		branch, name = n.BaseRef, n.BaseRefName
	} else {
		snap.Of = n.thread(q.Repo)
	}
	snap.Deletions = n.deletions(snap.Viewer)
	var err error
	snap.Settings, snap.SettingsFound, err = branch.settings(op, name)
	return snap, err
}

// branch is what the repository holds under the name that was asked for; nil for none. Pull requests of forks whose
// branches have that name are nobody's business here.
func (n *repositoryNode) branch(name string) *model.Branch {
	if name == "" {
		return nil
	}
	b := &model.Branch{Name: name}
	if n.Branch != nil {
		b.SHA = n.Branch.Target.OID
	}
	for _, p := range n.BranchPulls.Nodes {
		if p.Number != 0 && !p.IsCrossRepository {
			b.Pulls = append(b.Pulls, p.ref())
		}
	}
	return b
}

// named makes a NotFound say what was not found: GitHub's own message speaks of node ids and variables.
func named(err error, q Query) error {
	e, ok := err.(*Error)
	if !ok || e.Kind != NotFound {
		return err
	}
	if strings.Contains(e.Message, "Repository") {
		e.Message = fmt.Sprintf("repository %s does not exist, or the token may not see it", q.Repo)
	} else {
		e.Message = fmt.Sprintf("%s#%d does not exist, or the token may not see it", q.Repo, q.Number)
	}
	return e
}

// sortComments puts the oldest first, by creation and then by id.
func sortComments(comments []model.Comment) {
	slices.SortFunc(comments, func(a, b model.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
}

// counts stand for how many checks there are in each state.
func (n *rollupNode) counts() string {
	var all []string
	for kind, list := range [][]stateCountNode{n.Contexts.CheckRunCountsByState, n.Contexts.StatusContextCountsByState} {
		for _, c := range list {
			all = append(all, fmt.Sprintf("%d %s %d\n", kind, c.State, c.Count))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// opinions stand for the newest ten reviews, as far as they are opinions: as many as a survey reads. The newest of them that approves
// was submitted at approved.
func opinions(reviews []reviewNode) (all string, approved time.Time) {
	for _, r := range reviews[max(0, len(reviews)-fullSurvey.reviews):] {
		if r.ReviewState != "COMMENTED" && r.ReviewState != "PENDING" {
			all += fmt.Sprintf("%d %s\n", int64(r.FullDatabaseID), r.ReviewState)
		}
		if r.ReviewState == "APPROVED" {
			approved = r.submitted()
		}
	}
	return all, approved
}
