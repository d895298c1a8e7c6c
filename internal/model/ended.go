package model

// End is why the matter of a comment of ours is over.
type End string

// The ends of comments.
const (
	EndUnblocked End = "unblocked" // an operator lifted the block
	EndAnswered  End = "answered"  // somebody answered the agent's question
	EndExpired   End = "expired"   // the block was for a time that is over
	EndContinued End = "continued" // a later attempt continues from there
	EndTold      End = "told"      // a later comment tells all of it
)

// Ended is a comment of ours whose matter is over, and which GitHub still shows in full.
type Ended struct {
	CommentID int64
	Why       End
	By        string // the operator who lifted a block
}
