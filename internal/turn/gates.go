package turn

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// The gates, in the order in which they are asked.
const (
	GatePull    model.GateName = "pull_request"
	GateOpen    model.GateName = "open"
	GateBranch  model.GateName = "own_branch"
	GateTracked model.GateName = "tracked"
	GateTaken   model.GateName = "not_taken_over"
	GateBlock   model.GateName = "not_blocked"
	GateMarkers model.GateName = "markers_intact"
)

// Gates judges all gates of a pull request.
func Gates(s model.Snapshot, st model.State, policy Policy) []model.Gate {
	p := s.Pull
	if !s.IsPull {
		return []model.Gate{{GatePull, false, "it is an issue, not a pull request"}}
	}
	gates := []model.Gate{
		{GatePull, true, "it is a pull request"},
		{GateOpen, p.State == model.PullOpen, fmt.Sprintf("pull request %d is %s", p.Number, lower(p.State))},
		branchGate(p),
		{GateTracked, Tracked(p, st, policy), trackedEvidence(p, st, policy)},
		{GateTaken, !Paused(p, policy), fmt.Sprintf("label %q on the pull request or its source issue", policy.IgnoreLabel)},
		{GateBlock, st.Block == nil, "no block"},
	}
	if st.Block != nil {
		gates[len(gates)-1].Evidence = fmt.Sprintf("blocked (%s), see %s", st.Block.Marker.Reason, st.Block.URL)
	}
	markers := model.Gate{Name: GateMarkers, Met: true, Evidence: "nobody else edited a comment that holds our state"}
	if i := slices.IndexFunc(st.Distrusted, func(d model.Distrust) bool { return d.Spoilt }); i >= 0 {
		d := st.Distrusted[i]
		markers.Met, markers.Evidence = false, fmt.Sprintf("%s was edited by %s", d.URL, d.Editor)
	}
	return append(gates, markers)
}

// Unmet is the first gate that is not met.
func Unmet(gates []model.Gate) (model.Gate, bool) {
	i := slices.IndexFunc(gates, func(g model.Gate) bool { return !g.Met })
	if i < 0 {
		return model.Gate{}, false
	}
	return gates[i], true
}

func lower(s model.PullState) string {
	return map[model.PullState]string{model.PullOpen: "open", model.PullClosed: "closed", model.PullMerged: "merged"}[s]
}

func branchGate(p model.Pull) model.Gate {
	g := model.Gate{Name: GateBranch, Met: true, Evidence: "the head is a branch of this repository"}
	switch {
	case p.CrossRepo:
		g.Met, g.Evidence = false, fmt.Sprintf("the head of pull request %d is in a fork; a maintainer can bring its commits to a branch of this repository", p.Number)
	case !p.HeadExists:
		g.Met, g.Evidence = false, fmt.Sprintf("the head branch %q of pull request %d was deleted; restore it to go on", p.HeadRef, p.Number)
	}
	return g
}

func trackedEvidence(p model.Pull, st model.State, policy Policy) string {
	switch {
	case st.Tracked != nil:
		return "tracked since " + st.Tracked.URL
	case Tracked(p, st, policy):
		return fmt.Sprintf("head branch %q is tracked by the settings", p.HeadRef)
	}
	return fmt.Sprintf("head branch %q matches nothing in [repo] track %q", p.HeadRef, policy.Track)
}
