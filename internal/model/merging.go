package model

// Merging is a merge at a terminal as programs read it. SHAs are whole, "" for what there is none of; lists are never null.
type Merging struct {
	Branch    string          `json:"branch"`
	Into      string          `json:"into"` // the base branch
	Strategy  string          `json:"strategy"`
	Head      string          `json:"head"`    // of the branch when it was asked for
	Base      string          `json:"base"`    // of the base branch, that Tip was made on
	Tip       string          `json:"tip"`     // that was or would be tested
	Tree      string          `json:"tree"`    // of Tip
	Landed    string          `json:"landed"`  // that the base branch has now
	Commits   []Moved         `json:"commits"` // that are new on top of Base, oldest first; of very many the newest
	Count     int             `json:"count"`   // how many there are
	LeftOut   []Commit        `json:"left_out"`
	Conflicts []MergeConflict `json:"conflicts"`
	Tests     *MergeTests     `json:"tests"` // null where it did not come to them
	Notes     []string        `json:"notes"`
}

// MergeConflict is one file that could not be merged.
type MergeConflict struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`  // in git's word: content, modify/delete, ...
	Hunks string `json:"hunks"` // with conflict markers; "" where there is no text to show
}

// The results of tests before a merge.
const (
	TestsPassed  = "passed"
	TestsFailed  = "failed"
	TestsPlanned = "planned" // by a dry run
	TestsNone    = "none"    // on purpose
)

// MergeTests is how the tests before a merge went.
type MergeTests struct {
	Command []string `json:"command"`
	Result  string   `json:"result"`
	Exit    int      `json:"exit"`
	Seconds int      `json:"seconds"`
	Why     string   `json:"why"`    // where the command comes from where the settings do not name it, or why it did not run
	Output  string   `json:"output"` // the end of what failing tests printed
}
