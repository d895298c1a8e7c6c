package train

import (
	"strconv"
	"strings"
)

// Root is what the names of all train branches begin with; the base and the number of the car follow, each behind a slash.
const Root = "mergexo/train/"

// BaseOf is the base branch whose train a branch is tested for; false: the branch is of no train.
func BaseOf(branch string) (base string, is bool) {
	rest, is := strings.CutPrefix(branch, Root)
	at := strings.LastIndexByte(rest, '/')
	if !is || at < 1 {
		return "", false
	}
	if n, err := strconv.Atoi(rest[at+1:]); err != nil || n < 1 {
		return "", false
	}
	return rest[:at], true
}
