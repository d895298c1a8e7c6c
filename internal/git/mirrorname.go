package git

// MirrorName is the branch that mirrors the pull request of a fork: gh-pr-N/{branch}. taken tells of a branch whether it is there.
func MirrorName(number int, branch string, taken func(string) bool) string { return "" }

// MirrorOf is the number of the pull request that a branch is a mirror of, by its name: gh-pr-N and gh-pr-N/...
func MirrorOf(branch string) (number int, ok bool) { return 0, false }
