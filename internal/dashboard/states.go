package dashboard

import (
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// badge is a state in a word, with a mark of the lineages and a color.
type badge struct{ Word, Mark, Class string }

// The groups of rows. The style knows their names, too.
const (
	groupNeeds  = "needs"
	groupWork   = "work"
	groupNext   = "next"
	groupIdle   = "idle"
	groupPeople = "people"
	groupClosed = "closed"
	groupOther  = "other"
)

// groups are the groups of rows, in their order.
var groups = []struct{ key, name string }{
	{groupNeeds, "Waits for a person"}, {groupWork, "In progress"}, {groupNext, "MergeXO continues"}, {groupIdle, "Nothing to do"},
	{groupPeople, "With people"}, {groupClosed, "Merged or closed"}, {groupOther, "Other"},
}

// states says how each state of a pull request is drawn, and in which group it is, the most urgent first.
var states = []struct {
	state             model.StatusState
	word, mark, class string
	group             string
}{
	{model.StatusBlocked, "blocked", "block", "red", groupNeeds},
	{model.StatusClaimed, "in progress", "run", "blue", groupWork},
	{model.StatusMerging, "merging", "run", "violet", groupWork},
	{model.StatusFailed, "failed, will retry", "fail", "red", groupNext},
	{model.StatusPending, "to be answered", "wait", "blue", groupNext},
	{model.StatusQueued, "to be merged", "wait", "violet", groupNext},
	{model.StatusIdle, "up to date", "head", "green", groupIdle},
	{model.StatusTaken, "taken over", "quiet", "grey", groupPeople},
	{model.StatusPaused, "paused", "quiet", "grey", groupPeople},
	{model.StatusReleased, "released", "quiet", "grey", groupPeople},
	{model.StatusUntracked, "not tracked", "quiet", "grey", groupPeople},
	{model.StatusMerged, "merged", "merge", "violet", groupClosed},
	{model.StatusClosed, "closed", "quiet", "grey", groupClosed},
}

// queuedWords are what a request to merge waits for, if no person has to act.
var queuedWords = map[model.MergeCode]string{
	model.CodeChecks: "waits for checks", model.CodeTrain: "in the train", model.CodeQueue: "in GitHub's queue", model.CodeBusy: "waits for a turn",
}

const checksFail = "checks fail"

var checks = map[string]badge{
	"SUCCESS": {"checks pass", "head", "green"}, "FAILURE": {checksFail, "fail", "red"}, "ERROR": {checksFail, "fail", "red"},
	"PENDING": {"checks run", "run", "amber"}, "EXPECTED": {"checks run", "run", "amber"},
}

// phases are the progress of a turn, a flow or a merge.
var phases = map[string]badge{
	string(model.PhaseStarted):  {"in progress", "run", "blue"},
	string(model.PhasePlanned):  {"to be published", "run", "blue"},
	string(model.PhaseDone):     {"done", "head", "green"},
	string(model.PhaseFailed):   {"failed", "fail", "red"},
	string(model.PhaseWaiting):  {"asked a person", "wait", "amber"},
	string(model.MergeWaiting):  {"waited", "wait", "violet"},
	string(model.MergeRunning):  {"merging", "run", "violet"},
	string(model.ReviewRunning): {"reviewing", "run", "blue"},
	string(model.MergeFailed):   {"failed", "fail", "red"},
}

// issueStates are how issues look that wait for nobody, by the phase of the newest attempt.
var issueStates = map[model.Phase]struct {
	badge
	group string
}{
	"":                 {badge{"not started", "wait", "blue"}, groupNext},
	model.PhaseStarted: {badge{"in progress", "run", "blue"}, groupWork},
	model.PhasePlanned: {badge{"in progress", "run", "blue"}, groupWork},
	model.PhaseFailed:  {badge{"failed, will retry", "fail", "red"}, groupNext},
	model.PhaseWaiting: {badge{"answered", "wait", "blue"}, groupNext}, // the next attempt takes the answer
	model.PhaseDone:    {badge{"done", "head", "green"}, groupIdle},
}

func phase(name string) badge {
	if b, ok := phases[name]; ok {
		return b
	}
	return badge{words(name), "quiet", "grey"}
}

// stand adds the state of a pull request to its row. What waits for a person says for whom, in whatever state it is.
func (r *row) stand(p model.BoardPull) {
	r.State, r.group, r.rank = badge{words(string(p.State)), "quiet", "grey"}, groupOther, len(states)
	for i, look := range states {
		if look.state == p.State {
			r.State, r.group, r.rank = badge{look.word, look.mark, look.class}, look.group, i
		}
	}
	if word := queuedWords[reasonOf(p.Merge)]; p.State == model.StatusQueued && word != "" {
		r.State.Word = word
	}
	r.await()
}

// standIssue is stand for an issue.
func (r *row) standIssue(s model.BoardIssue) {
	r.State, r.group, r.rank = badge{words(string(s.Status)), "quiet", "grey"}, groupOther, len(states)
	if look, known := issueStates[s.Status]; known {
		r.State, r.group = look.badge, look.group
	}
	if t := model.TallyOf(s.Roadmap); s.RoadmapURL != "" && t.Done < t.Total {
		r.State, r.group = badge{"roadmap, in progress", "run", "blue"}, groupWork
		if len(t.Running) == 0 {
			r.State, r.group = badge{"roadmap, waits", "wait", "blue"}, groupNext
		}
	}
	r.await()
}

// await lets the badge say for whom a row waits.
func (r *row) await() {
	if r.Need == nil {
		return
	}
	who := clean(r.Need.Who)
	if strings.HasPrefix(who, "anybody") {
		who = "an answer"
	}
	r.State, r.group = badge{"waits for " + who, "wait", "amber"}, groupNeeds
	if r.Need.Kind == model.NeedBlock {
		r.State.Mark, r.State.Class = "block", "red"
	}
}

func reasonOf(m *model.MergeRequest) model.MergeCode {
	if m == nil {
		return ""
	}
	return m.Reason
}
