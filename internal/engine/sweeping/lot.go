package sweeping

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// What a sweep cannot look at as a whole within its calls it looks at by lot: another part with each sweep. A sweep remembers nothing
// of the one before.

// lot is a number below n that differs from sweep to sweep.
func (s *sweeper) lot(n int) int {
	h := fnv.New32a()
	fmt.Fprint(h, s.Now().Unix())
	return int(h.Sum32() % uint32(n))
}

// ahead settles all that there is: what was read is enough.
func ahead(s *sweeper) model.Mark { return model.Mark{At: s.Now().Add(recently)} }

func isOurs(c model.Comment) bool { return c.Ours }

// staged are the numbers that have recorded work of ours, the newest first.
func (f *scan) staged() []int {
	var out []int
	for _, ref := range f.refs {
		rest, is := strings.CutPrefix(ref.Name, hiddenRefs+"turn/")
		number, _, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(number); is && err == nil && n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// also are numbers that are looked at without a label: the issue for commands, and what has recorded work of ours. The work of a
// pull request that was closed stays for who may open it again, and so may fill the request: the newer half of it is for the
// newest numbers, and the other one for some of the rest.
func (f *scan) also(lot func(n int) int) []int {
	var out []int
	if n := f.base.Repo.OperationsIssue; n != 0 {
		out = append(out, n)
	}
	rest := slices.DeleteFunc(f.staged(), func(n int) bool { return f.open[n] || slices.Contains(out, n) })
	if len(out)+len(rest) <= maxAlso {
		return append(out, rest...)
	}
	out, rest = append(out, rest[:maxAlso/2]...), rest[maxAlso/2:]
	from := lot(len(rest))
	return append(out, slices.Concat(rest[from:], rest[:from])[:maxAlso-len(out)]...)
}

// maxAlso is how many such numbers one request takes.
const maxAlso = 50

// readFurther reads one of the pull requests on which people talk among each other: it may have been adopted before that, in a
// comment that is older than those of the survey.
func (s *sweeper) readFurther(ctx context.Context, f *scan) error {
	if len(f.unread) == 0 || f.cut != nil {
		return nil
	}
	number := f.unread[s.lot(len(f.unread))]
	settled := s.settled(ctx, func(*reading, []model.Comment, bool) bool { return false })
	snap, err := s.GitHub.Threads.Snapshot(ctx, github.Query{
		Repo: s.repo, Number: number, Posted: f.posted,
		Settled: func(snap model.Snapshot, read []model.Comment) (model.Mark, bool) {
			if len(read) >= maxFurther {
				return ahead(s), true
			}
			return settled(snap, read)
		},
	})
	if err != nil {
		return skipGone(err)
	}
	if snap.Pull.State != model.PullOpen || !slices.ContainsFunc(snap.Comments, isOurs) {
		return nil
	}
	f.heads = slices.DeleteFunc(f.heads, func(h seen) bool { return h.Number == number })
	f.board.Untracked--
	return s.readPull(ctx, f, snap)
}

// maxFurther is how many comments of such a pull request are read, more or less.
const maxFurther = 500
