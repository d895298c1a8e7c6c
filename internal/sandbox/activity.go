package sandbox

import (
	"slices"
	"strings"
	"time"
)

// Push is one change of a branch, and who made it. GitHub shows these under "Activity".
type Push struct {
	ID            int64
	Ref           string
	Before, After string // "" where the branch came or went
	Forced        bool   `json:",omitempty"`
	By            string // login
	At            time.Time
}

// maxPushes is how many changes a repository remembers here. GitHub remembers all.
const maxPushes = 500

var activityRoutes = []route{
	{"GET /repos/{owner}/{repo}/activity", needRead, "contents=read", listActivity},
}

// remember notes a change of a branch.
func (f pushes) remember(r *Repository, c refChange, actor *User, forced bool) {
	if !strings.HasPrefix(c.ref, "refs/heads/") {
		return
	}
	id := int64(1)
	if n := len(r.Pushes); n > 0 {
		id += r.Pushes[n-1].ID
	}
	r.Pushes = append(r.Pushes, &Push{id, c.ref, c.old, c.now, forced, actor.Login, f.world.now()})
	r.Pushes = r.Pushes[max(0, len(r.Pushes)-maxPushes):]
}

func (p *Push) kind() string {
	switch {
	case p.Before == "":
		return "branch_creation"
	case p.After == "":
		return "branch_deletion"
	case p.Forced:
		return "force_push"
	}
	return "push"
}

// listActivity is newest first, unless told: https://docs.github.com/rest/repos/repos#list-repository-activities
func listActivity(q *request) (any, error) {
	var found []*Push
	for _, p := range q.repo.Pushes {
		ref, actor, kind := q.query("ref"), q.query("actor"), q.query("activity_type")
		if ref != "" && ref != p.Ref && "refs/heads/"+ref != p.Ref || actor != "" && !strings.EqualFold(actor, p.By) || kind != "" && kind != p.kind() {
			continue
		}
		found = append(found, p)
	}
	if q.query("direction") != "asc" {
		slices.Reverse(found)
	}
	return paginate(q, found, func(p *Push) obj {
		return obj{
			"id": p.ID, "node_id": nodeID("PSH", p.ID), "before": zeroForm(p.Before), "after": zeroForm(p.After), "ref": p.Ref,
			"timestamp": stamp(p.At), "activity_type": p.kind(), "actor": q.s.json.user(q.s.world.author(p.By)),
		}
	}), nil
}
