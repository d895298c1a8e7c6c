package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// RoadmapQuery says which roadmap is read.
type RoadmapQuery struct {
	Repo   model.Repo
	Number int    // of its issue
	Path   string // of its file
	Dir    string // of the directory that its file is in
}

// RoadmapView is what GitHub shows of a roadmap.
type RoadmapView struct {
	Branch, SHA string // the default branch
	File        []byte // nil: there is none that GitHub shows whole
	Dir         string // the tree of the directory; "" for none
	Subs        []ItemIssue
	NoSubs      bool // the server has no sub-issues
}

// ItemIssue is an issue that may be an item of a roadmap.
type ItemIssue struct {
	Number        int
	ID            int64
	Title         string
	Posted        string // the text that it was opened with; empty if GitHub does not say
	State, Reason string // as GraphQL has them
	Labels        []string
	Edited        bool // the text was
	Ours          bool
	Author        model.Actor
	CreatedAt     time.Time
}

// items are those of this repository: a transferred issue stays a sub-issue.
func items(repo model.Repo, nodes []*threadNode) (out []ItemIssue) {
	for _, n := range nodes {
		if n != nil && n.isIn(repo) {
			out = append(out, n.item())
		}
	}
	return out
}

// Roadmap reads what GitHub shows of a roadmap.
func (c Issues) Roadmap(ctx context.Context, q RoadmapQuery) (view RoadmapView, err error) {
	ours := question{fmt.Sprintf("read the roadmap of %s#%d", q.Repo, q.Number), documents["roadmap"], q.Repo, q.Number, "our issues", nil}
	for after := (cursor{more: true}); after.more; {
		data, err := c.ask(ctx, ours, func(step int) map[string]any {
			variables := map[string]any{"path": q.Path, "dir": q.Dir}
			if !view.NoSubs {
				maps.Copy(variables, after.page(step))
			}
			return variables
		})
		if KindOf(err) == Outdated && !view.NoSubs {
			view.NoSubs, ours.document = true, withFragments(queryText("roadmap", false))
			continue
		}
		if err != nil {
			return view, err
		}
		main := data.Repository.DefaultBranchRef
		view.Branch, view.SHA, view.Dir = main.Name, main.Target.OID, main.Target.Dir.OID
		if text, whole := main.Target.File.Object.text(); whole {
			view.File = []byte(text)
		}
		subs := data.Repository.Issue.SubIssues
		view.Subs = append(view.Subs, items(q.Repo, subs.Nodes)...)
		after.next(subs.PageInfo)
	}
	return view, nil
}

// ByNumber reads issues by their numbers; one that is not there, or no issue, is left out.
func (c Issues) ByNumber(ctx context.Context, repo model.Repo, numbers []int) (out []ItemIssue, err error) {
	err = askEach(ctx, c.conn, itemsOf, fmt.Sprintf("read issues of %s", repo), repo, numbers, func(_ int, n *threadNode) {
		out = append(out, items(repo, []*threadNode{n})...)
	})
	return out, err
}

// OpenedSince gives the issues that are wanted among those that were opened at or after a time, the newest first. It reads on however
// many that are, since whoever looks again later has more of them to read.
func (c Issues) OpenedSince(ctx context.Context, repo model.Repo, since time.Time, want func(ItemIssue) bool) (out []ItemIssue, err error) {
	q := question{fmt.Sprintf("look for our issues in %s", repo), documents["openedsince"], repo, 0, "our issues", nil}
	for after := (cursor{more: true}); after.more; {
		got, err := c.ask(ctx, q, after.page)
		if err != nil {
			return nil, err
		}
		page := got.Repository.Issues
		for _, i := range items(repo, page.Nodes) {
			if i.CreatedAt.Before(since) {
				return out, nil
			}
			if want(i) {
				out = append(out, i)
			}
		}
		after.next(page.PageInfo)
	}
	return out, nil
}

// AddSub makes an issue a sub-issue. One that is so already is fine. NotFound is a server without sub-issues.
// https://docs.github.com/rest/issues/sub-issues#add-sub-issue
func (c Issues) AddSub(ctx context.Context, repo model.Repo, parent int, sub int64) error {
	op := fmt.Sprintf("add a sub-issue to %s#%d", repo, parent)
	in := map[string]int64{"sub_issue_id": sub}
	err := c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("issues/%d/sub_issues", parent), in, nil)
	if e, ok := err.(*Error); ok && e.Kind == Invalid && strings.Contains(e.Message, "duplicate") {
		return nil
	}
	return err
}

// AddLabel puts a label on an issue. One that is on it already stays.
// https://docs.github.com/rest/issues/labels#add-labels-to-an-issue
func (c Issues) AddLabel(ctx context.Context, repo model.Repo, number int, label string) error {
	op := fmt.Sprintf("add the label %q to %s#%d", oneLine(label), repo, number)
	in := map[string][]string{"labels": {label}}
	return c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("issues/%d/labels", number), in, nil)
}

// Close closes an issue: completed, or else not planned.
// https://docs.github.com/rest/issues/issues#update-an-issue
func (c Issues) Close(ctx context.Context, repo model.Repo, number int, completed bool) error {
	op := fmt.Sprintf("close %s#%d", repo, number)
	reason := "not_planned"
	if completed {
		reason = "completed"
	}
	in := map[string]string{"state": "closed", "state_reason": reason}
	return c.write(ctx, op, repo, http.MethodPatch, fmt.Sprintf("issues/%d", number), in, nil)
}
