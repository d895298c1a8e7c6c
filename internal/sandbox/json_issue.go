package sandbox

import (
	"fmt"
	"strings"
)

// issueAPI is the REST address of an issue, or of the issue side of a pull request.
func (a addresses) issueAPI(i *Issue) string {
	return fmt.Sprintf("%s/issues/%d", a.repositoryAPI(i.repo), i.Number)
}

// issueNodeID is the id of the pull request when the issue is one: GitHub does so too.
func issueNodeID(i *Issue) string {
	if i.Pull != nil {
		return nodeID(nodePull, i.Pull.ID)
	}
	return nodeID(nodeIssue, i.ID)
}

// thread renders what the schemas of issues and pull requests have in common.
func (js views) thread(i *Issue) obj {
	o := obj{
		"html_url": js.urls.issue(i), "number": i.Number, "state": i.State, "title": i.Title, "body": textOrNil(i.Body), "user": js.user(js.world.author(i.Author)),
		"labels": js.labels(i.repo, i.labels()), "assignee": nil, "assignees": js.users(i.Assignees), "milestone": nil, "locked": i.Locked, "active_lock_reason": nil,
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt), "closed_at": stampOrNil(i.ClosedAt), "author_association": js.world.association(i.repo, i.Author),
	}
	if len(i.Assignees) > 0 {
		o["assignee"] = js.user(js.world.author(i.Assignees[0]))
	}
	return o
}

// issue renders the schema issue.
func (js views) issue(i *Issue) obj {
	self := js.urls.issueAPI(i)
	o := with(js.thread(i), obj{
		"id": i.ID, "node_id": issueNodeID(i), "url": self, "repository_url": js.urls.repositoryAPI(i.repo),
		"labels_url": self + "/labels{/name}", "comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"state_reason": textOrNil(i.StateReason), "comments": len(i.Comments), "closed_by": js.userOrNil(i.ClosedBy),
		"reactions": rollupJSON(self, i.Reactions), "performed_via_github_app": nil,
	})
	if p := i.Pull; p != nil {
		html := js.urls.issue(i)
		o["draft"] = p.Draft
		o["pull_request"] = obj{
			"url": js.urls.pullAPI(i), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
			"merged_at": stampOrNil(p.MergedAt),
		}
	}
	return o
}

// comment renders the schema issue-comment.
func (js views) comment(c *Comment) obj {
	self := fmt.Sprintf("%s/issues/comments/%d", js.urls.repositoryAPI(c.issue.repo), c.ID)
	return obj{
		"id": c.ID, "node_id": nodeID(nodeComment, c.ID), "url": self, "html_url": js.urls.comment(c), "issue_url": js.urls.issueAPI(c.issue),
		"body": c.Body, "user": js.user(js.world.author(c.Author)), "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt),
		"author_association": js.world.association(c.issue.repo, c.Author), "reactions": rollupJSON(self, c.Reactions),
		"performed_via_github_app": nil,
	}
}

func (a addresses) pullAPI(i *Issue) string {
	return fmt.Sprintf("%s/pulls/%d", a.repositoryAPI(i.repo), i.Number)
}

// end is the head or the base of a pull request. A fork that is gone has no repository.
func (js views) end(r *Repository, ref, sha, owner string) obj {
	o := obj{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": js.userOrNil(owner), "repo": nil}
	if r != nil {
		o["repo"] = js.repository(r)
	}
	return o
}

// pullLinks is the _links object of a pull request.
func (a addresses) pullLinks(i *Issue, head string) obj {
	self, issue := a.pullAPI(i), a.issueAPI(i)
	href := func(u string) obj { return obj{"href": u} }
	return obj{
		"self": href(self), "html": href(a.issue(i)), "issue": href(issue), "comments": href(issue + "/comments"),
		"review_comments": href(self + "/comments"), "review_comment": href(a.repositoryAPI(i.repo) + "/pulls/comments{/number}"),
		"commits": href(self + "/commits"), "statuses": href(a.repositoryAPI(i.repo) + "/statuses/" + head),
	}
}

// simplePull renders the schema pull-request-simple, the shape of lists and of payloads about reviews.
func (js views) simplePull(i *Issue) obj {
	p, self, issue, html := i.Pull, js.urls.pullAPI(i), js.urls.issueAPI(i), js.urls.issue(i)
	head, headRepo := js.pulls.headSHA(i), js.world.repositoryByID(i.Pull.HeadRepo)
	headOwner := i.Author
	if headRepo != nil {
		headOwner = headRepo.Owner
	}
	return with(js.thread(i), obj{
		"url": self, "id": p.ID, "node_id": nodeID(nodePull, p.ID), "diff_url": html + ".diff",
		"patch_url": html + ".patch", "issue_url": issue, "commits_url": self + "/commits", "review_comments_url": self + "/comments",
		"review_comment_url": js.urls.repositoryAPI(i.repo) + "/pulls/comments{/number}", "comments_url": issue + "/comments",
		"statuses_url": js.urls.repositoryAPI(i.repo) + "/statuses/" + head, "merged_at": stampOrNil(p.MergedAt), "merge_commit_sha": textOrNil(p.MergeCommitSHA),
		"requested_reviewers": js.users(p.RequestedReviewers), "requested_teams": []obj{}, "head": js.end(headRepo, p.HeadRef, head, headOwner),
		"base": js.end(i.repo, p.BaseRef, p.BaseSHA, i.repo.Owner), "_links": js.urls.pullLinks(i, head), "auto_merge": nil, "draft": p.Draft,
	})
}

// pull renders the schema pull-request.
func (js views) pull(i *Issue) obj {
	o, p := js.simplePull(i), i.Pull
	o["merged"], o["merged_by"] = p.merged(), js.userOrNil(p.MergedBy)
	o["comments"], o["review_comments"] = len(i.Comments), len(p.ReviewComments)
	o["maintainer_can_modify"] = p.MaintainerCanModify
	o["mergeable"], o["rebaseable"], o["mergeable_state"] = nil, nil, "unknown"
	if i.State == "open" {
		defer func() { o["merge_commit_sha"] = textOrNil(p.Test.Commit) }() // of the trial, before there is another
	}
	switch js.pulls.shownMergeable(i) {
	case "MERGEABLE":
		o["mergeable"], o["rebaseable"], o["mergeable_state"] = true, true, "clean"
		if p.Draft {
			o["mergeable_state"] = "draft"
		}
	case "CONFLICTING":
		o["mergeable"], o["rebaseable"], o["mergeable_state"] = false, false, "dirty"
	}
	commits, _ := js.pulls.commits(i) // what git can no longer tell counts as nothing
	files, _ := js.pulls.files(i)
	additions, deletions := 0, 0
	for _, f := range files {
		additions += f.Additions
		deletions += f.Deletions
	}
	o["commits"], o["changed_files"], o["additions"], o["deletions"] = len(commits), len(files), additions, deletions
	return o
}

// review renders the schema pull-request-review. Payloads write its state in lower case.
func (js views) review(v *Review) obj {
	html, pull := js.urls.review(v), js.urls.pullAPI(v.issue)
	o := obj{
		"id": v.ID, "node_id": nodeID(nodeReview, v.ID), "user": js.user(js.world.author(v.Author)), "body": v.Body, "state": v.State,
		"html_url": html, "pull_request_url": pull, "commit_id": v.CommitID,
		"author_association": js.world.association(v.issue.repo, v.Author),
		"_links":             obj{"html": obj{"href": html}, "pull_request": obj{"href": pull}},
	}
	if v.SubmittedAt != nil {
		o["submitted_at"] = stamp(*v.SubmittedAt)
	}
	return o
}

// reviewPayload renders a review as payloads have it.
func (js views) reviewPayload(v *Review) obj {
	o := js.review(v)
	o["state"], o["body"] = strings.ToLower(v.State), textOrNil(v.Body)
	o["submitted_at"], o["updated_at"] = stampOrNil(v.SubmittedAt), stamp(v.UpdatedAt)
	return o
}

// reviewComment renders the schema pull-request-review-comment. line and position are null once the comment is outdated.
func (js views) reviewComment(c *ReviewComment) obj {
	self := fmt.Sprintf("%s/pulls/comments/%d", js.urls.repositoryAPI(c.issue.repo), c.ID)
	html, pull := js.urls.reviewComment(c), js.urls.pullAPI(c.issue)
	hunk, originalPosition := js.pulls.diffHunk(c)
	line, start, position, outdated := js.pulls.currentLine(c)
	commit := js.pulls.headSHA(c.issue)
	if outdated {
		commit = c.OriginalCommit
	}
	o := obj{
		"url": self, "pull_request_review_id": c.ReviewID, "id": c.ID, "node_id": nodeID(nodeReviewComment, c.ID), "diff_hunk": hunk,
		"path": c.Path, "commit_id": commit, "original_commit_id": c.OriginalCommit, "user": js.user(js.world.author(c.Author)),
		"body": c.Body, "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "html_url": html, "pull_request_url": pull,
		"author_association": js.world.association(c.issue.repo, c.Author), "reactions": rollupJSON(self, c.Reactions),
		"_links":     obj{"self": obj{"href": self}, "html": obj{"href": html}, "pull_request": obj{"href": pull}},
		"start_line": numberOrNil(start), "original_start_line": numberOrNil(c.OriginalStartLine), "start_side": textOrNil(c.StartSide),
		"line": numberOrNil(line), "original_line": numberOrNil(c.OriginalLine), "side": c.Side,
		"position": numberOrNil(position), "original_position": originalPosition, "subject_type": c.SubjectType,
	}
	if c.SubjectType == "file" {
		o["position"], o["original_position"] = 1, 1
	}
	if c.InReplyTo != 0 {
		o["in_reply_to_id"] = c.InReplyTo
	}
	return o
}
