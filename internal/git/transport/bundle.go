package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// A bundle carries the commits of a turn from the job in which the agent worked to the one that may push. It has a header
// (https://git-scm.com/docs/gitformat-bundle) and a pack. Ours is always of version 2, with one ref and a pack that needs
// nothing to be read but itself: a thin one would have to be completed from the objects of the checkout before anything
// about it is known.

// BundleRef is the one ref in a bundle for the other job.
const BundleRef = "refs/mergexo/handoff"

// What a bundle may hold at most. The agent's job decides what is in it, so each limit keeps the other job from being worn
// out by it.
const (
	MaxBundle        = 1 << 30   // bytes of the file
	maxBundleObjects = 200_000   // new commits, trees and files
	maxPrerequisites = 256       // commits that have to be there already
	maxBundleHeader  = 64 << 10  // bytes before the pack
	maxCommit        = 1 << 20   // bytes of one commit, its message included
	maxTree          = 32 << 20  // bytes of one directory's listing
	maxInflated      = 256 << 20 // bytes that git may allocate at once for one object
)

// BundleReason says what of a bundle does not hold.
type BundleReason string

// The reasons.
const (
	BundleUnreadable   BundleReason = "unreadable"   // not a regular file of its own
	BundleTooLarge     BundleReason = "too_large"    // over one of the limits
	BundleFormat       BundleReason = "format"       // not the header of a bundle
	BundleCapability   BundleReason = "capability"   // it wants of its reader what we do not do
	BundleRefs         BundleReason = "refs"         // not the one ref that was asked for
	BundleHead         BundleReason = "head"         // the planned head is not what it holds
	BundlePrerequisite BundleReason = "prerequisite" // it builds on commits that the server's branches do not have
	BundleCorrupt      BundleReason = "corrupt"      // its pack cannot be read
	BundleMalformed    BundleReason = "malformed"    // an object in it is one that git refuses
	BundleIncomplete   BundleReason = "incomplete"   // objects are missing
	BundleStray        BundleReason = "stray"        // there are objects in it that its commits do not need
	BundleRewrite      BundleReason = "rewrite"      // the planned head does not descend from the start head
)

// ErrBundle says why a bundle was refused, or could not be made. Nothing was taken in.
type ErrBundle struct {
	Reason BundleReason
	Detail string
	Err    error // what git said, if it was asked
}

func (e *ErrBundle) Error() string { return fmt.Sprintf("bundle refused (%s): %s", e.Reason, e.Detail) }

func (e *ErrBundle) Unwrap() error { return e.Err }

func refuse(reason BundleReason, format string, args ...any) *ErrBundle {
	return &ErrBundle{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// WriteBundle writes the commits of start..head, without those that a branch of the server had when it was fetched last,
// to a file, which it replaces. *ErrRewind when head does not descend from start, *ErrBundle when it is too large or
// needs history that is not here. Network operations only where the history here is too short to tell.
func WriteBundle(ctx context.Context, c *git.Checkout, file, start, head string) error {
	return writeBundle(ctx, c, file, BundleRef, start, head)
}

// WriteBundleForPerson is WriteBundle for a person, who has a clone of the repository: `git fetch FILE BRANCH` gets the commits there.
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
	out, err := os.CreateTemp(filepath.Dir(file), ".mergexo-")
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	err = writePack(ctx, c, &capped{to: out, left: MaxBundle}, ref, head, needs)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write bundle: %w", errors.Join(err, os.Remove(out.Name())))
	}
	return nil
}

// prerequisites are the commits that the ones to be bundled sit on: the start head as a rule, and what was merged.
func prerequisites(ctx context.Context, c *git.Checkout, start, head string) ([]string, error) {
	args := []string{"rev-list", "--boundary", head, "^" + start}
	for _, tip := range fetch.Tips(c) {
		args = append(args, "^"+tip)
	}
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	ends := map[string]bool{}
	for row := range strings.Lines(string(c.Boundary)) {
		ends[row] = true
	}
	var needs []string
	for row := range strings.Lines(string(out)) {
		if need, ok := strings.CutPrefix(strings.TrimSuffix(row, "\n"), "-"); ok {
			needs = append(needs, need)
		} else if ends[row] {
			return nil, refuse(BundleIncomplete, "the history behind %s, which was merged, is not here", strings.TrimSpace(row))
		}
	}
	if len(needs) > maxPrerequisites {
		return nil, refuse(BundleTooLarge, "%d commits to build on, at most %d", len(needs), maxPrerequisites)
	}
	if len(needs) == 0 { // all of it is on the server: the head moved forward on what others did
		needs = []string{head}
	}
	return needs, nil
}

// writePack writes a bundle of what head has and its prerequisites do not.
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
	// --no-sparse and no bitmaps: exactly the objects that rev-list finds, which is what the reader counts.
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

// capped passes on what is written up to a number of bytes.
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
