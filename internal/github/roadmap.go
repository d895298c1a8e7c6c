package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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

type itemNode struct {
	Number int
	idNode
	Title, Body, State, StateReason string
	CreatedAt                       time.Time
	ViewerDidAuthor                 bool
	LastEditedAt                    *time.Time
	firstText
	Author     *actorNode
	Labels     labelNodes
	Repository struct{ NameWithOwner string }
}

func (n *itemNode) item() ItemIssue {
	return ItemIssue{Number: n.Number, ID: int64(n.FullDatabaseID), Title: n.Title, Posted: n.firstText.of(n.Body, n.LastEditedAt != nil), State: n.State, Reason: n.StateReason, Labels: names(n.Labels),
		Edited: n.LastEditedAt != nil, Ours: n.ViewerDidAuthor, Author: n.Author.actor(), CreatedAt: n.CreatedAt.UTC()}
}

// items are those of this repository: a transferred issue stays a sub-issue.
func items(repo model.Repo, nodes []*itemNode) (out []ItemIssue) {
	for _, n := range nodes {
		if n != nil && strings.EqualFold(n.Repository.NameWithOwner, repo.String()) {
			out = append(out, n.item())
		}
	}
	return out
}

type roadmapData struct {
	Repository *struct {
		DefaultBranchRef *struct {
			Name   string
			Target *struct {
				OID  string
				File *struct{ Object *blobNode }
				Dir  *struct{ OID string }
			}
		}
		Issue *struct {
			SubIssues connection[*itemNode]
		}
	}
}

// subIssuesLine is the line of the query that older servers do not understand.
const subIssuesLine = "subIssues("

func withoutSubIssues() string {
	plain := withoutLines(queryText("roadmap"), subIssuesLine)
	return withFragments(strings.Replace(plain, ", $page: Int!, $after: String", "", 1))
}

// withoutLines leaves out the lines that begin so.
func withoutLines(text string, begins ...string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(strings.TrimSpace(line), b) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// Roadmap reads what GitHub shows of a roadmap.
func (c Issues) Roadmap(ctx context.Context, q RoadmapQuery) (view RoadmapView, err error) {
	op := fmt.Sprintf("read the roadmap of %s#%d", q.Repo, q.Number)
	if err := checkRepo(q.Repo); err != nil {
		return view, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	document := roadmapDocument
	for after := (cursor{more: true}); after.more; {
		var data roadmapData
		ask := func(ctx context.Context, step int) error {
			data = roadmapData{}
			variables := map[string]any{"owner": q.Repo.Owner, "name": q.Repo.Name, "number": q.Number, "path": q.Path, "dir": q.Dir}
			if !view.NoSubs {
				variables["page"], variables["after"] = pageLimits[step], orNull(after.at)
			}
			_, err := c.query(ctx, op, document, variables, &data)
			return err
		}
		err := c.inPages(ctx, pagesOfOurs, ask)
		if KindOf(err) == Outdated && !view.NoSubs {
			view.NoSubs, document = true, withoutSubIssues()
			continue
		}
		if err == nil && (data.Repository == nil || data.Repository.Issue == nil) {
			err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Issue", Fix: fixHidden}
		}
		if err != nil {
			return view, named(err, Query{Repo: q.Repo, Number: q.Number})
		}
		view.take(data)
		subs := data.Repository.Issue.SubIssues
		view.Subs = append(view.Subs, items(q.Repo, subs.Nodes)...)
		after.step(subs.PageInfo.HasNextPage, subs.PageInfo.EndCursor)
	}
	return view, nil
}

// take notes what stands on the default branch.
func (v *RoadmapView) take(data roadmapData) {
	main := data.Repository.DefaultBranchRef
	if main == nil || main.Target == nil {
		return
	}
	v.Branch, v.SHA = main.Name, main.Target.OID
	if dir := main.Target.Dir; dir != nil {
		v.Dir = dir.OID
	}
	if f := main.Target.File; f != nil && f.Object != nil && f.Object.Text != nil && !f.Object.IsBinary && !f.Object.IsTruncated {
		v.File = []byte(*f.Object.Text)
	}
}

// ByNumber reads issues by their numbers; one that is not there, or no issue, is left out.
func (c Issues) ByNumber(ctx context.Context, repo model.Repo, numbers []int) (out []ItemIssue, err error) {
	err = askEach(ctx, c.conn, itemsOf, fmt.Sprintf("read issues of %s", repo), repo, numbers, func(_ int, n *itemNode) {
		if n.Number != 0 {
			out = append(out, items(repo, []*itemNode{n})...)
		}
	})
	return out, err
}

// OpenedSince gives the issues that are wanted among those that were opened at or after a time, the newest first. It reads on however
// many that are, since whoever looks again later has more of them to read.
func (c Issues) OpenedSince(ctx context.Context, repo model.Repo, since time.Time, want func(ItemIssue) bool) (out []ItemIssue, err error) {
	op := fmt.Sprintf("look for our issues in %s", repo)
	for after := (cursor{more: true}); after.more; {
		var data struct {
			Repository *struct{ Issues connection[*itemNode] }
		}
		err := c.inPages(ctx, pagesOfOurs, func(ctx context.Context, step int) error {
			data.Repository = nil
			_, err := c.query(ctx, op, openedSinceDocument, map[string]any{"owner": repo.Owner, "name": repo.Name, "page": pageLimits[step], "after": orNull(after.at)}, &data)
			return err
		})
		if err == nil && data.Repository == nil {
			err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
		}
		if err != nil {
			return nil, named(err, Query{Repo: repo})
		}
		page := data.Repository.Issues
		for _, i := range items(repo, page.Nodes) {
			if i.CreatedAt.Before(since) {
				return out, nil
			}
			if want(i) {
				out = append(out, i)
			}
		}
		after.step(page.PageInfo.HasNextPage, page.PageInfo.EndCursor)
	}
	return out, nil
}

// AddSub makes an issue a sub-issue. One that is so already is fine. NotFound is a server without sub-issues.
// https://docs.github.com/rest/issues/sub-issues#add-sub-issue
func (c Issues) AddSub(ctx context.Context, repo model.Repo, parent int, sub int64) error {
	op := fmt.Sprintf("add a sub-issue to %s#%d", repo, parent)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	err := c.send(ctx, http.MethodPost, fmt.Sprintf("repos/%s/issues/%d/sub_issues", repo, parent), map[string]int64{"sub_issue_id": sub}, nil)
	if err == nil {
		return nil
	}
	if e := c.failWrite(op, err); e.Kind != Invalid || !strings.Contains(e.Message, "duplicate") {
		return e
	}
	return nil
}

// AddLabel puts a label on an issue. One that is on it already stays.
// https://docs.github.com/rest/issues/labels#add-labels-to-an-issue
func (c Issues) AddLabel(ctx context.Context, repo model.Repo, number int, label string) error {
	op := fmt.Sprintf("add the label %q to %s#%d", oneLine(label), repo, number)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	if err := c.send(ctx, http.MethodPost, fmt.Sprintf("repos/%s/issues/%d/labels", repo, number), map[string][]string{"labels": {label}}, nil); err != nil {
		return c.failWrite(op, err)
	}
	return nil
}

// Close closes an issue: completed, or else not planned.
// https://docs.github.com/rest/issues/issues#update-an-issue
func (c Issues) Close(ctx context.Context, repo model.Repo, number int, completed bool) error {
	op := fmt.Sprintf("close %s#%d", repo, number)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	reason := "not_planned"
	if completed {
		reason = "completed"
	}
	if err := c.send(ctx, http.MethodPatch, fmt.Sprintf("repos/%s/issues/%d", repo, number), map[string]string{"state": "closed", "state_reason": reason}, nil); err != nil {
		return c.failWrite(op, err)
	}
	return nil
}
