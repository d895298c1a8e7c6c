package sweep

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// Needs is what a person has to do about a pull request, in a few words; "": nothing.
func Needs(b model.BoardPull) string {
	switch {
	case b.Block != nil:
		return fmt.Sprintf("decide about the block (%s)", b.Block.Reason)
	case b.State == model.StandTaken || b.State == model.StandPaused || b.State == model.StandReleased:
		return ""
	case b.Merge != nil && b.Merge.State == model.MergeFailed && b.Merge.Head == b.Head:
		return fmt.Sprintf("the merge came to nothing (%s)", b.Merge.Reason)
	case b.Merge != nil && b.Merge.State == model.MergeWaiting:
		return waitsFor[b.Merge.Reason]
	case b.External != nil && b.External.Head == b.Head && b.External.State == model.ExternalFailed:
		return "the evaluation came to no result"
	case b.State == model.StandFailed:
		return "the agent failed; it is tried again"
	}
	return ""
}

// waitsFor is what people have to do for a request to merge that waits.
var waitsFor = map[model.MergeCode]string{
	model.CodeApproval: "approve it", model.CodeStale: "approve it anew", model.CodeChanges: "settle the review that asks for changes",
	model.CodeChecksFailed: "mend the failed checks", model.CodeDraft: "mark it as ready for review", model.CodeFrozen: "take the freezing label off",
	model.CodeConflict: "resolve the conflict", model.CodeBlocked: "see what the merge waits for", model.CodeMember: "get the rest of its group ready",
	model.CodeProtected: "let the token push, or merge it by hand",
}
