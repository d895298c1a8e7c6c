package external

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// The gates of a fork's pull request, in the order of evaluation.
const (
	GateFork     model.GateName = "from_a_fork"
	GateEnabled  model.GateName = "external_enabled"
	GateLabel    model.GateName = "let_in_by_label"
	GateReleased model.GateName = "not_released"
	GateHead     model.GateName = "head_as_labelled"
)

// Gates evaluates whether a fork's pull request is admitted, and whether its head is the one that was labeled.
func Gates(f Facts) []model.Gate {
	gates := admission(f)
	if !slices.ContainsFunc(gates, func(g model.Gate) bool { return !g.Met }) {
		s := Next(f)
		met := s.Act == LetIn || s.Act == GoOn || s.Act == GiveUp || s.Act == Finish
		gates = append(gates, model.NewGate(GateHead, met, "%s", s.Why))
	}
	return gates
}

// admission are the gates that do not depend on the label's result.
func admission(f Facts) []model.Gate {
	p := f.Pull
	gates := []model.Gate{
		model.NewGate(GateFork, p.CrossRepo, "%s", either(p.CrossRepo, "the head is in a fork", "the head is a branch of this repository")),
		p.OpenGate(),
		model.NewGate(GateEnabled, f.Policy.Enabled, "%s", either(f.Policy.Enabled, "the settings accept forks", "the settings do not accept forks: [external] enabled is false")),
		labelGate(f),
	}
	return append(gates, standing(f)...)
}

// standing are the gates that a person or a person's command controls.
func standing(f Facts) []model.Gate {
	st := f.State
	released := model.NewGate(GateReleased, true, "not released")
	if st.Released != nil {
		released = model.NewGate(GateReleased, false, "released by %s, see %s", st.Released.Marker.By, st.Released.URL)
	}
	own := f.Pull
	own.Issue = nil // which the author of the fork names, and could name to stop what is under way
	return []model.Gate{released, st.BlockGate(), st.MarkersGate(), st.PausedGate(), own.TakenGate(f.Policy.Ignore)}
}

// labelGate requires that the label is on, and that whoever added it last may do so.
func labelGate(f Facts) model.Gate {
	label, p := f.Policy.Label, f.Pull
	c, told := p.LabelledBy(label)
	switch {
	case label == "" || !model.Named(p.Labels, label):
		return model.NewGate(GateLabel, false, "label %q is not on the pull request", label)
	case !told || c.By.Login == "" || c.At.IsZero():
		return model.NewGate(GateLabel, false, "GitHub does not show who added label %q; remove it and add it again", label)
	case c.By.Bot:
		return model.NewGate(GateLabel, false, "label %q was added by %s, which is not a person", label, c.By.Login)
	case f.Operator == nil || !f.Operator(c.By.Login):
		return model.NewGate(GateLabel, false, "label %q was added by %s, who may not accept a pull request", label, c.By.Login)
	}
	return model.NewGate(GateLabel, true, "label %q was added by %s at %s", label, c.By.Login, moment(c.At))
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
