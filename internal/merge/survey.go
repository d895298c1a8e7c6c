package merge

import (
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/model"
)

// manyReviews is how many reviews a survey reads, the newest ones. Among more, an approval may come and go unseen.
const manyReviews = 10

// Surveyed lists the facts of a survey that may end the waiting of a merge request, by the reason why it waits. GitHub's summary of the
// checks tells of the worst one, required or not. So it lists their counts, too.
func Surveyed(pull model.Pull, st model.State, reason model.MergeCode) []string {
	labels := slices.Clone(pull.Labels)
	slices.Sort(labels)
	seen := append([]string{
		string(pull.State), pull.HeadSHA, pull.BaseRef, pull.Rollup, strconv.FormatBool(pull.Draft), pull.Opinions, strconv.FormatBool(st.Block != nil),
		strconv.FormatBool(st.Paused != nil), strconv.FormatBool(st.Accepted != "" && st.Accepted != pull.HeadSHA), strconv.Itoa(pull.Reviews / manyReviews),
	}, labels...)
	return append(seen, map[model.MergeCode]string{
		model.CodeChecks: pull.CheckCounts, model.CodeChecksFailed: pull.CheckCounts, model.CodeDepends: pull.Body, model.CodeDraft: pull.Title,
		model.CodeReviewers: strconv.Itoa(pull.Reviews),
	}[reason])
}
