package git

import (
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// Wrap says of an error what failed; nil stays nil.
func Wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), err)
}

// ErrHeadMoved says that the server's branch was not at the expected head, twice.
type ErrHeadMoved struct{ Branch, Want, Seen string }

func (e *ErrHeadMoved) Error() string {
	return fmt.Sprintf("branch %s is at %s, not at %s", e.Branch, e.Seen, e.Want)
}

// ErrNoRef says that the server has no such ref, or does not serve that commit.
type ErrNoRef struct{ Ref string }

func (e *ErrNoRef) Error() string { return fmt.Sprintf("the server has no %s", e.Ref) }

// IsNoRef says that the error is an ErrNoRef, or holds one.
func IsNoRef(err error) bool {
	var missing *ErrNoRef
	return errors.As(err, &missing)
}

// ErrUnmerged says that a merge in the checkout has unresolved conflicts.
type ErrUnmerged struct{ Paths []string }

func (e *ErrUnmerged) Error() string {
	return "unresolved merge conflicts in " + syntax.Quoted(e.Paths)
}

// ErrRewind says that a push would not be a fast-forward, or might not be. Nothing was sent.
type ErrRewind struct {
	Start, SHA string
	Relation   model.Relation // of SHA to Start
}

func (e *ErrRewind) Error() string {
	return fmt.Sprintf("%s does not descend from %s (%s)", e.SHA, e.Start, e.Relation)
}

// Reason says why the server refused a push.
type Reason string

// The reasons.
const (
	Stale     Reason = "stale"     // the ref is not where the lease said
	Name      Reason = "name"      // no ref may have that name; another one may do
	Protected Reason = "protected" // branch protection or a ruleset
	Workflow  Reason = "workflow"  // the credential may not change workflow files
	Other     Reason = "other"     // a hook or unknown; Message has the server's text
)

// ErrRejected says that the server refused a push. Nothing was changed there.
type ErrRejected struct {
	Ref     string
	Reason  Reason
	Message string // the server's words, without control characters
	Most    int    // refs that one push may update, where there were more; else 0
}

func (e *ErrRejected) Error() string {
	return fmt.Sprintf("push to %s rejected (%s): %s", e.Ref, e.Reason, e.Message)
}

// Unsure reports whether only the server can tell where a branch is after a push: somebody was faster, or no answer came.
func Unsure(err error) bool {
	rejected, unclear := (*ErrRejected)(nil), (*ErrUnclear)(nil)
	return errors.As(err, &unclear) || errors.As(err, &rejected) && rejected.Reason == Stale
}

// ErrUnclear says that the connection was lost after the push had been sent: it may have been applied, so read the remote
// before doing anything else.
type ErrUnclear struct{ Err error }

func (e *ErrUnclear) Error() string { return "push without an answer: " + e.Err.Error() }

func (e *ErrUnclear) Unwrap() error { return e.Err }
