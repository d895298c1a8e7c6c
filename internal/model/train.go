package model

// TrainView is what GitHub shows of the merge train of a base branch.
type TrainView struct {
	// Manifest is the content of the train's private ref at the commit that was asked for; nil for none.
	Manifest []byte
	// BaseSHA is the tip of the base; "" where there is no such branch.
	BaseSHA       string
	Settings      string // of the base branch
	SettingsFound bool
	Branches      []TrainBranch
	// ChecksHidden says that the token may not read the checks.
	ChecksHidden bool
}

// TrainBranch is a branch that is tested for the train, with the newest check of each name.
type TrainBranch struct {
	Name   string // without refs/heads/
	SHA    string
	Checks []Check
	More   bool // there are more checks than were read
}
