package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Hidden refs hold what MergeXO keeps for itself and nobody works on: one file, in a commit without parents. All that
// goes to and comes from them passes through a git directory beside the checkout, which is removed at once: the checkout
// of a runner that lives on does not fill up with it.
const (
	hiddenPrefix = "refs/mergexo/"
	hiddenFile   = "content" // git show FETCH_HEAD:content
	hiddenAbout  = "Kept by MergeXO for itself\n"
	fetchedKept  = "refs/fetched/kept"
)

// Hidden is what a hidden ref is to hold.
type Hidden struct {
	Ref     string // below refs/mergexo/
	Content []byte
}

// ErrNotKept says that a stage was pushed, and what should have been kept along with it was not.
type ErrNotKept struct{ Err error }

func (e *ErrNotKept) Error() string { return "staged, but nothing was kept: " + e.Err.Error() }
func (e *ErrNotKept) Unwrap() error { return e.Err }

// ErrTooLarge says that a hidden ref holds more than was asked for. It was not fetched, or not read.
type ErrTooLarge struct {
	Ref   string
	Limit int64 // bytes
}

func (e *ErrTooLarge) Error() string {
	return fmt.Sprintf("%s holds more than %d bytes", e.Ref, e.Limit)
}

// ErrNotOurs says that a hidden ref does not hold what Keep puts there.
type ErrNotOurs struct{ Ref string }

func (e *ErrNotOurs) Error() string {
	return fmt.Sprintf("%s was not written by MergeXO: it has no file %q", e.Ref, hiddenFile)
}

// Keep puts a file on a hidden ref, in place of whatever the ref holds. The last one wins: who reads it holds it against
// what a receipt says, and a compare-and-swap that was lost once would have to be repaired before anything is kept again.
// One network operation.
func (c *Checkout) Keep(ctx context.Context, h Hidden) error {
	if err := hidden(h.Ref); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return c.aside(false, func(a *Checkout) error {
		kept, err := a.wrap(ctx, h)
		if err == nil {
			err = a.push(ctx, pushing(kept))
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", h.Ref, err)
		}
		return nil
	})
}

// StageWith is Stage, with files for hidden refs in the same push. What is kept must never cost the work that is staged:
// where the push with both does not come through, for whatever reason, the stage is pushed alone, and when that succeeds
// the error is an *ErrNotKept. One network operation, else two.
func (c *Checkout) StageWith(ctx context.Context, ref, sha string, more ...Hidden) error {
	if len(more) == 0 {
		return c.Stage(ctx, ref, sha)
	}
	seen := []string{ref}
	for _, h := range more {
		if hidden(h.Ref) != nil || slices.Contains(seen, h.Ref) || hidden(ref) != nil || !isSHA(sha) {
			return fmt.Errorf("stage %q at %q with %q: not a commit id and different hidden refs", sha, ref, h.Ref)
		}
		seen = append(seen, h.Ref)
	}
	err := c.aside(true, func(a *Checkout) error {
		moves := []move{{from: anywhere, to: sha, ref: ref}}
		for _, h := range more {
			kept, err := a.wrap(ctx, h)
			if err != nil {
				return err
			}
			moves = append(moves, kept)
		}
		return a.push(ctx, pushing(moves...))
	})
	if err == nil {
		return nil
	}
	if alone := c.Stage(ctx, ref, sha); alone != nil {
		return alone
	}
	return &ErrNotKept{Err: err}
}

// Kept gives what Keep put on a hidden ref. Errors are *ErrNoRef, *ErrTooLarge, *ErrNotOurs or *Error. One network
// operation, and one more where the server does not leave out what is too large.
func (c *Checkout) Kept(ctx context.Context, ref string, limit int64) (content []byte, err error) {
	if err := hidden(ref); err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	err = c.aside(false, func(a *Checkout) error {
		if err := a.fetchKept(ctx, ref, limit); err != nil {
			return fmt.Errorf("fetch %s: %w", ref, err)
		}
		content, err = a.unwrap(ctx, ref, limit)
		return err
	})
	return content, err
}

// Forget deletes a hidden ref, or a checkpoint's branch. That it is gone already is no error. One network operation.
func (c *Checkout) Forget(ctx context.Context, ref string) error {
	if err := hidden(ref); err != nil && !(validRef(ref) && strings.HasPrefix(ref, checkpoints)) {
		return fmt.Errorf("forget: %w", err)
	}
	err := c.push(ctx, pushing(move{from: anywhere, to: nowhere, ref: ref}))
	// Only some ways of deleting it make git say so; see publish.
	if strings.Contains(stderrOf(err), "remote ref does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget %s: %w", ref, err)
	}
	return nil
}

// Drop deletes a checkpoint's branch where it is at its commit still: what somebody added there stays, without an error. One
// network operation.
func (c *Checkout) Drop(ctx context.Context, ref Ref) error {
	if !validRef(ref.Name) || !strings.HasPrefix(ref.Name, checkpoints) || !isSHA(ref.SHA) {
		return fmt.Errorf("drop %q at %q: not a checkpoint's branch and a commit id", ref.Name, ref.SHA)
	}
	err := c.push(ctx, pushing(deleting([]Ref{ref})...))
	var rejected *ErrRejected
	if errors.As(err, &rejected) && rejected.Reason == Stale || strings.Contains(stderrOf(err), "remote ref does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("drop %s: %w", ref.Name, err)
	}
	return nil
}

// hidden is an error for anything but a ref that is ours to force.
func hidden(ref string) error {
	if !validRef(ref) || !strings.HasPrefix(ref, hiddenPrefix) || strings.Contains(ref, "//") {
		return fmt.Errorf("%q is not a ref below %s", ref, hiddenPrefix)
	}
	return nil
}

// aside runs do on a git directory of its own, which holds no objects and is gone afterwards. When it is joined, it knows
// what the server has and sees the objects of the checkout.
func (c *Checkout) aside(joined bool, do func(*Checkout) error) error {
	a := &Checkout{opt: c.opt, program: c.program, site: c.site, basic: c.basic, calls: c.calls, person: c.person, refs: map[string]string{}}
	if joined {
		a.refs, a.boundary, a.promisor = c.refs, c.boundary, c.promisor
	}
	if err := a.renew(); err != nil {
		return err
	}
	a.objects, a.shallow = filepath.Join(a.own, "objects"), filepath.Join(a.own, "shallow")
	err := joinObjects(a.objects, c.objects, joined)
	if err == nil {
		err = do(a)
	}
	c.calls = a.calls
	if gone := os.RemoveAll(a.own); gone != nil && err == nil {
		err = fmt.Errorf("remove git directory: %w", gone)
	}
	return err
}

// joinObjects lets the objects of another directory be seen (gitrepository-layout(5), objects/info/alternates).
func joinObjects(dir, other string, joined bool) error {
	if !joined {
		return nil
	}
	err := os.Mkdir(filepath.Join(dir, "info"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(other+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("make git directory: %w", err)
	}
	return nil
}

// wrap makes the commit for a hidden ref and gives the move that puts it there.
func (c *Checkout) wrap(ctx context.Context, h Hidden) (move, error) {
	blob, err := c.tell(ctx, h.Content, "hash-object", "-w", "--stdin")
	var tree, commit []byte
	if err == nil {
		tree, err = c.tell(ctx, []byte("100644 blob "+line(blob)+"\t"+hiddenFile+"\n"), "mktree")
	}
	if err == nil {
		commit, err = c.tell(ctx, []byte(hiddenAbout), "commit-tree", line(tree), "-F", "-")
	}
	if err != nil {
		return move{}, fmt.Errorf("write what is kept: %w", err)
	}
	return move{from: anywhere, to: line(commit), ref: h.Ref}, nil
}

// fetchKept gets the newest commit of a hidden ref, without files over the limit. That makes a partial clone of the git
// directory it is run in.
func (c *Checkout) fetchKept(ctx context.Context, ref string, limit int64) error {
	fetch := func(filter ...string) error {
		args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--depth=1"}
		_, err := c.network(ctx, fetching, nil, concat(args, filter, []string{"origin", "+" + ref + ":" + fetchedKept})...)
		return errors.Join(c.missing(err, [][2]string{{ref, fetchedKept}}), c.takeShallow())
	}
	err := fetch("--filter=blob:limit=" + strconv.FormatInt(limit+1, 10)) // those of that size and more are left out
	if said := stderrOf(err); strings.Contains(said, "filter") && strings.Contains(said, "not supported") {
		return fetch("--no-filter") // the one before is remembered
	}
	return err
}

// unwrap reads the file in what fetchKept got.
func (c *Checkout) unwrap(ctx context.Context, ref string, limit int64) ([]byte, error) {
	out, err := c.ask(ctx, "ls-tree", "-z", "--full-tree", fetchedKept, "--", hiddenFile)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	entry, _, _ := strings.Cut(line(out), "\t")
	part := strings.Fields(entry)
	if err != nil || len(part) != 3 || part[0] != "100644" || part[1] != "blob" || !isSHA(part[2]) {
		return nil, &ErrNotOurs{Ref: ref}
	}
	out, err = c.ask(ctx, "cat-file", "-s", part[2])
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read what is kept: %w", ctx.Err())
	}
	// An error is that it is not here: the server has left it out.
	if size, bad := strconv.ParseInt(line(out), 10, 64); err != nil || bad != nil || size > limit {
		return nil, &ErrTooLarge{Ref: ref, Limit: limit}
	}
	if out, err = c.ask(ctx, "cat-file", "blob", part[2]); err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	return out, nil
}
