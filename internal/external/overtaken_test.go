package external_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
)

func TestALabelThatADeadRunHasLeft(t *testing.T) {
	t.Parallel()
	for state, want := range map[model.ExternalState][2]bool{ // where it is open, and where it is closed
		model.ExternalVoid: {true, true}, model.ExternalWanting: {true, true}, model.ExternalFailed: {true, true},
		model.ExternalRejected: {false, true}, model.ExternalLanded: {false, true},
		model.ExternalLetIn: {}, model.ExternalFix: {}, model.ExternalApproved: {}, model.ExternalLinked: {},
	} {
		f := labelled()
		was(&f, in(state))
		assert.Equal(t, want[0], external.LabelLeft(f), state)
		f.Pull.State = model.PullClosed
		assert.Equal(t, want[1], external.LabelLeft(f), state)
	}
	for name, change := range map[string]func(*external.Facts){
		"nothing was let in":  func(f *external.Facts) { f.State.Externals = nil },
		"it is off":           func(f *external.Facts) { f.Pull.Labels = nil },
		"it was put on again": relabel,
		"taken over":          func(f *external.Facts) { f.Pull.Labels = append(f.Pull.Labels, "agent:ignore") },
		"switched off":        func(f *external.Facts) { f.Policy.Enabled = false },
		"a branch of ours":    func(f *external.Facts) { f.Pull.CrossRepo = false },
		"a later one is open": func(f *external.Facts) { was(f, func(m *model.ExternalMarker) { m.At = noon.Add(time.Minute) }) },
	} {
		f := labelled()
		was(&f, in(model.ExternalFailed))
		change(&f)
		assert.False(t, external.LabelLeft(f), name)
	}
}
