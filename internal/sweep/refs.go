package sweep

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// kinds are the refs that are about one number, and what becomes of them when it is not open any more. What decides is that
// nothing may be lost: of a pull request that was merged, what its agent left half-way has had its time; of one that was
// closed without that, whoever opens it again needs all of it, and comments there link it.
//
//	ref                                    number open  closed, not merged  merged  not known
//	refs/mergexo/kept/N/SHA                stays        stays               goes    stays       a bundle that a comment links
//	refs/mergexo/session/N/KEY             stays        goes                goes    stays       a transcript; a new session begins without it
//	refs/heads/mergexo/checkpoint/N/SHA    stays        stays               goes    stays       linked, and where somebody went on with it, it stays
//	refs/heads/mergexo/checkpoint/N/wip-X  stays        stays               goes    stays       what an agent had done when it was last looked at
//
// Everything else stays. A stage, refs/mergexo/turn/N/KEY, may be the only copy of what an agent has finished, however its
// number stands: only the receipt of its turn says that it may go, and those who read receipts see to it. A lock is taken over
// by whoever needs it, and the notes of a sweep are its own. A branch such as gh-pr-N/fix may be anybody's, whatever its name:
// its marker tells, and whoever merges deletes it.
var kinds = []struct {
	ref    *regexp.Regexp
	closed bool // goes where nothing was merged, too
}{
	{regexp.MustCompile(`^refs/mergexo/kept/(\d+)/[^/]+$`), false},
	{regexp.MustCompile(`^refs/mergexo/session/(\d+)/[^/]+$`), true},
	{regexp.MustCompile(`^refs/heads/mergexo/checkpoint/(\d+)/(?:wip-[0-9a-f]{12}|([0-9a-f]{12}))$`), false},
}

// Leftovers are the refs that nobody needs any more, by how the number stands that each is about. known tells that, where it
// was asked; what keep holds stays in any case, and nil holds nothing.
func Leftovers(refs []model.Ref, known func(number int) (state model.PullState, known bool), keep func(model.Ref) bool) []model.Ref {
	var gone []model.Ref
	for _, ref := range refs {
		number, closed, ok := about(ref)
		if !ok {
			continue
		}
		state, is := known(number)
		over := is && (state == model.PullMerged || state == model.PullClosed && closed)
		if over && (keep == nil || !keep(ref)) {
			gone = append(gone, ref)
		}
	}
	return gone
}

// about is the number that a ref is about; false for refs that stay in any case.
func about(ref model.Ref) (number int, closed, ok bool) {
	for _, k := range kinds {
		m := k.ref.FindStringSubmatch(ref.Name)
		if m == nil {
			continue
		}
		if len(m) > 2 && !strings.HasPrefix(ref.SHA, m[2]) { // somebody went on from there
			return 0, false, false
		}
		n, err := strconv.Atoi(m[1])
		return n, k.closed, err == nil && n > 0 && strconv.Itoa(n) == m[1]
	}
	return 0, false, false
}
