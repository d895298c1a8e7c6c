package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Departure is why an issue's number no longer has an issue.
type Departure struct {
	Deleted bool  `json:",omitempty"`
	Repo    int64 `json:",omitempty"` // id of the repository that it was transferred to
	Number  int   `json:",omitempty"` // its number there
}

// goneAnswer answers for an issue that was deleted or transferred: 410 and 301 for who may see where it was and is, else 404.
// https://docs.github.com/en/rest/issues/issues#get-an-issue says so, and the description of the API lists both for the
// other calls below an issue. What it does not list is a 301 for new comments; that it is the same is believed, not seen.
// The words of the 410 stand in many logs (github.com/lbockenstedt/ab issue 197).
func goneAnswer(q *request, d *Departure, number int) (any, error) {
	if d.Deleted {
		return nil, &failure{status: http.StatusGone, message: "This issue was deleted"}
	}
	to := q.s.world.repositoryByID(d.Repo)
	if to == nil || to.Private && (q.user == nil || q.s.world.permission(to, q.user.Login) < model.PermissionRead) {
		return nil, errNotFound
	}
	_, rest, _ := strings.Cut(q.r.URL.EscapedPath(), fmt.Sprintf("/issues/%d", number))
	at := q.s.urls.api("/repositories/", fmt.Sprintf("%d/issues/%d%s", to.ID, d.Number, rest))
	q.head.Set("Location", at)
	return &reply{http.StatusMovedPermanently, obj{"message": "Moved Permanently", "url": at, "documentation_url": "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects"}}, nil
}

// byName gives a request the name of its repository in the place of /repositories/{id}, where GitHub's redirects lead.
func (s *Server) byName(r *http.Request) *http.Request {
	const prefix = restPrefix + "/repositories/"
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	id, below, deeper := strings.Cut(rest, "/")
	if !ok || !deeper {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, repo := range s.st.Repositories {
		if fmt.Sprint(repo.ID) == id {
			named, u, path := *r, *r.URL, restPrefix+"/repos/"+repo.FullName()+"/"
			u.Path, u.RawPath = path+strings.TrimPrefix(r.URL.Path, prefix+id+"/"), path+below
			named.URL = &u
			return &named
		}
	}
	return r
}

// setIssue does to an issue what nobody can through the REST API: "deleted", "transferred" to another repository, or
// "converted" into a discussion.
func setIssue(q *request, r *Repository, in struct {
	State, To, By string
	Number        int
}) (any, error) {
	i := r.Issues[in.Number]
	if i == nil || i.Pull != nil {
		return nil, unprocessable(fmt.Sprintf("number: there is no issue %d", in.Number))
	}
	actor := q.s.world.author(r.Owner)
	if in.By != "" {
		actor = q.s.world.ensureUser(in.By, "")
	}
	switch in.State {
	case "deleted":
		q.s.hooks.issue(i, "deleted", actor, nil)
		q.s.world.depart(i, &Departure{Deleted: true})
	case "transferred":
		to, err := q.s.world.named(in.To)
		if err != nil || to == r {
			return nil, unprocessable("to: want another repository")
		}
		q.s.world.transfer(i, to, actor)
		return obj{"repository": to.FullName(), "number": to.LastNumber}, nil
	case "converted":
		q.s.world.convert(i, actor)
	default:
		return nil, unprocessable("state: want deleted, transferred or converted")
	}
	return &reply{status: http.StatusNoContent}, nil
}

// depart takes an issue out of its repository. GraphQL knows nothing of what went: "Could not resolve to an Issue with the
// number of 17617" (https://github.com/apache/devlake/issues/7969).
func (w world) depart(i *Issue, d *Departure) {
	if i.repo.Departed == nil {
		i.repo.Departed = map[int]*Departure{}
	}
	i.repo.Departed[i.Number] = d
	delete(i.repo.Issues, i.Number)
	w.forget(i)
	w.changed()
}

// transfer moves an issue and its conversation to another repository, where it gets a new id and a new number and keeps
// the labels that are there too: https://docs.github.com/en/issues/tracking-your-work-with-issues/administering-issues/transferring-an-issue-to-another-repository
func (w world) transfer(i *Issue, to *Repository, actor *User) {
	from, moved := i.repo, *i
	moved.ID, moved.LabelIDs, moved.LabelEvents = w.nextID(), nil, nil
	for _, l := range i.labels() {
		if there := to.label(l.Name); there != nil {
			moved.LabelIDs = append(moved.LabelIDs, there.ID)
		}
	}
	if parent := parentOf(w, i); parent != nil { // which keeps it as its sub-issue
		parent.SubIDs[slices.Index(parent.SubIDs, i.ID)] = moved.ID
	}
	before := w.json.issue(i)
	to.LastNumber++
	moved.Number = to.LastNumber
	w.depart(i, &Departure{Repo: to.ID, Number: moved.Number})
	to.Issues[moved.Number] = &moved
	w.indexIssue(to, &moved)
	w.hooks.deliver("issues", from, actor, obj{"action": "transferred", "issue": before,
		"changes": obj{"new_issue": w.json.issue(&moved), "new_repository": w.json.repository(to)}})
	w.hooks.deliver("issues", to, actor, obj{"action": "opened", "issue": w.json.issue(&moved),
		"changes": obj{"old_issue": before, "old_repository": w.json.repository(from)}})
}

// convert leaves of an issue what its conversion into a discussion leaves: it is closed and locked, tells nobody by any
// field where it went (https://github.com/slapperwan/gh4a/issues/1280), and takes no comments, even when somebody unlocks
// it (https://github.com/dessant/lock-threads/issues/24). Nobody says which events GitHub sends for it, and so none are.
func (w world) convert(i *Issue, actor *User) {
	if i.State == "open" {
		w.closeIssue(i, actor, "completed")
	}
	i.Locked, i.Converted = true, true
	w.changed()
}
