package model

// End says why a comment of ours is out of date.
type End string

// The ends of comments.
const (
	EndUnblocked  End = "unblocked"  // an operator lifted the block
	EndAnswered   End = "answered"   // somebody answered the agent's question
	EndExpired    End = "expired"    // the day for which it blocked is over
	EndContinued  End = "continued"  // a later attempt continues from there
	EndSuperseded End = "superseded" // a later comment tells all of it
)

// Ended is a comment of ours that is out of date and that GitHub does not hide yet.
type Ended struct {
	CommentID int64
	Why       End
	By        string // the operator who lifted a block
}
