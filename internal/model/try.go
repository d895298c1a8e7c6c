package model

// Try is an attempt of a turn that came to no result.
type Try struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason,omitempty"` // "": its run died without a word
	RunURL  string `json:"run_url,omitempty"`
	Handoff string `json:"handoff,omitempty"` // as in TurnMarker
	// Checkpoint is the branch, or the full private ref, that keeps what it did, and CheckpointSHA its tip. Without a checkpoint
	// it is the commit that holds the same work.
	Checkpoint    string `json:"checkpoint,omitempty"`
	CheckpointSHA string `json:"checkpoint_sha,omitempty"`
}
