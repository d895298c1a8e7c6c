package landing

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// looked is a fingerprint of what a request to merge waits for, by its reason. No survey shows that an approver may write by now, or that
// a rule of the base is gone: so each request is evaluated again once a day.
func looked(t *thread.Thread, reason model.MergeCode) string {
	seldom := "" // the train looks at those that are in it
	if reason != model.CodeTrain {
		settings, _ := json.Marshal(t.Settings.Merge) // it has no fields that cannot be encoded
		seldom = string(settings) + t.Snap.ReadAt.UTC().Format(time.DateOnly)
	}
	return journal.Token(append(merge.Surveyed(t.Snap.Pull, t.State, reason), seldom)...)[:16]
}

// waitsStill reports whether a survey sees that a request waits for what it waited for when it was evaluated last. What time alone may
// end is always evaluated again.
func waitsStill(p *Request, m model.MergeMarker) (bool, error) {
	byTime := m.Reason.Retryable() && m.Reason != model.CodeChecks && m.Reason != model.CodeTrain || m.Reason == model.CodeMember
	switch {
	case p.Survey == nil || p.Snap.Pull.State != model.PullOpen || m.State != model.MergeWaiting || byTime:
		return false, nil
	case m.Looked != looked(p.Thread, m.Reason):
		return false, nil
	case m.Reason == model.CodeBlocked: // by what has no place in the fingerprint: the labels of the source issue
		stops := []model.Gate{p.State.BlockGate(), p.State.PausedGate(), p.State.MarkersGate(), p.Snap.Pull.TakenGate(p.Settings.Labels.Ignore)}
		_, unmet := model.Unmet(stops)
		return unmet, nil
	}
	on := merge.DependsOf(p.Snap.Pull)
	if m.Reason != model.CodeDepends || len(on.Unread) > 0 { // the text, which is as it was, names what cannot land
		return true, nil
	}
	pulls, err := p.Survey.PullsSeen(on.On...)
	return slices.ContainsFunc(pulls, func(r model.PullRef) bool { return r.State == model.PullOpen }), err
}
