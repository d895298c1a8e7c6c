// Package work checks, commits and keeps what an agent does in a checkout, whether the agent works on a pull request or an issue.
package work

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Work is what an agent does in the checkout for a pull request or an issue: the commits that it makes, the rules that hold
// for them, and where they are kept.
type Work struct {
	*thread.Thread
	// Issue is what the record of an attempt at an issue has beside the marker of its turn; nil on a pull request.
	Issue *model.IssueMarker
	// Keep brings work without a result to where it belongs, and tells where that is; nil: to a branch of its own.
	Keep func(ctx context.Context, h Held) model.Kept

	Notes     []string   // what people should know of the agent's work
	Kept      model.Kept // where the work is of an attempt without a result
	Unkept    string     // why it is nowhere, for an issue: a pull request has a note of that
	Admitted  string     // the head of commits that another process handed over; fit says where they may go
	Sealed    []byte     // the transcript of the agent's session
	AgentHome string     // where the agent has its transcripts

	Made checkout.Recommitted // the commits of the result, made ours

	wip wip
	// Inherited are the branches with saved work of claims whose work is recorded elsewhere.
	Inherited []git.Ref
}

// Base is the head that the commits sit on.
func Base(w *Work) string { return turn.Base(w.Marker) }
