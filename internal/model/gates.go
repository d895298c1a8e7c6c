package model

import (
	"fmt"
	"slices"
	"strings"
)

// Gate is one condition that must be met before anything is done on a pull request, with what it was evaluated by.
type Gate struct {
	Name     GateName `json:"name"`
	Met      bool     `json:"met"`
	Evidence string   `json:"evidence"`
}

// GateName names a gate.
type GateName string

// The gates of all that is done on a pull request.
const (
	GateOpen    GateName = "open"
	GateTaken   GateName = "not_taken_over"
	GatePaused  GateName = "not_paused"
	GateBlock   GateName = "not_blocked"
	GateMarkers GateName = "markers_intact"
)

// NewGate is a gate with its evidence as fmt formats it.
func NewGate(name GateName, met bool, evidence string, args ...any) Gate {
	return Gate{name, met, fmt.Sprintf(evidence, args...)}
}

// Unmet is the first gate that is closed, of those with these names if any are given.
func Unmet(gates []Gate, names ...GateName) (Gate, bool) {
	i := slices.IndexFunc(gates, func(g Gate) bool { return !g.Met && (len(names) == 0 || slices.Contains(names, g.Name)) })
	if i < 0 {
		return Gate{}, false
	}
	return gates[i], true
}

// OpenGate is met while the pull request is open.
func (p Pull) OpenGate() Gate {
	return NewGate(GateOpen, p.State == PullOpen, "pull request %d is %s", p.Number, strings.ToLower(string(p.State)))
}

// TakenGate is met unless a person has taken over by a label, here or on the source issue; "" is no label.
func (p Pull) TakenGate(label string) Gate {
	where := ""
	switch {
	case label == "":
	case Named(p.Labels, label):
		where = "the pull request"
	case p.Issue != nil && Named(p.Issue.Labels, label):
		where = fmt.Sprintf("its source issue %d", p.Issue.Number)
	}
	if where != "" {
		return NewGate(GateTaken, false, "label %q is on %s: a person has taken over", label, where)
	}
	return NewGate(GateTaken, true, "no person has taken over by a label")
}

// PausedGate is met unless people paused the pull request.
func (s State) PausedGate() Gate {
	if s.Paused != nil {
		return NewGate(GatePaused, false, "paused by %s, see %s; /mergexo resume continues", s.Paused.Marker.By, s.Paused.URL)
	}
	return NewGate(GatePaused, true, "not paused")
}

// BlockGate is met unless the pull request is blocked.
func (s State) BlockGate() Gate {
	if s.Block != nil {
		return NewGate(GateBlock, false, "blocked (%s), see %s", s.Block.Marker.Reason, s.Block.URL)
	}
	return NewGate(GateBlock, true, "not blocked")
}

// MarkersGate is met while the comments that hold the state are as they were written.
func (s State) MarkersGate() Gate {
	if d := s.Spoilt(); d != nil {
		return NewGate(GateMarkers, false, "%s", d.Evidence())
	}
	return NewGate(GateMarkers, true, "nobody else edited or deleted a comment that holds MergeXO's state")
}
