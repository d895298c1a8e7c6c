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
	payload    []byte
}

// about is the event in a line.
func (e event) about() string { return fmt.Sprintf("%s by %s on %s\n\n", e.name, e.sender, e.group) }

// heard are the events of .github/workflows/mergexo.yml that a sandbox has, with their actions.
var heard = map[string][]string{
	"issue_comment":               {"created", "edited"},
	"issues":                      {"labeled", "unlabeled", "reopened", "closed"},
	"workflow_run":                {"completed"},
	"pull_request":                {"opened", "reopened", "edited", "labeled", "unlabeled", "ready_for_review", "synchronize", "dequeued", "closed"},
	"pull_request_review":         {"submitted", "edited", "dismissed"},
	"pull_request_review_comment": {"created", "edited"},
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
		ID   int64
		Path string
	} `json:"workflow_run"`
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
		e.group = fmt.Sprintf("%s run %d", e.repo, p.Run.ID)
	case p.Pull != nil:
		if p.Pull.Head.Repo == nil || p.Pull.Head.Repo.FullName != e.repo { // a fork's
			return event{}, false
		}
		if p.Action == "closed" && !strings.HasPrefix(p.Pull.Head.Ref, "agent/") {
			return event{}, false
		}
		e.group = fmt.Sprintf("%s#%d", e.repo, p.Pull.Number)
	case p.Issue != nil && p.Action == "closed" && p.Issue.User.Type != "Bot":
		return event{}, false
	default:
		e.group = fmt.Sprintf("%s#%d", e.repo, cmp.Or(p.Issue, &numbered{}).Number)
	}
	return e, true
}

// own is the workflow whose runs these are.
const own = ".github/workflows/mergexo.yml"
