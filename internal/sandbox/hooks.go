package sandbox

import (
	"fmt"
	"slices"
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
func (h hooks) deliver(event string, r *Repository, actor *User, payload obj) {
	if payload["repository"] == nil {
		payload["repository"] = h.json.repository(r)
	}
	payload["sender"] = h.json.user(actor)
	d := Delivery{ID: h.deliveries.count() + 1, Event: event, Payload: payload}
	h.deliveries.append(d)
	if h.told != nil {
		h.told(d)
	}
}

// with adds to a payload what only some actions have.
func with(payload, extra obj) obj {
	for k, v := range extra {
		payload[k] = v
	}
	return payload
}

func (h hooks) issue(i *Issue, action string, actor *User, extra obj) {
	if i.Pull != nil {
		h.pull(i, action, actor, extra)
		return
	}
	h.deliver("issues", i.repo, actor, with(obj{"action": action, "issue": h.json.issue(i)}, extra))
}

func (h hooks) pull(i *Issue, action string, actor *User, extra obj) {
	h.deliver("pull_request", i.repo, actor, with(obj{"action": action, "number": i.Number, "pull_request": h.json.pull(i)}, extra))
	h.hold(i, action, actor)
}

func (h hooks) comment(c *Comment, action string, actor *User, extra obj) {
	payload := obj{"action": action, "issue": h.json.issue(c.issue), "comment": h.json.comment(c)}
	h.deliver("issue_comment", c.issue.repo, actor, with(payload, extra))
}

func (h hooks) review(v *Review, action string, actor *User, extra obj) {
	payload := obj{"action": action, "review": h.json.reviewPayload(v), "pull_request": h.json.simplePull(v.issue)}
	h.deliver("pull_request_review", v.issue.repo, actor, with(payload, extra))
}

func (h hooks) reviewComment(c *ReviewComment, action string, actor *User, extra obj) {
	payload := obj{"action": action, "comment": h.json.reviewComment(c), "pull_request": h.json.simplePull(c.issue)}
	h.deliver("pull_request_review_comment", c.issue.repo, actor, with(payload, extra))
}

func (h hooks) label(r *Repository, l *Label, action string, actor *User, extra obj) {
	h.deliver("label", r, actor, with(obj{"action": action, "label": h.json.label(r, l)}, extra))
}

// push records push, and create or delete where a ref came or went. Refs that are no branch or tag are nobody's event.
func (h hooks) push(r *Repository, c refChange, actor *User) error {
	kind, name := "branch", strings.TrimPrefix(c.ref, "refs/heads/")
	if tag, ok := strings.CutPrefix(c.ref, "refs/tags/"); ok {
		kind, name = "tag", tag
	} else if name == c.ref {
		return nil
	}
	named := obj{"ref": name, "ref_type": kind, "pusher_type": "user"}
	if c.old == "" {
		h.deliver("create", r, actor, with(obj{"master_branch": r.DefaultBranch, "description": textOrNil(r.Description)}, named))
	}
	payload, err := h.pushPayload(r, c, actor)
	if err != nil {
		return err
	}
	h.refs.remember(r, c, actor, payload["forced"] == true)
	h.deliver("push", r, actor, payload)
	if c.now == "" {
		h.deliver("delete", r, actor, with(obj{}, named))
	}
	return nil
}

func (h hooks) pushPayload(r *Repository, c refChange, actor *User) (obj, error) {
	forced := c.old != "" && c.now != "" && h.git.peel(r, c.old) != "" && !h.git.isAncestor(r, h.git.peel(r, c.old), h.git.peel(r, c.now))
	payload := obj{
		"ref": c.ref, "before": zeroForm(c.old), "after": zeroForm(c.now), "created": c.old == "", "deleted": c.now == "",
		"forced": forced, "base_ref": nil, "compare": h.urls.compare(r, c), "commits": []obj{}, "head_commit": nil,
		"pusher": obj{"name": actor.Login, "email": noreply(actor)}, "repository": h.pushRepository(r),
	}
	tip := h.git.peel(r, c.now)
	if c.now == "" || tip == "" {
		return payload, nil
	}
	head, err := h.git.commitOf(r, tip)
	if err != nil {
		return nil, err
	}
	payload["head_commit"], err = h.pushedCommit(r, head)
	if err != nil {
		return nil, err
	}
	shas, err := h.pushedCommits(r, c, tip)
	if err != nil {
		return nil, err
	}
	commits := []obj{}
	for _, sha := range shas {
		info, err := h.git.commitOf(r, sha)
		if err != nil {
			return nil, err
		}
		one, err := h.pushedCommit(r, info)
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
func (h hooks) pushedCommits(r *Repository, c refChange, tip string) ([]string, error) {
	var without []string
	if c.old != "" {
		without = []string{c.old}
	} else {
		for ref, sha := range r.Refs {
			if ref != c.ref && strings.HasPrefix(ref, "refs/heads/") {
				without = append(without, sha)
			}
		}
	}
	if shas, ok := h.git.line(r, tip, without...); ok {
		shas = shas[:min(len(shas), maxPushed)]
		slices.Reverse(shas)
		return shas, nil
	}
	args := []string{"rev-list", "--topo-order", fmt.Sprintf("--max-count=%d", maxPushed), tip, "--not"}
	out, err := h.git.run(r, append(args, without...)...)
	if err != nil {
		return nil, fmt.Errorf("list pushed commits: %w", err)
	}
	shas := strings.Fields(out)
	slices.Reverse(shas)
	return shas, nil
}

// pushedCommit is a commit as push payloads have it.
func (h hooks) pushedCommit(r *Repository, c *commitInfo) (obj, error) {
	o := obj{
		"id": c.SHA, "tree_id": c.Tree, "distinct": true, "message": c.Message, "timestamp": c.Author.Date,
		"url":       h.urls.repository(r) + "/commit/" + c.SHA,
		"author":    obj{"name": c.Author.Name, "email": c.Author.Email, "username": h.world.loginOf(c.Author)},
		"committer": obj{"name": c.Committer.Name, "email": c.Committer.Email, "username": h.world.loginOf(c.Committer)},
	}
	var from string
	if p := c.firstParent(); p != "" {
		parent, err := h.git.commitOf(r, p)
		if err != nil {
			return nil, err
		}
		from = parent.Tree
	}
	added, removed, modified := []string{}, []string{}, []string{}
	err := h.trees.eachFile(r, from, c.Tree, "", func(path string, was, now *contentEntry) {
		switch {
		case was == nil:
			added = append(added, path)
		case now == nil:
			removed = append(removed, path)
		default:
			modified = append(modified, path)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, paths := range [][]string{added, removed, modified} {
		slices.Sort(paths)
	}
	o["added"], o["removed"], o["modified"] = added, removed, modified
	return o, nil
}

// pushRepository is a repository as push payloads have it: times in seconds, and an owner with a name.
func (h hooks) pushRepository(r *Repository) obj {
	o := h.json.repository(r)
	o["url"] = h.urls.repository(r)
	o["created_at"], o["pushed_at"] = r.CreatedAt.Unix(), r.PushedAt.Unix()
	o["stargazers"], o["master_branch"] = 0, r.DefaultBranch
	owner := h.world.author(r.Owner)
	o["owner"] = with(obj{"name": owner.Login, "email": noreply(owner)}, h.json.user(owner))
	return o
}

func (a addresses) compare(r *Repository, c refChange) string {
	short := func(sha string) string { return zeroForm(sha)[:12] }
	switch {
	case c.old == "":
		return a.repository(r) + "/compare/" + strings.TrimPrefix(strings.TrimPrefix(c.ref, "refs/heads/"), "refs/")
	default:
		return a.repository(r) + "/compare/" + short(c.old) + "..." + short(c.now)
	}
}
