package sweep

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// kinds are the refs that belong to one number, and when each is deleted after the pull request or issue is closed. Nothing that
// somebody may still need is lost: once a pull request is merged, nobody needs what its agent left unfinished; if it was closed
// without a merge, whoever reopens it needs everything, and comments there link to it.
//
//	ref                                    number open  closed, not merged  merged  not known
//	refs/mergexo/kept/N/SHA                stays        stays               goes    stays       a bundle that a comment links
//	refs/mergexo/session/N/KEY             stays        goes                goes    stays       a transcript; a new session begins without it
//	refs/heads/mergexo/checkpoint/N/SHA    stays        stays               goes    stays       linked, and where somebody went on with it, it stays
//	refs/mergexo/checkpoint/N/SHA          stays        stays               goes    stays       the same where the server takes no such branch
//	refs/heads/mergexo/checkpoint/N/wip-X  stays        stays               goes    stays       what an agent had done when it was last looked at
//
// Everything else stays. A stage, refs/mergexo/turn/N/KEY, may be the only copy of finished work, even if its number is closed:
// only the receipt of its turn says that it may go, and the code that reads receipts deletes it. Whoever needs a lock takes it
// over, and a sweep manages its own notes. A branch such as gh-pr-N/fix may be anybody's, so its name proves nothing: its marker
// does, and the merge deletes it.
var kinds = []struct {
	ref    *regexp.Regexp
	closed bool // goes where nothing was merged, too
}{
	{regexp.MustCompile(`^refs/mergexo/kept/(\d+)/[^/]+$`), false},
	{regexp.MustCompile(`^refs/mergexo/session/(\d+)/[^/]+$`), true},
	{regexp.MustCompile(`^refs/(?:heads/)?mergexo/checkpoint/(\d+)/(?:wip-[0-9a-f]{12}|([0-9a-f]{12}))$`), false},
}

// Leftovers returns the refs that nobody needs. known tells the state of the number that a ref belongs to, if it was
// asked for.
func Leftovers(refs []model.Ref, known func(number int) (state model.PullState, known bool)) []model.Ref {
	var gone []model.Ref
	for _, ref := range refs {
		number, closed, ok := about(ref)
		if !ok {
			continue
		}
		if state, is := known(number); is && (state == model.PullMerged || state == model.PullClosed && closed) {
			gone = append(gone, ref)
		}
	}
	return gone
}

// about returns the number that a ref belongs to; false for a ref that always stays.
func about(ref model.Ref) (number int, closed, ok bool) {
	for _, k := range kinds {
		m := k.ref.FindStringSubmatch(ref.Name)
		if m == nil {
			continue
		}
		if len(m) > 2 && !strings.HasPrefix(ref.SHA, m[2]) { // somebody pushed more commits there
			return 0, false, false
		}
		n, err := strconv.Atoi(m[1])
		return n, k.closed, err == nil && n > 0 && strconv.Itoa(n) == m[1]
	}
	return 0, false, false
}
