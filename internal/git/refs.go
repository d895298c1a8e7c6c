package git

// Refs of our own directory: what a fetch got. They are flat, so that branch names never stand in each other's way.
const (
	FetchedHead = "refs/fetched/head"
	FetchedBase = "refs/fetched/base"
	HaveHead    = "refs/have/head"
)

// Modes of tree entries that matter to a policy.
const (
	ModeSymlink   = "120000"
	ModeSubmodule = "160000"
	ModeAbsent    = "000000"
)

// Ref is a ref by its full name and the commit that it is at.
type Ref struct{ Name, SHA string }
