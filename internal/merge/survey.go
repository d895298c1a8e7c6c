package merge

import (
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/model"
)

// manyReviews are so many that an approval may have come and gone among the newest ones, which are all that a survey reads.
const manyReviews = 10

// Surveyed lists all in a survey that may end the waiting of a request to merge, by its reason. GitHub's summary of the checks is that of the
// worst one, which may be one that is not required.
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
