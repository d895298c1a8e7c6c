package git

// Refs of our own directory, written by fetches. They are flat, so that branch names never collide.
const (
	FetchedHead = "refs/fetched/head"
	FetchedBase = "refs/fetched/base"
	HaveHead    = "refs/have/head"
)

// Modes of tree entries that policies depend on.
const (
	ModeSymlink   = "120000"
	ModeSubmodule = "160000"
	ModeAbsent    = "000000"
)

// Ref is a ref's full name and its commit.
type Ref struct{ Name, SHA string }
