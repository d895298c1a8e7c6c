package turn

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// MergeFailures are the merges that failed, as feedback.
func MergeFailures(st model.State) []model.Comment {
	var out []model.Comment
	for _, m := range st.Merges {
		if k := m.Marker; k.State == model.MergeFailed {
			out = append(out, model.Comment{
				Kind: model.KindMerge, ID: m.CommentID, Author: model.Actor{Login: "MergeXO", Bot: true}, URL: m.URL, CreatedAt: m.At, UpdatedAt: m.At,
				Body: fmt.Sprintf("The merge into %s failed: %s", name(k.Base, nameSize), name(string(k.Reason), nameSize)),
			})
		}
	}
	return out
}

// FailedMerge is the newest merge of the head that failed; nil for none. What was taken back or replaced has not failed.
func FailedMerge(p model.Pull, st model.State) *model.Posted[model.MergeMarker] {
	for _, m := range slices.Backward(st.Merges) {
		k := m.Marker
		ended := k.State == model.MergeFailed && k.Reason != model.CodeCancelled && k.Reason != model.CodeReplaced
		if ended && (k.Head == p.HeadSHA || slices.Contains(k.Tips(), p.HeadSHA)) {
			return &m
		}
	}
	return nil
}

// byCommit are the reasons that a commit on the branch may change.
var byCommit = []model.MergeCode{model.CodeConflict, model.CodeSquash, model.CodeTests, model.CodeChecksFailed, model.CodeFrontmatter, model.CodeRoadmap}

// isFeedback says that a failed merge is feedback: it is the newest request, about the head as it is and no group, and a commit may
// help.
func isFeedback(c model.Comment, p model.Pull, st model.State, policy Policy) bool {
	m := FailedMerge(p, st)
	return policy.Merges && m != nil && m.CommentID == c.ID && st.Merge().CommentID == c.ID && len(m.Marker.Members) < 2 && slices.Contains(byCommit, m.Marker.Reason) && !m.Marker.Unstarted
}

// whatPeopleDo is where the comment of a failed merge turns from what happened to what people can do about it.
var whatPeopleDo = regexp.MustCompile("(?s)^(.*)\n\n(?:Neither `|`[^`\n]*`+ was not changed|Some commits (?:are|were) already |No pull request of the group was).*$")

// whatHappened is what the comment of a failed merge says of that.
func whatHappened(text string) string { return whatPeopleDo.ReplaceAllString(text, "$1") }

// mergeRule is for feedback with a failed merge.
const mergeRule = "A failed merge is feedback too: change the branch so that it can be merged. Resolve a conflict by merging the base into this branch. " +
	"Nothing merges it again: people approve your commits and ask for that."
