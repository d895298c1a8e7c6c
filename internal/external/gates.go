package external

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// The gates of a fork's pull request, in the order of evaluation.
const (
	GateFork     model.GateName = "from_a_fork"
	GateOpen     model.GateName = "open"
	GateEnabled  model.GateName = "external_enabled"
	GateLabel    model.GateName = "let_in_by_label"
	GateReleased model.GateName = "not_released"
	GateBlock    model.GateName = "not_blocked"
	GateMarkers  model.GateName = "markers_intact"
	GatePaused   model.GateName = "not_paused"
	GateTaken    model.GateName = "not_taken_over"
	GateHead     model.GateName = "head_as_labelled"
)

// Gates evaluates whether a fork's pull request is admitted, and whether its head is the one that was labeled.
func Gates(f Facts) []model.Gate {
	gates := admission(f)
	if !slices.ContainsFunc(gates, func(g model.Gate) bool { return !g.Met }) {
		s := Next(f)
		met := s.Act == LetIn || s.Act == GoOn || s.Act == GiveUp || s.Act == Finish
		gates = append(gates, gate(GateHead, met, "%s", s.Why))
	}
	return gates
}

func gate(name model.GateName, met bool, evidence string, args ...any) model.Gate {
	return model.Gate{Name: name, Met: met, Evidence: fmt.Sprintf(evidence, args...)}
}

// admission are the gates that do not depend on the label's result.
func admission(f Facts) []model.Gate {
	p := f.Pull
	gates := []model.Gate{
		gate(GateFork, p.CrossRepo, "%s", either(p.CrossRepo, "the head is in a fork", "the head is a branch of this repository")),
		gate(GateOpen, p.State == model.PullOpen, "pull request %d is %s", p.Number, strings.ToLower(string(p.State))),
		gate(GateEnabled, f.Policy.Enabled, "%s", either(f.Policy.Enabled, "the settings accept forks", "the settings do not accept forks: [external] enabled is false")),
		labelGate(f),
	}
	return append(gates, standing(f)...)
}

// standing are the gates that a person or a person's command controls.
func standing(f Facts) []model.Gate {
	st, p := f.State, f.Pull
	gates := []model.Gate{gate(GateReleased, true, "not released"), gate(GateBlock, true, "not blocked"), gate(GateMarkers, true, "nobody else edited or deleted a comment that holds MergeXO's state"),
		gate(GatePaused, true, "not paused"), gate(GateTaken, true, "no person has taken over by a label")}
	if st.Released != nil {
		gates[0] = gate(GateReleased, false, "released by %s, see %s", st.Released.Marker.By, st.Released.URL)
	}
	if st.Block != nil {
		gates[1] = gate(GateBlock, false, "blocked (%s), see %s", st.Block.Marker.Reason, st.Block.URL)
	}
	if d := st.Spoilt(); d != nil {
		gates[2] = gate(GateMarkers, false, "%s", d.Evidence())
	}
	if st.Paused != nil {
		gates[3] = gate(GatePaused, false, "paused by %s, see %s; /mergexo resume continues", st.Paused.Marker.By, st.Paused.URL)
	}
	if f.Policy.Ignore != "" && model.Named(p.Labels, f.Policy.Ignore) {
		gates[4] = gate(GateTaken, false, "label %q is on the pull request: a person has taken over", f.Policy.Ignore)
	}
	return gates
}

// labelGate requires that the label is on, and that whoever added it last may do so.
func labelGate(f Facts) model.Gate {
	label, p := f.Policy.Label, f.Pull
	c, told := p.LabelledBy(label)
	switch {
	case label == "" || !model.Named(p.Labels, label):
		return gate(GateLabel, false, "label %q is not on the pull request", label)
	case !told || c.By.Login == "" || c.At.IsZero():
		return gate(GateLabel, false, "GitHub does not show who added label %q; remove it and add it again", label)
	case c.By.Bot:
		return gate(GateLabel, false, "label %q was added by %s, which is not a person", label, c.By.Login)
	case f.Operator == nil || !f.Operator(c.By.Login):
		return gate(GateLabel, false, "label %q was added by %s, who may not accept a pull request", label, c.By.Login)
	}
	return gate(GateLabel, true, "label %q was added by %s at %s", label, c.By.Login, moment(c.At))
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
