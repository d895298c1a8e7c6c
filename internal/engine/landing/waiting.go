package landing

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// manyReviews are so many that an approval may have come and gone among the newest ones, which are all that a survey reads.
const manyReviews = 10

// looked is a fingerprint of all in a survey that may end the waiting of a request to merge, by its reason. GitHub's summary of the checks
// is that of the worst one, which may be one that is not required. No survey shows that an approver may write by now, or that a rule of the
// base is gone: so each request is evaluated again once a day.
func looked(t *thread.Thread, reason model.MergeCode) string {
	pull, st := t.Snap.Pull, t.State
	seldom := "" // the train looks at those that are in it
	if reason != model.CodeTrain {
		settings, _ := json.Marshal(t.Settings.Merge) // it has no fields that cannot be encoded
		seldom = string(settings) + t.Snap.ReadAt.UTC().Format(time.DateOnly)
	}
	labels := slices.Clone(pull.Labels)
	slices.Sort(labels)
	labels = append(labels, map[model.MergeCode]string{
		model.CodeChecks: pull.CheckCounts, model.CodeChecksFailed: pull.CheckCounts, model.CodeDepends: pull.Body, model.CodeDraft: pull.Title,
		model.CodeReviewers: strconv.Itoa(pull.Reviews),
	}[reason])
	if reviews := pull.Reviews / manyReviews; reviews > 0 {
		labels = append(labels, strconv.Itoa(reviews))
	}
	return journal.Token(append([]string{
		string(pull.State), pull.HeadSHA, pull.BaseRef, pull.Rollup, strconv.FormatBool(pull.Draft), pull.Opinions, strconv.FormatBool(st.Block != nil),
		strconv.FormatBool(st.Paused != nil), strconv.FormatBool(st.Accepted != "" && st.Accepted != pull.HeadSHA), seldom,
	}, labels...)...)[:16]
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
