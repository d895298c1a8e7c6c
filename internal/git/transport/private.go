package transport

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Private refs hold MergeXO's own data: one file, in a commit without parents. Everything to and from them passes through a
// temporary git directory, so that the checkout of a persistent runner does not fill up with it.
const (
	privatePrefix  = "refs/mergexo/"
	privateFile    = "content" // git show FETCH_HEAD:content
	privateAbout   = "Kept by MergeXO for itself\n"
	fetchedPrivate = "refs/fetched/kept"
)

// PrivateRef is the content for a private ref.
type PrivateRef struct {
	Ref     string // below refs/mergexo/
	Content []byte
}

// ErrNotKept says that a stage was pushed, but not the private refs along with it.
type ErrNotKept struct{ Err error }

func (e *ErrNotKept) Error() string { return "staged, but nothing was kept: " + e.Err.Error() }

func (e *ErrNotKept) Unwrap() error { return e.Err }

// ErrTooLarge says that a private ref exceeds the limit. It was not fetched, or not read.
type ErrTooLarge struct {
	Ref   string
	Limit int64 // bytes
}

func (e *ErrTooLarge) Error() string {
	return fmt.Sprintf("%s holds more than %d bytes", e.Ref, e.Limit)
}

// ErrNotOurs says that a private ref does not hold what WritePrivate writes.
type ErrNotOurs struct{ Ref string }

func (e *ErrNotOurs) Error() string {
	return fmt.Sprintf("%s was not written by MergeXO: it has no file %q", e.Ref, privateFile)
}

// WritePrivate replaces the content of a private ref. The last write wins: readers check the content against a receipt, and
// a failed compare-and-swap would block all later writes until it was repaired. One network operation.
func WritePrivate(ctx context.Context, c *git.Checkout, h PrivateRef) error {
	_, err := writePrivate(ctx, c, h, relay.AnyID)
	return err
}

// SwapPrivate replaces the content of a private ref that is still at the commit was, "" for a missing one, and returns the
// commit that it is at then. If somebody was faster the error is a *git.ErrRejected with the reason Stale; after a
// *git.ErrUnclear only the ref tells what happened. One network operation.
func SwapPrivate(ctx context.Context, c *git.Checkout, h PrivateRef, was string) (sha string, err error) {
	return writePrivate(ctx, c, h, cmp.Or(was, relay.ZeroID))
}

// writePrivate replaces the content of a private ref that is at a commit.
func writePrivate(ctx context.Context, c *git.Checkout, h PrivateRef, from string) (sha string, err error) {
	if err := checkPrivate(h.Ref); err != nil {
		return "", fmt.Errorf("keep: %w", err)
	}
	if from != relay.AnyID && !syntax.IsSHA(from) {
		return "", fmt.Errorf("keep %s in place of %q: not a commit id", h.Ref, from)
	}
	err = git.InSeparateDir(c, false, func(a *git.Checkout) error {
		move, err := privateCommit(a, h)
		if err != nil {
			return err
		}
		move.From, sha = from, move.To
		return push(ctx, a, move)
	})
	return sha, git.Wrap(err, "keep %s", h.Ref)
}

// TrainRefs is where the manifests of merge trains are, one below it for each base.
const TrainRefs = privatePrefix + "train/"

// TrainRef is the private ref of the manifest of a base branch's merge train.
func TrainRef(base string) string { return TrainRefs + flatName(base) }

// TrainBase is the base branch whose train's manifest is at a ref; false: the name does not tell, or it is no such ref.
func TrainBase(ref string) (base string, is bool) {
	flat, is := strings.CutPrefix(ref, TrainRefs)
	base = strings.NewReplacer("%2F", "/", "%25", "%").Replace(flat)
	return base, is && TrainRef(base) == ref
}

// Stage pushes a commit to a private ref, whatever the ref was at, with further private refs in the same push. Branches and tags
// are refused: only what is private is ever forced. The further refs must never cost the staged work: if the push of all fails,
// for whatever reason, the stage is pushed alone, and if that succeeds the error is an *ErrNotKept. One network operation, else
// two.
func Stage(ctx context.Context, c *git.Checkout, ref, sha string, more ...PrivateRef) error {
	seen := []string{ref}
	for _, h := range more {
		if checkPrivate(h.Ref) != nil || slices.Contains(seen, h.Ref) {
			return fmt.Errorf("stage %q with %q: not different hidden refs", ref, h.Ref)
		}
		seen = append(seen, h.Ref)
	}
	if checkPrivate(ref) != nil || !syntax.IsSHA(sha) {
		return fmt.Errorf("stage %q at %q: not a hidden ref and a commit id", sha, ref)
	}
	stage := relay.Move{From: relay.AnyID, To: sha, Ref: ref}
	failed := error(nil)
	if len(more) > 0 {
		failed = git.InSeparateDir(c, true, func(a *git.Checkout) error {
			moves := []relay.Move{stage}
			for _, h := range more {
				kept, err := privateCommit(a, h)
				if err != nil {
					return err
				}
				moves = append(moves, kept)
			}
			return push(ctx, a, moves...)
		})
		if failed == nil {
			return nil
		}
	}
	if err := push(ctx, c, stage); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	if failed != nil {
		return &ErrNotKept{Err: failed}
	}
	return nil
}

// ReadPrivate returns what WritePrivate wrote to a private ref. Errors are *ErrNoRef, *ErrTooLarge, *ErrNotOurs or *Error.
// One network operation, and one more if the server does not filter large files.
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

// Forget deletes a private ref, or a checkpoint's branch. With a commit it deletes only what is still there. A missing one is no
// error, nor is one that has moved. One network operation.
func Forget(ctx context.Context, c *git.Checkout, ref git.Ref) error {
	checkpoint := syntax.ValidRef(ref.Name) && strings.HasPrefix(ref.Name, checkpoints)
	if !checkpoint && checkPrivate(ref.Name) != nil || ref.SHA != "" && !syntax.IsSHA(ref.SHA) {
		return fmt.Errorf("forget %q at %q: not a hidden ref or a checkpoint's branch, and a commit id", ref.Name, ref.SHA)
	}
	err := push(ctx, c, deleting([]git.Ref{ref})...)
	rejected := (*git.ErrRejected)(nil)
	// Only some ways of deleting it make git say so; see publish.
	moved := ref.SHA != "" && errors.As(err, &rejected) && rejected.Reason == git.Stale
	if moved || strings.Contains(git.StderrOf(err), "remote ref does not exist") {
		return nil
	}
	return git.Wrap(err, "forget %s", ref.Name)
}

// checkPrivate is an error unless the ref is ours to force-push.
func checkPrivate(ref string) error {
	if !syntax.ValidRef(ref) || !strings.HasPrefix(ref, privatePrefix) || strings.Contains(ref, "//") {
		return fmt.Errorf("%q is not a ref below %s", ref, privatePrefix)
	}
	return nil
}

// privateCommit makes the commit for a private ref and returns its move.
func privateCommit(c *git.Checkout, h PrivateRef) (relay.Move, error) {
	blob, err := git.WriteObject(c, "blob", h.Content)
	var tree, commit string
	if err == nil {
		id, _ := hex.DecodeString(blob)
		tree, err = git.WriteObject(c, "tree", fmt.Appendf(nil, "100644 %s\x00%s", privateFile, id))
	}
	if err == nil {
		commit, err = git.WriteCommit(c, tree, privateAbout)
	}
	if err != nil {
		return relay.Move{}, fmt.Errorf("write what is kept: %w", err)
	}
	return relay.Move{From: relay.AnyID, To: commit, Ref: h.Ref}, nil
}

// fetchPrivate fetches the newest commit of a private ref, without files over the limit. That makes its git directory a
// partial clone.
func fetchPrivate(ctx context.Context, c *git.Checkout, ref string, limit int64) error {
	get := func(filter ...string) error {
		return history.Order{Wants: [][2]string{{ref, fetchedPrivate}}, Options: append([]string{"--depth=1"}, filter...)}.Do(ctx, c)
	}
	err := get("--filter=blob:limit=" + strconv.FormatInt(limit+1, 10)) // omits files of at least that size
	if said := git.StderrOf(err); strings.Contains(said, "filter") && strings.Contains(said, "not supported") {
		return get("--no-filter") // git remembers the filter otherwise
	}
	return err
}

// readPrivateFile reads the file that fetchPrivate fetched.
func readPrivateFile(ctx context.Context, c *git.Checkout, ref string, limit int64) ([]byte, error) {
	there, err := git.Entries(ctx, c, fetchedPrivate, []string{privateFile})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	at := there[privateFile]
	if err != nil || at.Mode() != "100644" {
		return nil, &ErrNotOurs{Ref: ref}
	}
	found, err := git.Inspect(ctx, c, at.ID())
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	if err != nil || found[0].ID == "" || found[0].Size > limit { // an error means that the server left it out
		return nil, &ErrTooLarge{Ref: ref, Limit: limit}
	}
	out, err := c.Ask(ctx, "cat-file", "blob", at.ID())
	return out, git.Wrap(err, "read what is kept")
}
