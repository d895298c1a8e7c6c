package transport

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrNameTaken says that a ref conflicts with another one: x/y with x, or x with x/y.
type ErrNameTaken struct {
	Ref   string
	Other string // the conflicting one; "" if the server does not say
}

func (e *ErrNameTaken) Error() string {
	if e.Other == "" {
		return fmt.Sprintf("%s cannot be made beside a ref that is there", e.Ref)
	}
	return fmt.Sprintf("%s cannot be made beside %s", e.Ref, e.Other)
}

// Mirror puts a commit that the server has at from (refs/pull/7/head) on a branch: a new one, or one at the commit at,
// which it fast-forwards. It never overwrites. *ErrNoRef says that from is missing or no longer at sha, *ErrNameTaken that
// the branch's name conflicts; other errors are those of Publish, among them *ErrRejected with Workflow if the credential
// may not push the commits' workflow files. Two network operations, one more for the files of a partial clone, and as many
// as Deepen needs for long-diverged histories.
func Mirror(ctx context.Context, c *git.Checkout, from, sha, branch, at string) error {
	p := Update{Branch: branch, Start: at, SHA: sha}
	if !syntax.ValidRef(from) || !p.valid() {
		return fmt.Errorf("mirror %q at %q as %q at %q: not refs and commit ids", from, sha, branch, at)
	}
	if err := getMirrored(ctx, c, from, sha); err != nil {
		return fmt.Errorf("mirror %s: %w", from, err)
	}
	err := Publish(ctx, c, p)
	var rejected *git.ErrRejected
	if errors.As(err, &rejected) {
		if other, taken := inTheWay(rejected.Message); taken {
			err = &ErrNameTaken{Ref: "refs/heads/" + branch, Other: other}
		}
	}
	return git.Wrap(err, "mirror %s", from)
}

// getMirrored fetches a commit with everything that the server's branches may lack.
func getMirrored(ctx context.Context, c *git.Checkout, from, sha string) error {
	const to, tip = "refs/fetched/mirrored", "refs/fetched/tip"
	if err := history.Fetch(ctx, c, append(history.Bounded(ctx, c, 0), history.Filtered(c)...), [2]string{from, to}, [2]string{"HEAD", tip}); err != nil {
		return err
	}
	if c.Refs[to] != sha {
		return &git.ErrNoRef{Ref: from + " at " + sha}
	}
	if _, err := history.FindMergeBase(ctx, c, c.Refs[tip], sha); err != nil {
		return err
	}
	return history.FetchReachable(ctx, c, sha, "^"+c.Refs[tip])
}

var wayPattern = regexp.MustCompile(`'([^']+)' exists; cannot create '|there are still refs under '|directory.file conflict|blocking reference '`)

// inTheWay parses messages of git and GitHub about a conflicting ref, and its name if they have it.
func inTheWay(said string) (ref string, ok bool) {
	m := wayPattern.FindStringSubmatch(said)
	if m == nil {
		return "", false
	}
	return m[1], true
}
