package thread

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// MergeAtWork says that the process behind a merge is at work.
func MergeAtWork(ctx context.Context, t *Thread, m model.Posted[model.MergeMarker]) (bool, error) {
	repo := t.Event.Repo
	if leader, _, led := strings.Cut(m.Marker.Leader, "#"); led { // whose repository has the run
		var err error
		if repo, err = model.ParseRepo(leader); err != nil {
			return false, err
		}
	}
	return busyIn(ctx, t, repo, m.CommentID, m.Marker.Lease)
}

// manyReviews are so many that an approval may have come and gone among the newest ones, which are all that a survey reads.
const manyReviews = 10

// Looked stands for all that a survey tells of a pull request which may end the waiting of a request to merge, for the reason
// that it gives. GitHub's summary of the checks is that of the worst one, which may be one that is not required.
func Looked(pull model.Pull, st model.State, reason model.MergeCode) string {
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
		strconv.FormatBool(st.Paused != nil), strconv.FormatBool(st.Accepted != "" && st.Accepted != pull.HeadSHA),
	}, labels...)...)[:16]
}

// AsksByItself is what the settings have ask for the merge, by what was read: a label once each time that it is put on, and an approval
// once for each head, and again where somebody has approved it after At, when that request ended. A try is no request, but it comes to
// its end first.
func AsksByItself(t *Thread) (a Asking, asks bool) {
	pull := t.Snap.Pull
	open := slices.ContainsFunc(t.State.Merges, func(said model.Posted[model.MergeMarker]) bool { return said.Marker.Open() })
	switch mode := t.Settings.Merge.Auto; {
	case open, pull.State != model.PullOpen, pull.CrossRepo, pull.Draft, t.State.Block != nil:
	case mode == config.AutoLabel:
		a, on := LabelAsks(t, t.Settings.Merge.AutoLabel, "auto", "Merge")
		return a, on && !slices.ContainsFunc(t.State.Merges, func(said model.Posted[model.MergeMarker]) bool { return said.Marker.Command == a.Key })
	case mode == config.AutoApproval:
		var ended model.Posted[model.MergeMarker]
		for _, said := range t.State.Merges {
			if m := said.Marker; slices.Contains(append(m.Tips(), m.Head), pull.HeadSHA) && !m.Tries() {
				ended = said
			}
		}
		a.Key, a.At = journal.Token("auto", "approval", pull.HeadSHA, ended.Marker.Command), ended.UpdatedAt
		return a, ended.CommentID == 0 || pull.ApprovedAt.After(a.At)
	}
	return a, false
}
