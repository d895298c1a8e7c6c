package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// ErrDirty says that a branch is checked out where files, or something that is going on, stand in its way.
type ErrDirty struct {
	Branch, Dir string
	Why         string   // what is going on there, as the end of a sentence
	Paths       []string // that are changed or in the way; may be empty
}

func (e *ErrDirty) Error() string {
	said := fmt.Sprintf("%s is checked out in %s, where %s", e.Branch, e.Dir, e.Why)
	if len(e.Paths) > 0 {
		said += ": " + quoted(e.Paths)
	}
	return said
}

// ErrCheckedOut says that a branch stays as it is because somebody has it checked out.
type ErrCheckedOut struct{ Branch, Dir string }

func (e *ErrCheckedOut) Error() string {
	return fmt.Sprintf("%s is checked out in %s and stays as it is", e.Branch, e.Dir)
}

// seat is a working tree of the repository.
type seat struct {
	top, gitDir string
	index       string // one in place of its own; "": its own
}

func (c *Checkout) here() seat { return seat{top: c.top, gitDir: c.gitDir} }

// MeetLocal is Meet for branches of the checkout itself, by their names without refs/heads/. *ErrNoRef names one that
// is not there. A shallow checkout whose history does not reach to the merge base is ErrPartial, and so is a partial one that
// lacks files. No network operation.
func (c *Checkout) MeetLocal(ctx context.Context, base, head string) (Met, error) {
	var met Met
	for _, one := range []struct {
		branch string
		sha    *string
		to     string
	}{{base, &met.BaseSHA, fetchedBase}, {head, &met.HeadSHA, fetchedHead}} {
		ref := "refs/heads/" + one.branch
		if !validRef(ref) || base == head {
			return Met{}, fmt.Errorf("merge %q into %q: not two branches", head, base)
		}
		sha, err := c.tipOf(ctx, ref)
		if err == nil && sha == "" {
			err = &ErrNoRef{Ref: ref}
		}
		if err != nil {
			return Met{}, fmt.Errorf("read branches: %w", err)
		}
		*one.sha, c.refs[one.to] = sha, sha
	}
	known := false
	var err error
	if met.MergeBase, known, err = c.mergeBase(ctx, met.BaseSHA, met.HeadSHA); err == nil && known {
		known, err = c.whole(ctx, met)
	}
	if err == nil && !known {
		err = fmt.Errorf("%w: the history of %s and %s is not all here; run git fetch --unshallow", ErrPartial, base, head)
	}
	met.Unrelated = met.MergeBase == ""
	if err != nil {
		return met, err
	}
	return met, c.fillMerge(ctx, met)
}

// tipOf is where a ref of the checkout is, "" when there is none.
func (c *Checkout) tipOf(ctx context.Context, ref string) (string, error) {
	out, err := c.inside(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	return line(out), nil
}

// LandLocal fast-forwards a branch of the checkout, with the files where it is checked out, here or in a linked worktree.
// Errors are *ErrDirty, *ErrRewind, *ErrRejected (Stale: the branch is neither at from nor at to) or *Error; nothing is
// changed then. No network operation, and no hook runs.
func (c *Checkout) LandLocal(ctx context.Context, base, from, to string) error {
	if err := c.landLocal(ctx, base, from, to); err != nil {
		return fmt.Errorf("land on %s: %w", base, err)
	}
	return nil
}

func (c *Checkout) landLocal(ctx context.Context, base, from, to string) error {
	done, err := c.expect(ctx, base, from, to)
	if err != nil || done {
		return err
	}
	relation, err := c.Relation(ctx, from, to)
	if err != nil {
		return err
	}
	if relation != model.Ahead && relation != model.Identical {
		return &ErrRewind{Start: from, SHA: to, Relation: relation}
	}
	at, free, err := c.clear(ctx, base, from, to)
	switch {
	case err != nil:
		return err
	case free:
		return c.setBranch(ctx, base, from, to)
	}
	return c.forward(ctx, base, at, from, to)
}

// CanLandLocal asks what LandLocal asks before it changes anything: *ErrDirty says what is in the way. No network operation.
func (c *Checkout) CanLandLocal(ctx context.Context, base, from, to string) error {
	at, free, err := c.clear(ctx, base, from, to)
	if err == nil && !free {
		err = c.forwardable(ctx, base, at, from, to)
	}
	if err != nil {
		return fmt.Errorf("land on %s: %w", base, err)
	}
	return nil
}

// clear finds the one place where a branch is checked out, free: there is none, and looks for what is in the way of its move.
func (c *Checkout) clear(ctx context.Context, base, from, to string) (place seat, free bool, err error) {
	at, going, err := c.seats(ctx, base)
	switch {
	case err != nil:
		return seat{}, false, err
	case len(at) == 0 && len(going) == 0:
		return seat{}, true, nil
	case len(at)+len(going) > 1:
		return seat{}, false, &ErrDirty{Branch: base, Dir: append(at, going...)[0].top, Why: "it is not the only place"}
	case len(going) > 0:
		return seat{}, false, &ErrDirty{Branch: base, Dir: going[0].top, Why: "a rebase or a bisection of it is in progress"}
	}
	if err := c.undisturbed(ctx, base, at[0]); err != nil {
		return seat{}, false, err
	}
	return at[0], false, c.unobstructed(ctx, base, at[0], from, to)
}

// MoveLocal moves a branch of the checkout, also where that is no fast-forward. Where it is checked out it stays:
// *ErrCheckedOut. *ErrRejected (Stale) says that it is neither at from nor at to.
func (c *Checkout) MoveLocal(ctx context.Context, branch, from, to string) error {
	done, err := c.expect(ctx, branch, from, to)
	if err == nil && !done {
		var at, going []seat
		if at, going, err = c.seats(ctx, branch); err == nil {
			if at = append(at, going...); len(at) > 0 {
				err = &ErrCheckedOut{Branch: branch, Dir: at[0].top}
			} else {
				err = c.setBranch(ctx, branch, from, to)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("move %s: %w", branch, err)
	}
	return nil
}

// expect looks where a branch is, and tells whether it is where it is to go already.
func (c *Checkout) expect(ctx context.Context, branch, from, to string) (done bool, err error) {
	ref := "refs/heads/" + branch
	if !validRef(ref) || !isSHA(from) || !isSHA(to) {
		return false, fmt.Errorf("move %q from %q to %q: not a branch and commit ids", branch, from, to)
	}
	now, err := c.tipOf(ctx, ref)
	if err == nil && now != from && now != to {
		err = &ErrRejected{Ref: ref, Reason: Stale, Message: fmt.Sprintf("it is at %q", now)}
	}
	return now == to, err
}

// setBranch moves a branch that nobody has checked out.
func (c *Checkout) setBranch(ctx context.Context, branch, from, to string) error {
	ref := "refs/heads/" + branch
	_, err := c.inside(ctx, "update-ref", "-m", "mergexo: merge", ref, to, from)
	if err != nil && lockLost(stderrOf(err)) {
		return &ErrRejected{Ref: ref, Reason: Stale, Message: strings.TrimSpace(stderrOf(err))}
	}
	return err
}

// seats are the working trees where a branch is checked out, and those where it will be once a rebase or a bisection ends.
func (c *Checkout) seats(ctx context.Context, branch string) (at, going []seat, err error) {
	out, err := c.inside(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, nil, fmt.Errorf("list worktrees: %w", err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		part := strings.Split(entry, "\x00")
		top, ok := strings.CutPrefix(part[0], "worktree ")
		if !ok {
			continue
		}
		one, err := c.seatAt(ctx, top)
		if err != nil {
			return nil, nil, err
		}
		for _, said := range part[1:] {
			switch said {
			case "branch refs/heads/" + branch:
				at = append(at, one)
			case "detached":
				if one.gitDir != "" && one.returns(branch) {
					going = append(going, one)
				}
			}
		}
	}
	return at, going, nil
}

// seatAt finds the git directory of a worktree; there is none where its files are gone.
func (c *Checkout) seatAt(ctx context.Context, top string) (seat, error) {
	if samePlace(top, c.top) {
		return c.here(), nil
	}
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return seat{top: top}, nil
	}
	out, err := c.run(ctx, spec{dir: top, env: c.env(), args: concat(shield, offline, []string{"rev-parse", "--absolute-git-dir"})})
	if err != nil {
		return seat{}, fmt.Errorf("find git directory of %s: %w", top, err)
	}
	return seat{top: top, gitDir: line(out)}, nil
}

// samePlace tells whether two paths are one place.
func samePlace(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// returns tells whether what is going on will come back to a branch.
func (s seat) returns(branch string) bool {
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		text, err := os.ReadFile(filepath.Join(s.gitDir, name))
		if err == nil && strings.TrimPrefix(strings.TrimSpace(string(text)), "refs/heads/") == branch {
			return true
		}
	}
	return false
}
