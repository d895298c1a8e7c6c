package sandbox

import (
	"fmt"
	"strings"
)

// zeroForm writes a missing object as GitHub does.
func zeroForm(sha string) string {
	if sha == "" {
		return zeroSHA
	}
	return sha
}

// deliver records a payload as GitHub would have sent it: https://docs.github.com/en/webhooks/webhook-events-and-payloads
func (s *Server) deliver(event string, r *Repository, actor *User, payload obj) {
	if payload["repository"] == nil {
		payload["repository"] = s.repositoryJSON(r)
	}
	payload["sender"] = s.userJSON(actor)
	s.deliveries.append(Delivery{ID: s.deliveries.count() + 1, Event: event, Payload: payload})
}

// with adds to a payload what only some actions have.
func with(payload, extra obj) obj {
	for k, v := range extra {
		payload[k] = v
	}
	return payload
}

func (s *Server) deliverIssue(i *Issue, action string, actor *User, extra obj) {
	if i.Pull != nil {
		s.deliverPull(i, action, actor, extra)
		return
	}
	s.deliver("issues", i.repo, actor, with(obj{"action": action, "issue": s.issueJSON(i)}, extra))
}

func (s *Server) deliverPull(i *Issue, action string, actor *User, extra obj) {
	s.deliver("pull_request", i.repo, actor, with(obj{"action": action, "number": i.Number, "pull_request": s.pullJSON(i)}, extra))
}

func (s *Server) deliverComment(c *Comment, action string, actor *User, extra obj) {
	payload := obj{"action": action, "issue": s.issueJSON(c.issue), "comment": s.commentJSON(c)}
	s.deliver("issue_comment", c.issue.repo, actor, with(payload, extra))
}

func (s *Server) deliverReview(v *Review, action string, actor *User, extra obj) {
	payload := obj{"action": action, "review": s.reviewPayload(v), "pull_request": s.simplePullJSON(v.issue)}
	s.deliver("pull_request_review", v.issue.repo, actor, with(payload, extra))
}

func (s *Server) deliverReviewComment(c *ReviewComment, action string, actor *User, extra obj) {
	payload := obj{"action": action, "comment": s.reviewCommentJSON(c), "pull_request": s.simplePullJSON(c.issue)}
	s.deliver("pull_request_review_comment", c.issue.repo, actor, with(payload, extra))
}

func (s *Server) deliverLabel(r *Repository, l *Label, action string, actor *User, extra obj) {
	s.deliver("label", r, actor, with(obj{"action": action, "label": s.labelJSON(r, l)}, extra))
}

// deliverPush records push, and create or delete where a ref came or went. Refs that are no branch or tag are nobody's event.
func (s *Server) deliverPush(r *Repository, c refChange, actor *User) error {
	kind, name := "branch", strings.TrimPrefix(c.ref, "refs/heads/")
	if tag, ok := strings.CutPrefix(c.ref, "refs/tags/"); ok {
		kind, name = "tag", tag
	} else if name == c.ref {
		return nil
	}
	named := obj{"ref": name, "ref_type": kind, "pusher_type": "user"}
	if c.old == "" {
		s.deliver("create", r, actor, with(obj{"master_branch": r.DefaultBranch, "description": textOrNil(r.Description)}, named))
	}
	payload, err := s.pushPayload(r, c, actor)
	if err != nil {
		return err
	}
	s.remember(r, c, actor, payload["forced"] == true)
	s.deliver("push", r, actor, payload)
	if c.now == "" {
		s.deliver("delete", r, actor, with(obj{}, named))
	}
	return nil
}

func (s *Server) pushPayload(r *Repository, c refChange, actor *User) (obj, error) {
	forced := c.old != "" && c.now != "" && s.peel(r, c.old) != "" && !s.isAncestor(r, s.peel(r, c.old), s.peel(r, c.now))
	payload := obj{
		"ref": c.ref, "before": zeroForm(c.old), "after": zeroForm(c.now), "created": c.old == "", "deleted": c.now == "",
		"forced": forced, "base_ref": nil, "compare": s.compareURL(r, c), "commits": []obj{}, "head_commit": nil,
		"pusher": obj{"name": actor.Login, "email": noreply(actor)}, "repository": s.pushRepository(r),
	}
	tip := s.peel(r, c.now)
	if c.now == "" || tip == "" {
		return payload, nil
	}
	head, err := s.commitOf(r, tip)
	if err != nil {
		return nil, err
	}
	payload["head_commit"], err = s.pushedCommit(r, head)
	if err != nil {
		return nil, err
	}
	shas, err := s.pushedCommits(r, c, tip)
	if err != nil {
		return nil, err
	}
	commits := []obj{}
	for _, sha := range shas {
		info, err := s.commitOf(r, sha)
		if err != nil {
			return nil, err
		}
		one, err := s.pushedCommit(r, info)
		if err != nil {
			return nil, err
		}
		commits = append(commits, one)
	}
	payload["commits"] = commits
	return payload, nil
}

// maxPushed is how many commits a push payload lists here. GitHub lists up to 2,048; a test that needs the rest asks the API.
const maxPushed = 20

// pushedCommits are the commits that a push brought, oldest first: for a new branch those on no other branch.
func (s *Server) pushedCommits(r *Repository, c refChange, tip string) ([]string, error) {
	args := []string{"rev-list", "--topo-order", fmt.Sprintf("--max-count=%d", maxPushed), tip, "--not"}
	if c.old != "" {
		args = append(args, c.old)
	} else {
		for ref, sha := range r.Refs {
			if ref != c.ref && strings.HasPrefix(ref, "refs/heads/") {
				args = append(args, sha)
			}
		}
	}
	out, err := s.git(r, args...)
	if err != nil {
		return nil, fmt.Errorf("list pushed commits: %w", err)
	}
	shas := strings.Fields(out)
	for i, j := 0, len(shas)-1; i < j; i, j = i+1, j-1 {
		shas[i], shas[j] = shas[j], shas[i]
	}
	return shas, nil
}

// pushedCommit is a commit as push payloads have it.
func (s *Server) pushedCommit(r *Repository, c *commitInfo) (obj, error) {
	o := obj{
		"id": c.SHA, "tree_id": c.Tree, "distinct": true, "message": c.Message, "timestamp": c.Author.Date,
		"url":       s.repositoryURL(r) + "/commit/" + c.SHA,
		"author":    obj{"name": c.Author.Name, "email": c.Author.Email, "username": s.loginOf(c.Author)},
		"committer": obj{"name": c.Committer.Name, "email": c.Committer.Email, "username": s.loginOf(c.Committer)},
	}
	added, removed, modified := []string{}, []string{}, []string{}
	files, err := s.diff(r, c.firstParent(), c.SHA)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		switch f.Status {
		case "added", "copied":
			added = append(added, f.Path)
		case "removed":
			removed = append(removed, f.Path)
		case "renamed":
			added, removed = append(added, f.Path), append(removed, f.OldPath)
		default:
			modified = append(modified, f.Path)
		}
	}
	o["added"], o["removed"], o["modified"] = added, removed, modified
	return o, nil
}

// pushRepository is a repository as push payloads have it: times in seconds, and an owner with a name.
func (s *Server) pushRepository(r *Repository) obj {
	o := s.repositoryJSON(r)
	o["url"] = s.repositoryURL(r)
	o["created_at"], o["pushed_at"] = r.CreatedAt.Unix(), r.PushedAt.Unix()
	o["stargazers"], o["master_branch"] = 0, r.DefaultBranch
	owner := s.author(r.Owner)
	o["owner"] = with(obj{"name": owner.Login, "email": noreply(owner)}, s.userJSON(owner))
	return o
}

func (s *Server) compareURL(r *Repository, c refChange) string {
	short := func(sha string) string { return zeroForm(sha)[:12] }
	switch {
	case c.old == "":
		return s.repositoryURL(r) + "/compare/" + strings.TrimPrefix(strings.TrimPrefix(c.ref, "refs/heads/"), "refs/")
	default:
		return s.repositoryURL(r) + "/compare/" + short(c.old) + "..." + short(c.now)
	}
}
