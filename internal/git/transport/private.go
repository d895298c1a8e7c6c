package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Private refs hold what MergeXO keeps for itself and nobody works on: one file, in a commit without parents. All that
// goes to and comes from them passes through a separate git directory, which is removed at once: the checkout
// of a runner that lives on does not fill up with it.
const (
	privatePrefix  = "refs/mergexo/"
	privateFile    = "content" // git show FETCH_HEAD:content
	privateAbout   = "Kept by MergeXO for itself\n"
	fetchedPrivate = "refs/fetched/kept"
)

// PrivateRef is what a private ref is to hold.
type PrivateRef struct {
	Ref     string // below refs/mergexo/
	Content []byte
}

// ErrNotKept says that a stage was pushed, and what should have been kept along with it was not.
type ErrNotKept struct{ Err error }

func (e *ErrNotKept) Error() string { return "staged, but nothing was kept: " + e.Err.Error() }

func (e *ErrNotKept) Unwrap() error { return e.Err }

// ErrTooLarge says that a private ref holds more than was asked for. It was not fetched, or not read.
type ErrTooLarge struct {
	Ref   string
	Limit int64 // bytes
}

func (e *ErrTooLarge) Error() string {
	return fmt.Sprintf("%s holds more than %d bytes", e.Ref, e.Limit)
}

// ErrNotOurs says that a private ref does not hold what WritePrivate puts there.
type ErrNotOurs struct{ Ref string }

func (e *ErrNotOurs) Error() string {
	return fmt.Sprintf("%s was not written by MergeXO: it has no file %q", e.Ref, privateFile)
}

// WritePrivate puts a file on a private ref, in place of whatever the ref holds. The last one wins: who reads it holds it against
// what a receipt says, and a compare-and-swap that was lost once would have to be repaired before anything is kept again.
// One network operation.
func WritePrivate(ctx context.Context, c *git.Checkout, h PrivateRef) error {
	if err := checkPrivate(h.Ref); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return git.InSeparateDir(c, false, func(a *git.Checkout) error {
		kept, err := privateCommit(ctx, a, h)
		if err == nil {
			err = push(ctx, a, relay.Pushing(kept))
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", h.Ref, err)
		}
		return nil
	})
}

// StageWithPrivate is Stage, with files for private refs in the same push. What is kept must never cost the work that is staged:
// where the push with both does not come through, for whatever reason, the stage is pushed alone, and when that succeeds
// the error is an *ErrNotKept. One network operation, else two.
func StageWithPrivate(ctx context.Context, c *git.Checkout, ref, sha string, more ...PrivateRef) error {
	if len(more) == 0 {
		return Stage(ctx, c, ref, sha)
	}
	seen := []string{ref}
	for _, h := range more {
		if checkPrivate(h.Ref) != nil || slices.Contains(seen, h.Ref) || checkPrivate(ref) != nil || !syntax.IsSHA(sha) {
			return fmt.Errorf("stage %q at %q with %q: not a commit id and different hidden refs", sha, ref, h.Ref)
		}
		seen = append(seen, h.Ref)
	}
	err := git.InSeparateDir(c, true, func(a *git.Checkout) error {
		moves := []relay.Move{{From: relay.AnyID, To: sha, Ref: ref}}
		for _, h := range more {
			kept, err := privateCommit(ctx, a, h)
			if err != nil {
				return err
			}
			moves = append(moves, kept)
		}
		return push(ctx, a, relay.Pushing(moves...))
	})
	if err == nil {
		return nil
	}
	if alone := Stage(ctx, c, ref, sha); alone != nil {
		return alone
	}
	return &ErrNotKept{Err: err}
}

// ReadPrivate returns what WritePrivate put on a private ref. Errors are *ErrNoRef, *ErrTooLarge, *ErrNotOurs or *Error. One network
// operation, and one more where the server does not leave out what is too large.
func ReadPrivate(ctx context.Context, c *git.Checkout, ref string, limit int64) (content []byte, err error) {
	if err := checkPrivate(ref); err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	err = git.InSeparateDir(c, false, func(a *git.Checkout) error {
		if err := fetchPrivate(ctx, a, ref, limit); err != nil {
			return fmt.Errorf("fetch %s: %w", ref, err)
		}
		content, err = readPrivateFile(ctx, a, ref, limit)
		return err
	})
	return content, err
}

// DeletePrivate deletes a private ref, or a checkpoint's branch. That it is gone already is no error. One network operation.
func DeletePrivate(ctx context.Context, c *git.Checkout, ref string) error {
	if err := checkPrivate(ref); err != nil && !(syntax.ValidRef(ref) && strings.HasPrefix(ref, checkpoints)) {
		return fmt.Errorf("forget: %w", err)
	}
	err := push(ctx, c, relay.Pushing(relay.Move{From: relay.AnyID, To: relay.ZeroID, Ref: ref}))
	// Only some ways of deleting it make git say so; see publish.
	if strings.Contains(git.StderrOf(err), "remote ref does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget %s: %w", ref, err)
	}
	return nil
}

// DeleteCheckpoint deletes a checkpoint's branch where it is at its commit still: what somebody added there stays, without an error. One
// network operation.
func DeleteCheckpoint(ctx context.Context, c *git.Checkout, ref git.Ref) error {
	if !syntax.ValidRef(ref.Name) || !strings.HasPrefix(ref.Name, checkpoints) || !syntax.IsSHA(ref.SHA) {
		return fmt.Errorf("drop %q at %q: not a checkpoint's branch and a commit id", ref.Name, ref.SHA)
	}
	err := push(ctx, c, relay.Pushing(deleting([]git.Ref{ref})...))
	var rejected *git.ErrRejected
	if errors.As(err, &rejected) && rejected.Reason == git.Stale || strings.Contains(git.StderrOf(err), "remote ref does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("drop %s: %w", ref.Name, err)
	}
	return nil
}

// checkPrivate is an error for anything but a ref that is ours to force.
func checkPrivate(ref string) error {
	if !syntax.ValidRef(ref) || !strings.HasPrefix(ref, privatePrefix) || strings.Contains(ref, "//") {
		return fmt.Errorf("%q is not a ref below %s", ref, privatePrefix)
	}
	return nil
}

// privateCommit makes the commit for a private ref and gives the move that puts it there.
func privateCommit(ctx context.Context, c *git.Checkout, h PrivateRef) (relay.Move, error) {
	blob, err := c.Tell(ctx, h.Content, "hash-object", "-w", "--stdin")
	var tree, commit []byte
	if err == nil {
		tree, err = c.Tell(ctx, []byte("100644 blob "+syntax.Line(blob)+"\t"+privateFile+"\n"), "mktree")
	}
	if err == nil {
		commit, err = c.Tell(ctx, []byte(privateAbout), "commit-tree", syntax.Line(tree), "-F", "-")
	}
	if err != nil {
		return relay.Move{}, fmt.Errorf("write what is kept: %w", err)
	}
	return relay.Move{From: relay.AnyID, To: syntax.Line(commit), Ref: h.Ref}, nil
}

// fetchPrivate gets the newest commit of a private ref, without files over the limit. That makes a partial clone of the git
// directory it is run in.
func fetchPrivate(ctx context.Context, c *git.Checkout, ref string, limit int64) error {
	get := func(filter ...string) error {
		_, err := c.Network(ctx, relay.Fetching, nil, slices.Concat(fetch.Command, []string{"--depth=1"}, filter, []string{"origin", "+" + ref + ":" + fetchedPrivate})...)
		return errors.Join(fetch.MissingRef(c, err, [][2]string{{ref, fetchedPrivate}}), c.TakeShallow())
	}
	err := get("--filter=blob:limit=" + strconv.FormatInt(limit+1, 10)) // those of that size and more are left out
	if said := git.StderrOf(err); strings.Contains(said, "filter") && strings.Contains(said, "not supported") {
		return get("--no-filter") // the one before is remembered
	}
	return err
}

// readPrivateFile reads the file in what fetchPrivate got.
func readPrivateFile(ctx context.Context, c *git.Checkout, ref string, limit int64) ([]byte, error) {
	out, err := c.Ask(ctx, "ls-tree", "-z", "--full-tree", fetchedPrivate, "--", privateFile)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	entry, _, _ := strings.Cut(syntax.Line(out), "\t")
	part := strings.Fields(entry)
	if err != nil || len(part) != 3 || part[0] != "100644" || part[1] != "blob" || !syntax.IsSHA(part[2]) {
		return nil, &ErrNotOurs{Ref: ref}
	}
	out, err = c.Ask(ctx, "cat-file", "-s", part[2])
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	// An error is that it is not here: the server has left it out.
	if size, bad := strconv.ParseInt(syntax.Line(out), 10, 64); err != nil || bad != nil || size > limit {
		return nil, &ErrTooLarge{Ref: ref, Limit: limit}
	}
	if out, err = c.Ask(ctx, "cat-file", "blob", part[2]); err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	return out, nil
}
