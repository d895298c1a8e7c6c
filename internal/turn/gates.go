package turn

import (
	"github.com/mergexo/mergexo/internal/model"
)

// The gates, in the order of evaluation.
const (
	GatePull    model.GateName = "pull_request"
	GateBranch  model.GateName = "own_branch"
	GateTracked model.GateName = "tracked"
)

// Gates evaluates all gates of a pull request.
func Gates(s model.Snapshot, st model.State, policy Policy) []model.Gate {
	p := s.Pull
	if !s.IsPull() {
		return []model.Gate{model.NewGate(GatePull, false, "it is an issue, not a pull request")}
	}
	return []model.Gate{
		model.NewGate(GatePull, true, "it is a pull request"),
		p.OpenGate(),
		branchGate(p),
		trackedGate(p, st, policy),
		p.TakenGate(policy.IgnoreLabel),
		st.PausedGate(),
		blockGate(st),
		st.MarkersGate(),
	}
}

func branchGate(p model.Pull) model.Gate {
	switch {
	case p.CrossRepo:
		return model.NewGate(GateBranch, false, "the head of pull request %d is in a fork; a maintainer can copy its commits to a branch of this repository", p.Number)
	case !p.HeadExists:
		return model.NewGate(GateBranch, false, "the head branch %q of pull request %d was deleted; restore it to continue", p.HeadRef, p.Number)
	}
	return model.NewGate(GateBranch, true, "the head is branch %q of this repository", p.HeadRef)
}

func trackedGate(p model.Pull, st model.State, policy Policy) model.Gate {
	tracked := Tracked(p, st, policy)
	switch {
	case st.Released != nil:
		return model.NewGate(GateTracked, false, "released by %s, see %s; /mergexo adopt tracks it again", st.Released.Marker.By, st.Released.URL)
	case st.Tracked != nil:
		return model.NewGate(GateTracked, tracked, "tracked since %s", st.Tracked.URL)
	case tracked:
		return model.NewGate(GateTracked, true, "head branch %q is tracked by the settings", p.HeadRef)
	}
	if p.CrossRepo {
		return model.NewGate(GateTracked, false, "branches of forks are not tracked")
	}
	return model.NewGate(GateTracked, false, "head branch %q matches nothing in [repo] track %q; /mergexo adopt tracks it anyway", p.HeadRef, policy.Track)
}

// Held says why nothing is done by itself on a pull request, whatever its branch: people have it for themselves, or paused it; "" where
// they have not.
func Held(p model.Pull, st model.State, policy Policy) string {
	gates := []model.Gate{p.TakenGate(policy.IgnoreLabel), st.PausedGate()}
	if st.Released != nil {
		gates = append(gates, trackedGate(p, st, policy))
	}
	g, _ := model.Unmet(gates)
	return g.Evidence
}

func blockGate(st model.State) model.Gate {
	if Question(st) != nil {
		return model.NewGate(model.GateBlock, false, "blocked (%s), see %s; an answer there continues", st.Block.Marker.Reason, st.Block.URL)
	}
	return st.BlockGate()
}
