package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// IssueSurveyQuery says what a survey of issues is to be of.
type IssueSurveyQuery struct {
	Repo model.Repo
	// Labels are the names of which an issue has any; none: only the branches are read.
	Labels []string
	// NoMirrors leaves out the branches that begin with gh-pr-.
	NoMirrors bool
	// Closed asks for the pull requests as well that are no longer open and were changed last: Closed says how many.
	Closed int
	// ClosedSince has those read on, at most 10 times as many, while the oldest one that was read was updated at or after it.
	// Zero: no more than Closed.
	ClosedSince time.Time
	// Also are the numbers of further issues and pull requests that are read, too, 50 with each request from the first one on:
	// issues whatever their labels, and pull requests that are not open. The others of them are not yielded.
	Also []int
	// Roadmap is the label of roadmaps, and RoadmapDir the directory of their files; without Roadmaps nothing is asked about them.
	Roadmap, RoadmapDir string
	Roadmaps            *RoadmapsSeen
	// Settled is Query's, for one of the issues or pull requests.
	Settled func(s model.Snapshot, read []model.Comment) (model.Mark, bool)
	// Posted is Query's, for one of the issues or pull requests.
	Posted func(s model.Snapshot, c model.Comment) (text string, ask bool)
}

// RoadmapsSeen is what a survey shows of the roadmaps of a repository.
type RoadmapsSeen struct {
	Dir  string              // the tree of the directory; "" for none
	Subs map[int][]ItemIssue // the sub-issues of each roadmap that was looked at, by its number: numbers and states only
}

// mostClosed is how many times IssueSurveyQuery.Closed are read at most.
const mostClosed = 10

// The beginnings of the names of branches that SurveyIssues gives, as its query asks for them.
const (
	mirrorBranches = "refs/heads/gh-pr-"
	ourBranches    = "refs/heads/mergexo/"
)

// SurveyIssues reads all open issues that have any of the labels, the oldest first and 50 a request, and gives each to
// yield as Survey does with pull requests, once. The snapshots are Snapshot's for an issue, with no permissions, no Branch,
// and no Posted for comments that were edited but where the query's Posted asks; those of closed pull requests are Survey's. Beside them it gives the refs of
// all branches that begin with gh-pr- or mergexo/, by full name and in its order.
func (c Threads) SurveyIssues(ctx context.Context, q IssueSurveyQuery, yield func(model.Snapshot) error) ([]model.Ref, error) {
	r := &issueReading{q: q, issues: cursor{more: len(q.Labels) > 0}, mirrors: cursor{more: !q.NoMirrors}, ours: cursor{more: true},
		closed: cursor{more: q.Closed > 0}, also: q.Also, seen: map[int]bool{}, askRoadmaps: q.Roadmaps != nil}
	each := Query{Repo: q.Repo, Settled: q.Settled, Posted: q.Posted}
	for r.issues.more || r.mirrors.more || r.ours.more || r.closed.more || len(r.also) > 0 {
		data, err := c.issuesPage(ctx, r)
		if KindOf(err) == Outdated && r.askRoadmaps && !r.noSubs {
			r.noSubs = true
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := c.yieldEach(ctx, each, data, r.unseen(data), yield); err != nil {
			return nil, err
		}
		r.take(data.Repository)
	}
	slices.SortFunc(r.refs, func(a, b model.Ref) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(r.refs), nil // one of ours may have the beginning of the others within its name
}

// issueReading is how far a survey of issues has come.
type issueReading struct {
	q                             IssueSurveyQuery
	size                          surveySize
	issues, mirrors, ours, closed cursor
	closedRead                    int   // how many
	also                          []int // that are still to be read
	seen                          map[int]bool
	askRoadmaps, noSubs           bool // the server has no sub-issues
	refs                          []model.Ref
}

func (c Threads) issuesPage(ctx context.Context, r *issueReading) (data repositoryAnswer, err error) {
	err = c.inPages(ctx, "issues", func(ctx context.Context, step int) (err error) {
		r.size = surveySizes[step]
		some := r.further()
		op := fmt.Sprintf("read the open issues of %s", r.q.Repo)
		ours := question{op: op, document: surveyIssuesDocument(some, !r.noSubs), repo: r.q.Repo, may: slices.Clone(tolerated)}
		for i := range some {
			ours.may = append(ours.may, fmt.Sprintf("%sp%d", mayLack, i))
		}
		variables := map[string]any{
			"labels": r.q.Labels, "issues": r.size.threads, "comments": r.size.comments, "posted": false,
			"closed": r.closedPage(), "askClosed": r.closed.more, "closedAfter": orNull(r.closed.at),
			"reviews": r.size.reviews, "page": r.size.lines,
			"askIssues": r.issues.more, "after": orNull(r.issues.at),
			"askMirrors": r.mirrors.more, "mirrorsAfter": orNull(r.mirrors.at),
			"askOurs": r.ours.more, "oursAfter": orNull(r.ours.at),
			"askRoadmaps": r.askRoadmaps, "roadmapDir": r.q.RoadmapDir,
		}
		if !r.noSubs {
			variables["roadmap"] = []string{r.q.Roadmap}
		}
		data, err = c.ask(ctx, ours, func(int) map[string]any { return variables })
		return err
	})
	return data, err
}

// closedPage is how many closed pull requests the next request asks for.
func (r *issueReading) closedPage() int {
	left := r.q.Closed - r.closedRead%max(r.q.Closed, 1)
	return min(left, r.size.threads)
}

// further are the numbers that the next request asks for.
func (r *issueReading) further() []int { return r.also[:min(len(r.also), r.size.threads)] }

// unseen are the issues and pull requests of a page that were not yielded yet. A further number may be an open pull request,
// which is left out.
func (r *issueReading) unseen(data repositoryAnswer) []*threadNode {
	all := slices.Concat(data.Repository.Issues.Nodes, data.Repository.Closed.Nodes)
	for i := range len(data.Also) {
		further := data.Also[fmt.Sprintf("p%d", i)]
		if further != nil && (further.Typename != "PullRequest" || further.State != string(model.PullOpen)) {
			all = append(all, further)
		}
	}
	return slices.DeleteFunc(all, func(one *threadNode) bool {
		if one == nil || r.seen[one.Number] {
			return true
		}
		r.seen[one.Number] = true
		return false
	})
}

// take notes the branches of a page, and where the next one begins: of what was not asked for there is none.
func (r *issueReading) take(n *repositoryNode) {
	r.takeRoadmaps(n)
	r.also = r.also[len(r.further()):]
	r.takeClosed(n.Closed)
	r.issues.next(n.Issues.PageInfo)
	r.mirrors.next(n.Mirrors.PageInfo)
	r.ours.next(n.Ours.PageInfo)
	for _, ref := range slices.Concat(n.Mirrors.Nodes, n.Ours.Nodes) {
		name := ref.Prefix + ref.Name
		if ref.Target.OID != "" && (strings.HasPrefix(name, mirrorBranches) || strings.HasPrefix(name, ourBranches)) {
			r.refs = append(r.refs, model.Ref{Name: name, SHA: ref.Target.OID})
		}
	}
}

// takeRoadmaps notes what the first page shows of roadmaps.
func (r *issueReading) takeRoadmaps(n *repositoryNode) {
	if !r.askRoadmaps {
		return
	}
	r.askRoadmaps = false
	seen := r.q.Roadmaps
	seen.Subs, seen.Dir = map[int][]ItemIssue{}, n.DefaultBranchRef.Target.Roadmaps.OID
	for _, one := range n.Roadmaps.Nodes {
		if one != nil {
			seen.Subs[one.Number] = items(r.q.Repo, one.SubIssues.Nodes)
		}
	}
}

// takeClosed goes on behind a page of closed pull requests: so many are wanted however old they are, and more while they are new enough.
func (r *issueReading) takeClosed(page threads) {
	n := len(page.Nodes)
	r.closedRead += n
	r.closed.next(page.PageInfo)
	enough := r.q.ClosedSince.IsZero() || r.closedRead >= mostClosed*r.q.Closed ||
		n > 0 && page.Nodes[n-1] != nil && page.Nodes[n-1].UpdatedAt.Before(r.q.ClosedSince)
	if n == 0 || enough && r.closedRead >= r.q.Closed {
		r.closed.more = false
	}
}
