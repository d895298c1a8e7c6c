package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Stage pushes a commit to a hidden ref, wherever that ref was before. Branches and tags are refused: nothing but a
// stage is ever forced. One network operation.
func (c *Checkout) Stage(ctx context.Context, ref, sha string) error {
	if !validRef(ref) || !isSHA(sha) || strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
		return fmt.Errorf("stage %q at %q: not a hidden ref and a commit id", sha, ref)
	}
	if err := c.push(ctx, pushing(move{from: anywhere, to: sha, ref: ref})); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// Ref is a ref by its full name and the commit that it is at.
type Ref struct{ Name, SHA string }

// Publish is one move of a branch on the server.
type Publish struct {
	Branch string // without refs/heads/
	Start  string // where the branch is; "" when it must not exist yet
	SHA    string // where it goes
	Stage  string // ref to delete in the same push; "" for none
	// Drop are further refs of ours to delete in the same push: hidden ones and branches below mergexo/checkpoint/. One with
	// a SHA is deleted only where it is there still.
	Drop []Ref
}

// checkpoints is where branches are that may be deleted.
const checkpoints = "refs/heads/mergexo/checkpoint/"

// valid tells whether everything is what it is named for.
func (p Publish) valid() bool {
	hidden := func(ref string) bool { return validRef(ref) && !strings.HasPrefix(ref, "refs/heads/") }
	for _, ref := range p.Drop {
		ours := hidden(ref.Name) && !strings.HasPrefix(ref.Name, "refs/tags/") || validRef(ref.Name) && strings.HasPrefix(ref.Name, checkpoints)
		if !ours || ref.SHA != "" && !isSHA(ref.SHA) || ref.Name == "refs/heads/"+p.Branch {
			return false
		}
	}
	return validRef("refs/heads/"+p.Branch) && isSHA(p.SHA) && (p.Start == "" || isSHA(p.Start)) && (p.Stage == "" || hidden(p.Stage))
}

// Publish moves a branch and deletes the stage and what is to be dropped, atomically where the server can. The move happens
// only if the branch is at Start, or at SHA already; and SHA must descend from Start, which is asked here, since a lease
// alone allows a rewind. What is to be dropped and is not there, or where the server does not let it go, stays without an
// error. Errors are *ErrRewind, *ErrRejected, *ErrUnclear or *Error. One network operation, two more for each of these:
// the stage or something to be dropped is gone already, it is kept, the server cannot push atomically; and those of Deepen
// where the history here is too short to tell.
func (c *Checkout) Publish(ctx context.Context, p Publish) error {
	if !p.valid() {
		return fmt.Errorf("publish %q: not a branch, commit ids and refs of ours", p)
	}
	if p.Start != "" {
		if err := c.descends(ctx, p.Start, p.SHA); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	drop := p.Drop
	if p.Stage != "" {
		drop = append([]Ref{{Name: p.Stage}}, drop...)
	}
	if err := c.publish(ctx, p, drop); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// descends is ErrRewind unless sha is start or has it as an ancestor.
func (c *Checkout) descends(ctx context.Context, start, sha string) error {
	relation, err := c.Relation(ctx, start, sha)
	if err == nil && relation == model.Unknown {
		var none *ErrNoRef
		switch err = c.Deepen(ctx, start, sha); {
		case errors.As(err, &none):
			return &ErrRewind{Start: start, SHA: sha, Relation: relation}
		case err == nil:
			relation, err = c.Relation(ctx, start, sha)
		}
	}
	if err == nil && relation != model.Ahead && relation != model.Identical {
		err = &ErrRewind{Start: start, SHA: sha, Relation: relation}
	}
	return err
}

// publish makes the move along with the deletions that are left to be made.
func (c *Checkout) publish(ctx context.Context, p Publish, drop []Ref) error {
	branch := p.move()
	if len(drop) == 0 {
		return c.push(ctx, pushing(branch))
	}
	all := operation{service: receivePack, moves: append([]move{branch}, deleting(drop)...), atomic: true}
	err := c.push(ctx, all)
	left := drop
	switch said := stderrOf(err); {
	case strings.Contains(said, "remote ref does not exist"): // git found it absent and sent nothing
		left = slices.DeleteFunc(slices.Clone(drop), func(r Ref) bool {
			return strings.Contains(said, "unable to delete '"+r.Name+"': remote ref does not exist")
		})
	case strings.Contains(said, "does not support --atomic"):
		if err := c.push(ctx, pushing(branch)); err != nil {
			return err
		}
		return c.kept(c.push(ctx, pushing(deleting(drop)...)), p)
	case c.kept(err, p) == nil:
		left = slices.DeleteFunc(slices.Clone(drop), func(r Ref) bool { return r.Name != p.Stage })
	}
	if err != nil && len(left) < len(drop) {
		return c.publish(ctx, p, left)
	}
	return err
}

// kept makes nothing of an error that may come from what was to be dropped: a branch that the server protects, or that
// somebody else works on by now. Of an atomic push servers do not always say which ref was the one that they refused.
func (c *Checkout) kept(err error, p Publish) error {
	var rejected *ErrRejected
	var unclear *ErrUnclear
	if len(p.Drop) == 0 || !errors.As(err, &rejected) || errors.As(err, &unclear) {
		return err
	}
	dropped := slices.ContainsFunc(p.Drop, func(r Ref) bool { return r.Name == rejected.Ref })
	if !dropped && rejected.Reason == Stale {
		return err
	}
	c.opt.Log.Warn("refs_kept", "error", err)
	return nil
}

// deleting are the moves that delete refs.
func deleting(refs []Ref) (moves []move) {
	for _, ref := range refs {
		moves = append(moves, move{from: ref.SHA, to: nowhere, ref: ref.Name})
	}
	return moves
}

// move is that of the branch.
func (p Publish) move() move {
	return move{from: cmp.Or(p.Start, nowhere), to: p.SHA, ref: "refs/heads/" + p.Branch}
}

// push makes the moves of an operation and reads git's account of every ref
// (https://git-scm.com/docs/git-push#_output, --porcelain).
func (c *Checkout) push(ctx context.Context, allowed operation) error {
	args := []string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"}
	if allowed.atomic {
		args = append(args, "--atomic")
	}
	leases, specs := allowed.refspecs()
	out, err := c.network(ctx, allowed, nil, concat(args, leases, []string{"origin"}, specs)...)
	if err == nil {
		return nil
	}
	if rejected := refusal(string(out), stderrOf(err)); rejected != nil {
		if lockLost(rejected.Message) {
			return &ErrUnclear{Err: rejected}
		}
		return rejected
	}
	if sent(ctx, err, string(out)) {
		return &ErrUnclear{Err: err}
	}
	return err
}

// refusal reads the ref that was refused for its own sake, not because of another one in the same atomic push.
func refusal(out, stderr string) *ErrRejected {
	var found *ErrRejected
	for row := range strings.Lines(out) {
		part := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		if len(part) != 3 || part[0] != "!" || strings.Contains(part[2], "[remote failure]") {
			continue
		}
		if found != nil && strings.Contains(part[2], "atomic") {
			continue
		}
		if found == nil || strings.Contains(found.Message, "atomic") {
			_, ref, _ := strings.Cut(part[1], ":")
			found = &ErrRejected{Ref: clean(ref), Message: clean(part[2])}
		}
	}
	if found == nil {
		return nil
	}
	said := found.Message
	for row := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(row, "remote:"); ok && strings.TrimSpace(text) != "" {
			said += "; " + strings.TrimSpace(text)
		}
	}
	found.Message, found.Reason = said, reason(said)
	return found
}

// reason reads the words of git and of GitHub: GH006 is branch protection and GH013 a ruleset
// (https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules);
// "refusing to allow ... to create or update workflow ..." is GitHub's for a credential without that right.
func reason(said string) Reason {
	said = strings.ToLower(said)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(said, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has("create or update workflow"):
		return Workflow
	case has("gh006", "gh013", "protected branch", "rule violations"):
		return Protected
	case has("stale info", "fetch first", "non-fast-forward", "needs force"), lockLost(said):
		return Stale
	}
	return Other
}

// lockLost tells whether the server found a ref moved after it had told us where the ref is. Somebody was quicker; but
// that may have been this very push: curl sends a request again when a kept connection dies under it, and the second
// one meets what the first has done.
func lockLost(said string) bool {
	said = strings.ToLower(said)
	for _, word := range []string{"failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value", "reference already exists"} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// sent tells whether a push that failed without an account of its refs may have reached the server. git asks the server
// for its refs first ("unable to access" when that fails) and only then sends.
func sent(ctx context.Context, err error, out string) bool {
	if strings.Contains(out, "[remote failure]") || ctx.Err() != nil {
		return true
	}
	var failed *Error
	if !errors.As(err, &failed) {
		return false
	}
	said := strings.ToLower(failed.Stderr)
	for _, word := range []string{"rpc failed", "hung up unexpectedly", "unexpected disconnect", "early eof", "remote failed to report", "send-pack: "} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return failed.Exit < 0
}
