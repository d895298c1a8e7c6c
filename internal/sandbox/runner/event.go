package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/sandbox"
)

// event is one that a run is started for.
type event struct {
	id         int64
	name, repo string
	sender     string
	group      string // what it is about
	title      string // what somebody did
	payload    []byte
}

// about is the event in a line.
func (e event) about() string {
	return fmt.Sprintf("%s\n%s by %s on %s\n\n", e.title, e.name, e.sender, e.group)
}

// heard are the events of .github/workflows/mergexo.yml that a sandbox has, with their actions.
var heard = map[string][]string{
	"issue_comment":               {"created", "edited"},
	"issues":                      {"labeled", "unlabeled", "reopened", "closed"},
	"workflow_run":                {"completed"},
	"pull_request":                {"opened", "reopened", "edited", "labeled", "unlabeled", "ready_for_review", "synchronize", "dequeued", "closed"},
	"pull_request_review":         {"submitted", "edited", "dismissed"},
	"pull_request_review_comment": {"created", "edited"},
}

// deeds are what somebody did, by event and action. #N follows; %s is a label, or how a review ended.
var deeds = map[string]string{
	"issue_comment created": "commented on", "issue_comment edited": "edited a comment on",
	"issues labeled": "added %s to", "issues unlabeled": "removed %s from", "issues reopened": "reopened", "issues closed": "closed",
	"pull_request opened": "opened", "pull_request reopened": "reopened", "pull_request edited": "edited", "pull_request labeled": "added %s to",
	"pull_request unlabeled": "removed %s from", "pull_request ready_for_review": "marked as ready for review", "pull_request synchronize": "pushed to",
	"pull_request dequeued": "removed from the merge queue", "pull_request closed": "closed", "pull_request_review submitted": "%s",
	"pull_request_review edited": "edited a review of", "pull_request_review dismissed": "dismissed a review of",
	"pull_request_review_comment created": "commented on a line of", "pull_request_review_comment edited": "edited a comment on a line of",
}

// verdicts are how a review ended.
var verdicts = map[string]string{"approved": "approved", "changes_requested": "requested changes to", "commented": "reviewed"}

// told is the event as a sentence.
func (p payload) told(name string, number int) string {
	if p.Run != nil {
		return fmt.Sprintf("%s ended: %s", p.Run.Name, p.Run.Conclusion)
	}
	did := deeds[name+" "+p.Action]
	if strings.Contains(did, "%s") {
		did = fmt.Sprintf(did, cmp.Or(p.Label.Name, verdicts[p.Review.State]))
	}
	did = fmt.Sprintf("%s %s #%d", p.Sender.Login, did, number)
	if first, _, _ := strings.Cut(p.Comment.Body, "\n"); strings.HasPrefix(first, "/mergexo") {
		did += ": " + strings.TrimSpace(first)
	}
	return did
}

// Heard are the events that a run is started for, with their actions.
func Heard() map[string][]string { return maps.Clone(heard) }

// payload is what hear reads of an event.
type payload struct {
	Action     string
	Sender     struct{ Login, Type string }
	Repository named
	Issue      *numbered
	Pull       *struct {
		Number int
		Head   struct {
			Ref  string
			Repo *named
		}
	} `json:"pull_request"`
	Run *struct {
		ID                     int64
		Path, Name, Conclusion string
	} `json:"workflow_run"`
	Label   struct{ Name string }
	Review  struct{ State string }
	Comment struct{ Body string }
}

// numbered is an issue.
type numbered struct {
	Number int
	User   struct{ Type string }
}

// named is a repository.
type named struct {
	FullName string `json:"full_name"`
}

// hear reads an event, and reports whether the workflow has a run for it: not for what a bot did, since GitHub starts no runs for
// what a workflow's token does, nor for the runs themselves.
func hear(d sandbox.Delivery) (event, bool) {
	raw, err := json.Marshal(d.Payload)
	if err != nil {
		return event{}, false
	}
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil || !slices.Contains(heard[d.Event], p.Action) || p.Sender.Type == "Bot" {
		return event{}, false
	}
	e := event{id: d.ID, name: d.Event, repo: p.Repository.FullName, sender: p.Sender.Login, payload: raw}
	switch {
	case p.Run != nil:
		if p.Run.Path == own {
			return event{}, false
		}
		e.group, e.title = fmt.Sprintf("%s run %d", e.repo, p.Run.ID), p.told(d.Event, 0)
	case p.Pull != nil:
		if p.Pull.Head.Repo == nil || p.Pull.Head.Repo.FullName != e.repo { // a fork's
			return event{}, false
		}
		if p.Action == "closed" && !strings.HasPrefix(p.Pull.Head.Ref, "agent/") {
			return event{}, false
		}
		e.group, e.title = fmt.Sprintf("%s#%d", e.repo, p.Pull.Number), p.told(d.Event, p.Pull.Number)
	case p.Issue != nil && p.Action == "closed" && p.Issue.User.Type != "Bot":
		return event{}, false
	default:
		number := cmp.Or(p.Issue, &numbered{}).Number
		e.group, e.title = fmt.Sprintf("%s#%d", e.repo, number), p.told(d.Event, number)
	}
	return e, true
}

// own is the workflow whose runs these are.
const own = ".github/workflows/mergexo.yml"
