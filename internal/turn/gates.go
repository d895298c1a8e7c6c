package turn

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// The gates, in the order of evaluation.
const (
	GatePull    model.GateName = "pull_request"
	GateOpen    model.GateName = "open"
	GateBranch  model.GateName = "own_branch"
	GateTracked model.GateName = "tracked"
	GateTaken   model.GateName = "not_taken_over"
	GatePaused  model.GateName = "not_paused"
	GateBlock   model.GateName = "not_blocked"
	GateMarkers model.GateName = "markers_intact"
)

// Gates evaluates all gates of a pull request.
func Gates(s model.Snapshot, st model.State, policy Policy) []model.Gate {
	p := s.Pull
	if !s.IsPull() {
		return []model.Gate{gate(GatePull, false, "it is an issue, not a pull request")}
	}
	return []model.Gate{
		gate(GatePull, true, "it is a pull request"),
		gate(GateOpen, p.State == model.PullOpen, "pull request %d is %s", p.Number, lower(p.State)),
		branchGate(p),
		trackedGate(p, st, policy),
		takenGate(p, policy),
		pausedGate(st),
		blockGate(st),
		markersGate(st),
	}
}

func gate(name model.GateName, met bool, evidence string, args ...any) model.Gate {
	return model.Gate{Name: name, Met: met, Evidence: fmt.Sprintf(evidence, args...)}
}

// Unmet is the first closed gate.
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
	switch {
	case p.CrossRepo:
		return gate(GateBranch, false, "the head of pull request %d is in a fork; a maintainer can copy its commits to a branch of this repository", p.Number)
	case !p.HeadExists:
		return gate(GateBranch, false, "the head branch %q of pull request %d was deleted; restore it to continue", p.HeadRef, p.Number)
	}
	return gate(GateBranch, true, "the head is branch %q of this repository", p.HeadRef)
}

func trackedGate(p model.Pull, st model.State, policy Policy) model.Gate {
	tracked := Tracked(p, st, policy)
	switch {
	case st.Released != nil:
		return gate(GateTracked, false, "released by %s, see %s; /mergexo adopt tracks it again", st.Released.Marker.By, st.Released.URL)
	case st.Tracked != nil:
		return gate(GateTracked, tracked, "tracked since %s", st.Tracked.URL)
	case tracked:
		return gate(GateTracked, true, "head branch %q is tracked by the settings", p.HeadRef)
	}
	if p.CrossRepo {
		return gate(GateTracked, false, "branches of forks are not tracked")
	}
	return gate(GateTracked, false, "head branch %q matches nothing in [repo] track %q; /mergexo adopt tracks it anyway", p.HeadRef, policy.Track)
}

func takenGate(p model.Pull, policy Policy) model.Gate {
	if where := taken(p, policy); where != "" {
		return gate(GateTaken, false, "label %q is on %s: a person has taken over", policy.IgnoreLabel, where)
	}
	return gate(GateTaken, true, "label %q is neither on the pull request nor on its source issue", policy.IgnoreLabel)
}

// Held says why nothing is done by itself on a pull request, whatever its branch: people have it for themselves, or paused it; "" where
// they have not.
func Held(p model.Pull, st model.State, policy Policy) string {
	gates := []model.Gate{takenGate(p, policy), pausedGate(st)}
	if st.Released != nil {
		gates = append(gates, trackedGate(p, st, policy))
	}
	g, _ := Unmet(gates)
	return g.Evidence
}

func pausedGate(st model.State) model.Gate {
	if st.Paused != nil {
		return gate(GatePaused, false, "paused by %s, see %s; /mergexo resume continues", st.Paused.Marker.By, st.Paused.URL)
	}
	return gate(GatePaused, true, "not paused")
}

func blockGate(st model.State) model.Gate {
	if Question(st) != nil {
		return gate(GateBlock, false, "blocked (%s), see %s; an answer there continues", st.Block.Marker.Reason, st.Block.URL)
	}
	if st.Block != nil {
		return gate(GateBlock, false, "blocked (%s), see %s", st.Block.Marker.Reason, st.Block.URL)
	}
	return gate(GateBlock, true, "not blocked")
}

func markersGate(st model.State) model.Gate {
	if d := st.Spoilt(); d != nil {
		return gate(GateMarkers, false, "%s", d.Evidence())
	}
	return gate(GateMarkers, true, "nobody else edited or deleted a comment that holds MergeXO's state")
}
