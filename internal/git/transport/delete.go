package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Rewrite moves a pull request's branch from one commit to another, which need not descend from it, and only if the branch
// is at from, or at to already. Errors are *ErrRejected, *ErrUnclear or *Error. One network operation.
func Rewrite(ctx context.Context, c *git.Checkout, branch, from, to string) error {
	return set(ctx, c, Update{Branch: branch, Start: from, SHA: to}, from != "")
}

// trainBranches is the prefix of the branches that are tested for merge trains.
const trainBranches = "mergexo/train/"

// PushCar is Rewrite for a branch of a merge train, which need not exist yet: from is "" then.
func PushCar(ctx context.Context, c *git.Checkout, branch, from, to string) error {
	return set(ctx, c, Update{Branch: branch, Start: from, SHA: to}, strings.HasPrefix(branch, trainBranches))
}

// set moves a branch that may be moved to any commit.
func set(ctx context.Context, c *git.Checkout, p Update, may bool) error {
	if !may || !p.valid() {
		return fmt.Errorf("set %q from %q to %q: not a branch of that kind and commit ids", p.Branch, p.Start, p.SHA)
	}
	return git.Wrap(push(ctx, c, p.move()), "set %s", p.Branch)
}

// Delete deletes branches and private refs on the server, each only if it is still at its commit. A missing one is no
// error; of those that stay, the first is an *ErrRejected, and the others are deleted nevertheless. One network operation;
// one more if a ref is missing, has moved or is protected, or the answer is unclear: then it lists the server's refs.
func Delete(ctx context.Context, c *git.Checkout, refs ...git.Ref) error {
	_, moved, err := deleteRefs(ctx, c, refs)
	if err = errors.Join(moved, err); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// deletions is how many refs one push deletes: that many fit into an argument list.
const deletions = 1000

// DeleteAll is Delete for many refs. left are those that stay, because somebody moved them, which is no error, or because
// the server refuses, which is an *ErrRejected with the server's text about the first. The others are deleted. After any
// other error the state of the rest is unknown.
func DeleteAll(ctx context.Context, c *git.Checkout, refs []git.Ref) (left []git.Ref, err error) {
	for len(refs) > 0 {
		some := refs[:min(len(refs), deletions)]
		refs = refs[len(some):]
		kept, _, failed := deleteRefs(ctx, c, some)
		left = append(left, kept...)
		if failed == nil {
			continue
		}
		if err == nil {
			err = fmt.Errorf("delete: %w", failed)
		}
		var rejected *git.ErrRejected
		if !errors.As(failed, &rejected) { // the next ones would fail, too
			return append(left, refs...), err
		}
	}
	return left, err
}

// deleteRefs deletes refs in one push; left are those that stay, and moved describes the first one that has moved.
func deleteRefs(ctx context.Context, c *git.Checkout, refs []git.Ref) (left []git.Ref, moved, err error) {
	for _, ref := range refs {
		ours := strings.HasPrefix(ref.Name, "refs/heads/") || checkPrivate(ref.Name) == nil
		if !ours || !syntax.ValidRef(ref.Name) || !syntax.IsSHA(ref.SHA) {
			return refs, nil, fmt.Errorf("delete %q at %q: not a branch or a hidden ref and a commit id", ref.Name, ref.SHA)
		}
	}
	for try := 0; len(refs) > 0; try++ {
		err := push(ctx, c, deleting(refs)...)
		if err == nil {
			return left, moved, nil
		}
		if !git.Unsure(err) && rejection(err) == nil {
			return append(left, refs...), moved, err
		}
		// Git reports a missing ref and a moved one alike.
		there, elsewhere, first, asked := still(ctx, c, refs)
		if asked != nil {
			return append(left, refs...), moved, asked
		}
		left = append(left, elsewhere...)
		if moved == nil {
			moved = first
		}
		if refs = there; len(refs) > 0 && (!git.Unsure(err) || try == 2) {
			return append(left, refs...), moved, err
		}
	}
	return left, moved, nil
}

// still splits the refs into unmoved and moved ones; moved describes the first of these.
func still(ctx context.Context, c *git.Checkout, refs []git.Ref) (there, elsewhere []git.Ref, moved, err error) {
	names := make([]string, 0, len(refs))
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	now, err := history.RemoteRefs(ctx, c, names...)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, ref := range refs {
		switch at := now[ref.Name]; {
		case at == ref.SHA:
			there = append(there, ref)
		case at != "":
			if elsewhere = append(elsewhere, ref); moved == nil {
				moved = &git.ErrRejected{Ref: ref.Name, Reason: git.Stale, Message: "it is at " + at + " by now"}
			}
		}
	}
	return there, elsewhere, moved, nil
}

// BranchTip is the current commit of a branch on the server, "" if there is none. One network operation.
func BranchTip(ctx context.Context, c *git.Checkout, branch string) (sha string, err error) {
	found, err := history.RemoteRefs(ctx, c, "refs/heads/"+branch)
	return found["refs/heads/"+branch], err
}
