package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// A bundle carries a turn's commits from the agent's job to the one that may push. It has a header
// (https://git-scm.com/docs/gitformat-bundle) and a pack. Ours is always version 2, with one ref and a self-contained pack:
// a thin one would have to be completed from the checkout's objects before it could be checked.

// BundleRef is the one ref in a bundle for the other job.
const BundleRef = "refs/mergexo/handoff"

// Limits of a bundle. The agent's job decides what is in it, so each limit protects the other job.
const (
	MaxBundle        = 1 << 30   // bytes of the file
	maxBundleObjects = 200_000   // new commits, trees and files
	maxPrerequisites = 256       // commits that must exist already
	maxBundleHeader  = 64 << 10  // bytes before the pack
	maxCommit        = 1 << 20   // bytes of one commit, its message included
	maxTree          = 32 << 20  // bytes of one tree object
	maxInflated      = 256 << 20 // memory that git may allocate at once for one object
)

// BundleReason is why a bundle was refused.
type BundleReason string

// The reasons.
const (
	BundleUnreadable   BundleReason = "unreadable"   // not a regular file of its own
	BundleTooLarge     BundleReason = "too_large"    // over one of the limits
	BundleFormat       BundleReason = "format"       // not the header of a bundle
	BundleRefs         BundleReason = "refs"         // not the one requested ref
	BundleHead         BundleReason = "head"         // the planned head is not what it holds
	BundlePrerequisite BundleReason = "prerequisite" // it builds on commits that are not on the server's branches
	BundleCorrupt      BundleReason = "corrupt"      // its pack cannot be read
	BundleMalformed    BundleReason = "malformed"    // git refuses one of its objects
	BundleIncomplete   BundleReason = "incomplete"   // objects are missing
	BundleStray        BundleReason = "stray"        // it has objects that its commits do not need
	BundleRewrite      BundleReason = "rewrite"      // the planned head does not descend from the start head
)

// ErrBundle says why a bundle was refused, or could not be made. Nothing was imported.
type ErrBundle struct {
	Reason BundleReason
	Detail string
	Err    error // git's error, if any
}

func (e *ErrBundle) Error() string { return fmt.Sprintf("bundle refused (%s): %s", e.Reason, e.Detail) }

func (e *ErrBundle) Unwrap() error { return e.Err }

func refuse(reason BundleReason, format string, args ...any) *ErrBundle {
	return &ErrBundle{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// WriteBundle writes the commits of start..head, without those that the server's branches had at the last fetch, to a file,
// which it replaces. *ErrRewind if head does not descend from start, *ErrBundle if it is too large or needs missing
// history. Network operations only if the history here is too short.
func WriteBundle(ctx context.Context, c *git.Checkout, file, start, head string) error {
	return writeBundle(ctx, c, file, BundleRef, start, head)
}

// WriteBundleForPerson is WriteBundle for a person with a clone: `git fetch FILE BRANCH` imports it there.
func WriteBundleForPerson(ctx context.Context, c *git.Checkout, file, branch, start, head string) error {
	if !syntax.ValidRef("refs/heads/" + branch) {
		return fmt.Errorf("bundle for a person: %q is not a branch", branch)
	}
	return writeBundle(ctx, c, file, "refs/heads/"+branch, start, head)
}

func writeBundle(ctx context.Context, c *git.Checkout, file, ref, start, head string) error {
	if !syntax.IsSHA(start) || !syntax.IsSHA(head) || start == head {
		return fmt.Errorf("bundle %q..%q: not two commit ids", start, head)
	}
	if err := descends(ctx, c, start, head); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	needs, err := prerequisites(ctx, c, start, head)
	if err != nil {
		return fmt.Errorf("bundle %s..%s: %w", start, head, err)
	}
	err = git.WriteWhole(file, ".mergexo-", 0o600, func(to io.Writer) error {
		return writePack(ctx, c, &capped{to: to, left: MaxBundle}, ref, head, needs)
	})
	return git.Wrap(err, "write bundle")
}

// prerequisites are the parents outside the bundle: the start head as a rule, and merged commits.
func prerequisites(ctx context.Context, c *git.Checkout, start, head string) ([]string, error) {
	args := []string{"rev-list", "--boundary", head, "^" + start}
	for _, tip := range history.FetchedTips(c) {
		args = append(args, "^"+tip)
	}
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var needs []string
	ends := history.Ends(c)
	for id := range strings.FieldsSeq(string(out)) {
		if need, ok := strings.CutPrefix(id, "-"); ok {
			needs = append(needs, need)
		} else if ends[id] {
			return nil, refuse(BundleIncomplete, "the history behind %s, which was merged, is not here", id)
		}
	}
	if len(needs) > maxPrerequisites {
		return nil, refuse(BundleTooLarge, "%d commits to build on, at most %d", len(needs), maxPrerequisites)
	}
	if len(needs) == 0 { // all of it is on the server: the head fast-forwarded to others' work
		needs = []string{head}
	}
	return needs, nil
}

// writePack writes a bundle with what head has and its prerequisites lack.
func writePack(ctx context.Context, c *git.Checkout, to io.Writer, ref, head string, needs []string) error {
	var text, revs bytes.Buffer
	text.WriteString(bundleV2)
	revs.WriteString(head + "\n")
	for _, need := range needs {
		text.WriteString("-" + need + "\n")
		revs.WriteString("^" + need + "\n")
	}
	text.WriteString(head + " " + ref + "\n\n")
	if _, err := to.Write(text.Bytes()); err != nil {
		return err
	}
	// --no-sparse and no bitmaps: exactly the objects of rev-list, which the reader counts.
	_, err := c.Run(ctx, git.Spec{
		Dir: c.OwnDir, Env: c.OwnEnv(), Stdin: revs.Bytes(), Output: to,
		Args: git.Safely([]string{
			"-c", "pack.useBitmaps=false", "pack-objects", "--quiet", "--stdout", "--revs", "--no-sparse", "--delta-base-offset",
		}),
	})
	if full, ok := to.(*capped); ok && full.left < 0 {
		return refuse(BundleTooLarge, "over %d bytes", MaxBundle)
	}
	return err
}

// capped passes on a limited number of bytes.
type capped struct {
	to   io.Writer
	left int64
}

func (w *capped) Write(p []byte) (int, error) {
	if w.left -= int64(len(p)); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return w.to.Write(p)
}
