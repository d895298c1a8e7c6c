package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// tolerated are the parts of an answer that may be missing, because the token may not see them or because somebody
// deleted them: without them less is known, and nothing else is wrong.
var tolerated = []string{"collaborators", "sender", "source", "node", "closingIssuesReferences", "closedBy", "labelChanges", "baseChanges", "deletions", "posted", "statusCheckRollup", "checks", headRepository}

// headRepository is a fork that the token may not see, which is not to be taken for one that is not there.
const headRepository = "headRepository"

// Snapshot reads one pull request or one issue: one GraphQL request on the common path, and one for each further round of pages that
// q.Settled asks for. A number that is an issue gives a snapshot of the issue, with an empty Pull and the
// settings of the default branch. A repository or a number that is not there is NotFound.
//
// Review threads come with the first request only along with the largest pages: they are heavier than all else
// (https://github.com/microsoft/vscode-pull-request-github/issues/8890), and have requests of their own after that.
func (c Threads) Snapshot(ctx context.Context, q Query) (model.Snapshot, error) {
	first := 0
	ours := question{fmt.Sprintf("read %s#%d", q.Repo, q.Number), documents["snapshot"], q.Repo, q.Number, "thread", tolerated}
	data, err := c.ask(ctx, ours, func(step int) map[string]any {
		first = step
		return map[string]any{
			"page": pageSizes[step].page, "reviews": pageSizes[step].reviews, "posted": true,
			"author": q.Author, "askAuthor": isPerson(q.Author), "sender": q.Sender, "askSender": q.asksSender(),
			"node": q.Node, "askNode": q.Node != "",
			"branch": q.Branch, "branchRef": "refs/heads/" + q.Branch, "askBranch": q.Branch != "", "askThreads": step == 0,
			"source": q.Source, "askSource": q.Source != 0,
		}
	})
	if err != nil {
		return model.Snapshot{}, err
	}
	n := data.Repository.thread()
	r, err := begun(ours.op, q, data, n)
	if err != nil {
		return model.Snapshot{}, err
	}
	n.tellBase(&r.of.Pull)
	if first > 0 && r.of.IsPull() {
		r.threadPages.more, r.threadsDue = true, fullPage.page
	}
	return c.finish(ctx, ours.op, r)
}

// finish reads what is left to be read, and gives the snapshot.
func (c Threads) finish(ctx context.Context, op string, r *reading) (model.Snapshot, error) {
	if err := c.readOn(ctx, op, r); err != nil {
		return model.Snapshot{}, named(err, r.q.Repo, r.q.Number)
	}
	snap := r.of
	r.tell(&snap)
	return snap, nil
}

// isPerson tells whether there is a right of that login to be asked for.
func isPerson(login string) bool { return login != "" && !strings.HasSuffix(login, botSuffix) }

func (q Query) asksSender() bool { return isPerson(q.Sender) && !strings.EqualFold(q.Sender, q.Author) }

// inGeneral is what an answer tells of the repository itself, with the settings of a branch.
func inGeneral(op string, repo model.Repo, data repositoryAnswer, settings branchNode, branch string) (snap model.Snapshot, err error) {
	main := data.Repository.DefaultBranchRef
	snap = model.Snapshot{Repo: repo, Viewer: data.Viewer.actor(), ReadAt: data.at}
	snap.DefaultBranch, snap.DefaultSHA = main.Name, main.Target.OID
	snap.Settings, snap.SettingsFound, err = settings.settings(op, branch)
	return snap, err
}

// begun is the reading of one pull request or issue of an answer, with what the answer has of it.
func begun(op string, q Query, data repositoryAnswer, n *threadNode) (*reading, error) {
	d, isPull := data.Repository, n.Typename == "PullRequest"
	settings, branch := d.DefaultBranchRef, d.DefaultBranchRef.Name
	if isPull {
		settings, branch = n.BaseRef, n.BaseRefName
	}
	snap, err := inGeneral(op, q.Repo, data, settings, branch)
	if err != nil {
		return nil, err
	}
	snap.Number, snap.Branch, snap.Permissions = q.Number, d.branch(q.Branch), map[string]model.Permission{}
	for login, rights := range map[string]*rightsNode{q.Sender: d.Sender, q.Author: d.Collaborators} {
		if rights != nil { // else they were not asked for, or refused
			snap.Permissions[strings.ToLower(login)] = rights.of(login)
		}
	}
	if isPull {
		snap.Of, snap.Pull = model.PullNumber(q.Number), n.pull()
		snap.Pull.Issue = cmp.Or(snap.Pull.Issue, d.Source.issue())
		snap.Pull.ForkDeleted = snap.Pull.ForkDeleted && !slices.Contains(data.missing, headRepository)
	} else {
		snap.Of = n.wholeIssue(q.Repo)
	}
	snap.Deletions = n.deletions(snap.Viewer)
	r := newReading(q, snap)
	r.take(n, nil)
	r.takeNode(data.Node)
	return r, nil
}

// branch is what the repository holds under the name that was asked for; nil for none. Pull requests of forks whose
// branches have that name are nobody's business here.
func (n *repositoryNode) branch(name string) *model.Branch {
	if name == "" {
		return nil
	}
	return &model.Branch{Name: name, SHA: n.Branch.Target.OID, Pulls: ownPulls(n.BranchPulls.Nodes)}
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

// opinions stand for the newest ten reviews, as far as they are opinions: as many as a survey reads.
func opinions(reviews []saidNode) (all string, approvals []model.Review) {
	for _, r := range reviews[max(0, len(reviews)-fullSurvey.reviews):] {
		if r.ReviewState != "COMMENTED" && r.ReviewState != "PENDING" {
			all += fmt.Sprintf("%d %s\n", r.id(), r.ReviewState)
		}
		if r.ReviewState == "APPROVED" {
			approvals = append(approvals, model.Review{Login: r.Author.actor().Login, At: r.submitted()})
		}
	}
	return all, approvals
}
