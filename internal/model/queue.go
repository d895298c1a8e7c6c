package model

// QueueView is where a pull request stands in the merge queue of its base, which is GitHub's own.
type QueueView struct {
	Node    string // GraphQL's id of the pull request
	State   PullState
	HeadSHA string
	Enabled bool        // the base has a queue
	Entry   *QueueEntry // nil: it is not in the queue
	Left    *QueueExit  // how it left the queue last, merged or not; nil: it never did
}

// QueueEntry is a place in the merge queue.
type QueueEntry struct {
	State    string // QUEUED, AWAITING_CHECKS, MERGEABLE, UNMERGEABLE, or LOCKED
	Position int    // from 1
	By       Actor
}

// QueueExit is how a pull request left the merge queue.
type QueueExit struct {
	ID     string
	Reason string // GitHub's word, of which there is no list; "" where it gives none
	By     Actor
	SHA    string  // the commit that was tested; "": none was
	Checks []Check // of that commit, the newest of each name and App
}

// QueueMark is what a request to merge remembers of the merge queue.
type QueueMark struct {
	// After is the id of the newest exit from the queue when the request was put into it: a newer one is this request's.
	After string `json:"after,omitempty"`
	// In says that GitHub has taken it in; without, a run was about to ask.
	In bool `json:"in,omitempty"`
}
