package sandbox

import (
	"fmt"
	"strings"
)

// issueAPI is the REST address of an issue, or of the issue side of a pull request.
func (s *Server) issueAPI(i *Issue) string {
	return fmt.Sprintf("%s/issues/%d", s.repositoryAPI(i.repo), i.Number)
}

// issueNodeID is the id of the pull request when the issue is one: GitHub does so too.
func issueNodeID(i *Issue) string {
	if i.Pull != nil {
		return nodeID(nodePull, i.Pull.ID)
	}
	return nodeID(nodeIssue, i.ID)
}

// issueJSON is issue.
func (s *Server) issueJSON(i *Issue) obj {
	self := s.issueAPI(i)
	o := obj{
		"id": i.ID, "node_id": issueNodeID(i), "url": self, "repository_url": s.repositoryAPI(i.repo),
		"labels_url": self + "/labels{/name}", "comments_url": self + "/comments", "events_url": self + "/events",
		"timeline_url": self + "/timeline", "html_url": s.issueURL(i), "number": i.Number, "state": i.State,
		"state_reason": textOrNil(i.StateReason), "title": i.Title, "body": textOrNil(i.Body), "user": s.userJSON(s.author(i.Author)),
		"labels": s.labelsJSON(i.repo, i.labels()), "assignee": nil, "assignees": s.usersJSON(i.Assignees), "milestone": nil,
		"locked": i.Locked, "active_lock_reason": nil, "comments": len(i.Comments), "closed_at": stampOrNil(i.ClosedAt),
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt), "closed_by": s.userOrNil(i.ClosedBy),
		"author_association": s.association(i.repo, i.Author), "reactions": rollupJSON(self, i.Reactions), "performed_via_github_app": nil,
	}
	if len(i.Assignees) > 0 {
		o["assignee"] = s.userJSON(s.author(i.Assignees[0]))
	}
	if p := i.Pull; p != nil {
		html := s.issueURL(i)
		o["draft"] = p.Draft
		o["pull_request"] = obj{
			"url": s.pullAPI(i), "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
			"merged_at": stampOrNil(p.MergedAt),
		}
	}
	return o
}

// commentJSON is issue-comment.
func (s *Server) commentJSON(c *Comment) obj {
	self := fmt.Sprintf("%s/issues/comments/%d", s.repositoryAPI(c.issue.repo), c.ID)
	return obj{
		"id": c.ID, "node_id": nodeID(nodeComment, c.ID), "url": self, "html_url": s.commentURL(c), "issue_url": s.issueAPI(c.issue),
		"body": c.Body, "user": s.userJSON(s.author(c.Author)), "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt),
		"author_association": s.association(c.issue.repo, c.Author), "reactions": rollupJSON(self, c.Reactions),
		"performed_via_github_app": nil,
	}
}

func (s *Server) pullAPI(i *Issue) string {
	return fmt.Sprintf("%s/pulls/%d", s.repositoryAPI(i.repo), i.Number)
}

// endJSON is the head or the base of a pull request. A fork that is gone has no repository.
func (s *Server) endJSON(r *Repository, ref, sha, owner string) obj {
	o := obj{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": s.userOrNil(owner), "repo": nil}
	if r != nil {
		o["repo"] = s.repositoryJSON(r)
	}
	return o
}

// pullLinks is the _links object of a pull request.
func (s *Server) pullLinks(i *Issue, head string) obj {
	self, issue := s.pullAPI(i), s.issueAPI(i)
	href := func(u string) obj { return obj{"href": u} }
	return obj{
		"self": href(self), "html": href(s.issueURL(i)), "issue": href(issue), "comments": href(issue + "/comments"),
		"review_comments": href(self + "/comments"), "review_comment": href(s.repositoryAPI(i.repo) + "/pulls/comments{/number}"),
		"commits": href(self + "/commits"), "statuses": href(s.repositoryAPI(i.repo) + "/statuses/" + head),
	}
}

// simplePullJSON is pull-request-simple, the shape of lists and of payloads about reviews.
func (s *Server) simplePullJSON(i *Issue) obj {
	p, self, issue, html := i.Pull, s.pullAPI(i), s.issueAPI(i), s.issueURL(i)
	head, headRepo := s.headSHA(i), s.repositoryByID(i.Pull.HeadRepo)
	headOwner := i.Author
	if headRepo != nil {
		headOwner = headRepo.Owner
	}
	o := obj{
		"url": self, "id": p.ID, "node_id": nodeID(nodePull, p.ID), "html_url": html, "diff_url": html + ".diff",
		"patch_url": html + ".patch", "issue_url": issue, "commits_url": self + "/commits", "review_comments_url": self + "/comments",
		"review_comment_url": s.repositoryAPI(i.repo) + "/pulls/comments{/number}", "comments_url": issue + "/comments",
		"statuses_url": s.repositoryAPI(i.repo) + "/statuses/" + head, "number": i.Number, "state": i.State, "locked": i.Locked,
		"title": i.Title, "user": s.userJSON(s.author(i.Author)), "body": textOrNil(i.Body), "labels": s.labelsJSON(i.repo, i.labels()),
		"milestone": nil, "active_lock_reason": nil, "created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt),
		"closed_at": stampOrNil(i.ClosedAt), "merged_at": stampOrNil(p.MergedAt), "merge_commit_sha": textOrNil(p.MergeCommitSHA),
		"assignee": nil, "assignees": s.usersJSON(i.Assignees), "requested_reviewers": s.usersJSON(p.RequestedReviewers),
		"requested_teams": []obj{}, "head": s.endJSON(headRepo, p.HeadRef, head, headOwner),
		"base": s.endJSON(i.repo, p.BaseRef, p.BaseSHA, i.repo.Owner), "_links": s.pullLinks(i, head),
		"author_association": s.association(i.repo, i.Author), "auto_merge": nil, "draft": p.Draft,
	}
	if len(i.Assignees) > 0 {
		o["assignee"] = s.userJSON(s.author(i.Assignees[0]))
	}
	return o
}

// pullJSON is pull-request.
func (s *Server) pullJSON(i *Issue) obj {
	o, p := s.simplePullJSON(i), i.Pull
	o["merged"], o["merged_by"] = p.merged(), s.userOrNil(p.MergedBy)
	o["comments"], o["review_comments"] = len(i.Comments), len(p.ReviewComments)
	o["maintainer_can_modify"] = p.MaintainerCanModify
	o["mergeable"], o["rebaseable"], o["mergeable_state"] = nil, nil, "unknown"
	switch s.shownMergeable(i) {
	case "MERGEABLE":
		o["mergeable"], o["rebaseable"], o["mergeable_state"] = true, true, "clean"
		if p.Draft {
			o["mergeable_state"] = "draft"
		}
	case "CONFLICTING":
		o["mergeable"], o["rebaseable"], o["mergeable_state"] = false, false, "dirty"
	}
	commits, _ := s.pullCommits(i) // what git cannot tell any more counts as nothing
	files, _ := s.pullFiles(i)
	additions, deletions := 0, 0
	for _, f := range files {
		additions += f.Additions
		deletions += f.Deletions
	}
	o["commits"], o["changed_files"], o["additions"], o["deletions"] = len(commits), len(files), additions, deletions
	return o
}

// reviewJSON is pull-request-review. Payloads write its state in lower case.
func (s *Server) reviewJSON(v *Review) obj {
	html, pull := s.reviewURL(v), s.pullAPI(v.issue)
	o := obj{
		"id": v.ID, "node_id": nodeID(nodeReview, v.ID), "user": s.userJSON(s.author(v.Author)), "body": v.Body, "state": v.State,
		"html_url": html, "pull_request_url": pull, "commit_id": v.CommitID,
		"author_association": s.association(v.issue.repo, v.Author),
		"_links":             obj{"html": obj{"href": html}, "pull_request": obj{"href": pull}},
	}
	if v.SubmittedAt != nil {
		o["submitted_at"] = stamp(*v.SubmittedAt)
	}
	return o
}

// reviewPayload is a review as payloads have it.
func (s *Server) reviewPayload(v *Review) obj {
	o := s.reviewJSON(v)
	o["state"], o["body"] = strings.ToLower(v.State), textOrNil(v.Body)
	o["submitted_at"], o["updated_at"] = stampOrNil(v.SubmittedAt), stamp(v.UpdatedAt)
	return o
}

// reviewCommentJSON is pull-request-review-comment. line and position are null once the comment is outdated.
func (s *Server) reviewCommentJSON(c *ReviewComment) obj {
	self := fmt.Sprintf("%s/pulls/comments/%d", s.repositoryAPI(c.issue.repo), c.ID)
	html, pull := s.reviewCommentURL(c), s.pullAPI(c.issue)
	hunk, originalPosition := s.diffHunk(c)
	line, start, position, outdated := s.currentLine(c)
	commit := s.headSHA(c.issue)
	if outdated {
		commit = c.OriginalCommit
	}
	o := obj{
		"url": self, "pull_request_review_id": c.ReviewID, "id": c.ID, "node_id": nodeID(nodeReviewComment, c.ID), "diff_hunk": hunk,
		"path": c.Path, "commit_id": commit, "original_commit_id": c.OriginalCommit, "user": s.userJSON(s.author(c.Author)),
		"body": c.Body, "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "html_url": html, "pull_request_url": pull,
		"author_association": s.association(c.issue.repo, c.Author), "reactions": rollupJSON(self, c.Reactions),
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
