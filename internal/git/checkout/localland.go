package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// ErrDirty says that a branch's checkout has files, or an operation in progress, in the way.
type ErrDirty struct {
	Branch, Dir string
	Why         string   // the operation in progress, as the end of a sentence
	Paths       []string // changed or in the way; may be empty
}

func (e *ErrDirty) Error() string {
	said := fmt.Sprintf("%s is checked out in %s, where %s", e.Branch, e.Dir, e.Why)
	if len(e.Paths) > 0 {
		said += ": " + syntax.Quoted(e.Paths)
	}
	return said
}

// ErrCheckedOut says that a branch was not moved because it is checked out.
type ErrCheckedOut struct{ Branch, Dir string }

func (e *ErrCheckedOut) Error() string {
	return fmt.Sprintf("%s is checked out in %s and stays as it is", e.Branch, e.Dir)
}

// LocalMergeBase is FetchMergeBase for the checkout's own branches, by name without refs/heads/. *ErrNoRef names a missing
// one. A shallow checkout whose history does not reach the merge base is ErrPartial, and so is a partial one that lacks
// files. No network operation.
func LocalMergeBase(ctx context.Context, c *git.Checkout, base, head string) (history.Divergence, error) {
	var met history.Divergence
	for _, one := range []struct {
		branch string
		sha    *string
		to     string
	}{{base, &met.BaseSHA, git.FetchedBase}, {head, &met.HeadSHA, git.FetchedHead}} {
		ref := "refs/heads/" + one.branch
		if !syntax.ValidRef(ref) || base == head {
			return history.Divergence{}, fmt.Errorf("merge %q into %q: not two branches", head, base)
		}
		sha, err := c.TipOf(ctx, ref+"^{commit}")
		if err == nil && sha == "" {
			err = &git.ErrNoRef{Ref: ref}
		}
		if err != nil {
			return history.Divergence{}, fmt.Errorf("read branches: %w", err)
		}
		*one.sha, c.Refs[one.to] = sha, sha
	}
	known, err := false, error(nil)
	met.MergeBase, known, err = history.WholeMergeBase(ctx, c, met.BaseSHA, met.HeadSHA)
	if err == nil && !known {
		err = fmt.Errorf("%w: the history of %s and %s is not all here; run git fetch --unshallow", history.ErrPartial, base, head)
	}
	met.Unrelated = met.MergeBase == ""
	if err != nil {
		return met, err
	}
	return met, history.FillMerge(ctx, c, met)
}

// LandLocal fast-forwards a branch of the checkout, with the files where it is checked out, here or in a linked worktree.
// Errors are *ErrDirty, *ErrRewind, *ErrRejected (Stale: the branch is neither at from nor at to) or *Error; nothing is
// changed then. No network operation, and no hook runs.
func LandLocal(ctx context.Context, c *git.Checkout, base, from, to string) error {
	return git.Wrap(landLocal(ctx, c, base, from, to), "land on %s", base)
}

func landLocal(ctx context.Context, c *git.Checkout, base, from, to string) error {
	done, err := expect(ctx, c, base, from, to)
	if err != nil || done {
		return err
	}
	relation, err := history.Relation(ctx, c, from, to)
	if err != nil {
		return err
	}
	if relation != model.Ahead && relation != model.Identical {
		return &git.ErrRewind{Start: from, SHA: to, Relation: relation}
	}
	at, free, err := clearWay(ctx, c, base, from, to)
	switch {
	case err != nil:
		return err
	case free:
		return setBranch(ctx, c, base, from, to)
	}
	return forward(ctx, c, base, at, from, to)
}

// CanLandLocal makes LandLocal's checks: *ErrDirty says what is in the way. No network operation.
func CanLandLocal(ctx context.Context, c *git.Checkout, base, from, to string) error {
	at, free, err := clearWay(ctx, c, base, from, to)
	if err == nil && !free {
		err = canForward(ctx, c, base, at, from, to)
	}
	return git.Wrap(err, "land on %s", base)
}

// clearWay finds the only worktree with the branch (free: there is none), and checks what is in the way of a move.
func clearWay(ctx context.Context, c *git.Checkout, base, from, to string) (place git.Worktree, free bool, err error) {
	at, going, err := worktreesOf(ctx, c, base)
	switch {
	case err != nil:
		return git.Worktree{}, false, err
	case len(at) == 0 && len(going) == 0:
		return git.Worktree{}, true, nil
	case len(at)+len(going) > 1:
		return git.Worktree{}, false, &ErrDirty{Branch: base, Dir: append(at, going...)[0].Top, Why: "it is not the only place"}
	case len(going) > 0:
		return git.Worktree{}, false, &ErrDirty{Branch: base, Dir: going[0].Top, Why: "a rebase or a bisection of it is in progress"}
	}
	if at[0].Differing, err = checkQuiet(ctx, c, base, at[0]); err != nil {
		return git.Worktree{}, false, err
	}
	return at[0], false, checkUntracked(ctx, c, base, at[0], from, to)
}

// MoveLocal moves a branch of the checkout, even if that is no fast-forward. A checked-out branch stays: *ErrCheckedOut.
// *ErrRejected (Stale) says that it is neither at from nor at to.
func MoveLocal(ctx context.Context, c *git.Checkout, branch, from, to string) error {
	done, err := expect(ctx, c, branch, from, to)
	if err == nil && !done {
		var at, going []git.Worktree
		if at, going, err = worktreesOf(ctx, c, branch); err == nil {
			if at = append(at, going...); len(at) > 0 {
				err = &ErrCheckedOut{Branch: branch, Dir: at[0].Top}
			} else {
				err = setBranch(ctx, c, branch, from, to)
			}
		}
	}
	return git.Wrap(err, "move %s", branch)
}

// expect checks where a branch is, and reports whether it is at its destination already.
func expect(ctx context.Context, c *git.Checkout, branch, from, to string) (done bool, err error) {
	ref := "refs/heads/" + branch
	if !syntax.ValidRef(ref) || !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return false, fmt.Errorf("move %q from %q to %q: not a branch and commit ids", branch, from, to)
	}
	now, err := c.TipOf(ctx, ref+"^{commit}")
	if err == nil && now != from && now != to {
		err = &git.ErrRejected{Ref: ref, Reason: git.Stale, Message: fmt.Sprintf("it is at %q", now)}
	}
	return now == to, err
}

// setBranch moves a branch that is not checked out.
func setBranch(ctx context.Context, c *git.Checkout, branch, from, to string) error {
	ref := "refs/heads/" + branch
	_, err := c.Inside(ctx, "update-ref", "-m", "mergexo: merge", ref, to, from)
	if err != nil && syntax.LockLost(git.StderrOf(err)) {
		return &git.ErrRejected{Ref: ref, Reason: git.Stale, Message: strings.TrimSpace(git.StderrOf(err))}
	}
	return err
}

// worktreesOf are the worktrees with a branch checked out, and those that will have it once a rebase or a bisection ends.
func worktreesOf(ctx context.Context, c *git.Checkout, branch string) (at, going []git.Worktree, err error) {
	out, err := c.Inside(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, nil, fmt.Errorf("list worktrees: %w", err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		part := strings.Split(entry, "\x00")
		top, ok := strings.CutPrefix(part[0], "worktree ")
		if !ok {
			continue
		}
		one, err := worktreeAt(ctx, c, top)
		if err != nil {
			return nil, nil, err
		}
		for _, said := range part[1:] {
			switch said {
			case "branch refs/heads/" + branch:
				at = append(at, one)
			case "detached":
				if one.GitDir != "" && one.Returns(branch) {
					going = append(going, one)
				}
			}
		}
	}
	return at, going, nil
}

// worktreeAt finds a worktree's git directory; none if its files are gone.
func worktreeAt(ctx context.Context, c *git.Checkout, top string) (git.Worktree, error) {
	if samePlace(top, c.Top) {
		return git.MainWorktree(c), nil
	}
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return git.Worktree{Top: top}, nil
	}
	out, err := c.Run(ctx, git.Spec{Dir: top, Env: c.Env(), Args: git.Safely([]string{"rev-parse", "--absolute-git-dir"})})
	if err != nil {
		return git.Worktree{}, fmt.Errorf("find git directory of %s: %w", top, err)
	}
	return git.Worktree{Top: top, GitDir: syntax.Line(out)}, nil
}

// samePlace reports whether two paths are the same directory.
func samePlace(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
