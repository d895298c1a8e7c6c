package thread

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// MergeAtWork says that the process behind a merge is at work.
func MergeAtWork(ctx context.Context, t *Thread, m model.Posted[model.MergeMarker]) (bool, error) {
	if t.MergeClaims[m.Marker.Claim] {
		return false, nil // it is this one
	}
	claim := model.TurnMarker{Run: m.Marker.Run, RunAttempt: m.Marker.RunAttempt, Expires: m.Marker.Expires, Claim: m.Marker.Claim}
	if m.Marker.Leader == "" {
		return t.Live(ctx, model.Posted[model.TurnMarker]{CommentID: m.CommentID, Marker: claim})
	}
	leader, _, _ := strings.Cut(m.Marker.Leader, "#") // whose repository has the run
	repo, err := model.ParseRepo(leader)
	alive := turn.Alive(claim, t.Run.ID, t.Run.Attempt, t.Snap.ReadAt)
	if err == nil && alive == turn.AskRun {
		var state model.RunState
		state, err = t.GitHub.Actions.Run(ctx, repo, claim.Run)
		alive = turn.AliveByRun(claim, state)
	}
	return alive == turn.Live, err
}

// manyReviews are so many that an approval may have come and gone among the newest ones, which are all that a survey reads.
const manyReviews = 10

// Looked stands for all that a survey tells of a pull request which may end the waiting of a request to merge, for the reason
// that it gives. GitHub's summary of the checks is that of the worst one, which may be one that is not required.
func Looked(pull model.Pull, st model.State, reason model.MergeCode) string {
	labels := slices.Clone(pull.Labels)
	slices.Sort(labels)
	if reason == model.CodeChecks || reason == model.CodeChecksFailed {
		labels = append(labels, pull.CheckCounts)
	}
	if reviews := pull.Reviews / manyReviews; reviews > 0 {
		labels = append(labels, strconv.Itoa(reviews))
	}
	return journal.Token(append([]string{
		string(pull.State), pull.HeadSHA, pull.BaseRef, pull.Rollup, strconv.FormatBool(pull.Draft), pull.Opinions, strconv.FormatBool(st.Block != nil),
		strconv.FormatBool(st.Paused != nil), strconv.FormatBool(st.Accepted != "" && st.Accepted != pull.HeadSHA),
	}, labels...)...)[:16]
}

// AskedByLabel is the label that asks for a merge by itself where the settings have it so, with the key of its request; false
// where nobody has put it on, or its request was made.
func AskedByLabel(t *Thread) (change model.LabelChange, key string, asks bool) {
	change, on := external.LabelledBy(t.Snap.Pull, t.Settings.Merge.AutoLabel)
	if !on || change.By.Bot || change.By.Login == "" {
		return change, "", false
	}
	key = journal.Token("auto", change.Label, change.By.Login, change.At.UTC().Format(time.RFC3339))
	return change, key, !slices.ContainsFunc(t.State.Merges, func(said model.Posted[model.MergeMarker]) bool { return said.Marker.Command == key })
}
