// Package transport moves work between repositories: pushes with leases, locks and private refs, mirrors of forks, and bundles
// from the agent's job to the one that may push.
package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// Update is one move of a branch on the server.
type Update struct {
	Branch string // without refs/heads/
	Start  string // the branch's current commit; "" if it must not exist yet
	SHA    string // its new commit
	Stage  string // ref to delete in the same push; "" for none
	// Drop are further refs of ours to delete in the same push: private ones and branches below mergexo/checkpoint/. One
	// with a SHA is deleted only if it is still there.
	Drop []git.Ref
}

// checkpoints is the prefix of branches that may be deleted.
const checkpoints = "refs/heads/mergexo/checkpoint/"

// valid reports whether every field is well-formed.
func (p Update) valid() bool {
	hidden := func(ref string) bool { return syntax.ValidRef(ref) && !strings.HasPrefix(ref, "refs/heads/") }
	for _, ref := range p.Drop {
		ours := hidden(ref.Name) && !strings.HasPrefix(ref.Name, "refs/tags/") || syntax.ValidRef(ref.Name) && strings.HasPrefix(ref.Name, checkpoints)
		if !ours || ref.SHA != "" && !syntax.IsSHA(ref.SHA) || ref.Name == "refs/heads/"+p.Branch {
			return false
		}
	}
	return syntax.ValidRef("refs/heads/"+p.Branch) && syntax.IsSHA(p.SHA) && (p.Start == "" || syntax.IsSHA(p.Start)) && (p.Stage == "" || hidden(p.Stage))
}

// Publish moves a branch and deletes the stage and what is to be dropped, atomically where the server can and takes so many refs
// in one push, else the branch first: so nothing that holds the work goes before the branch has it. The move happens
// only if the branch is at Start, or at SHA already; and SHA must descend from Start, which is asked here, since a lease
// alone allows a rewind. What is to be dropped and is not there, or where the server does not let it go, stays without an
// error. Errors are *ErrRewind, *ErrRejected, *ErrUnclear or *Error; what fails after the branch has moved is *ErrUnclear. One
// network operation, two more for each of these: the stage or something to be dropped is gone already, it is kept, the server
// cannot push atomically or takes fewer refs; and those of Deepen where the history here is too short to tell.
func Publish(ctx context.Context, c *git.Checkout, p Update) error {
	if !p.valid() {
		return fmt.Errorf("publish %q: not a branch, commit ids and refs of ours", p)
	}
	if p.Start != "" {
		if err := descends(ctx, c, p.Start, p.SHA); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	drop := p.Drop
	if p.Stage != "" {
		drop = append([]git.Ref{{Name: p.Stage}}, drop...)
	}
	return git.Wrap(publish(ctx, c, p, drop), "publish")
}

// descends is ErrRewind unless sha is start or has it as an ancestor.
func descends(ctx context.Context, c *git.Checkout, start, sha string) error {
	relation, err := history.Relate(ctx, c, start, sha)
	return grows(start, sha, relation, err)
}

// grows makes *ErrRewind of a relation, or of a commit that the server no longer has.
func grows(start, sha string, relation model.Relation, err error) error {
	if git.IsNoRef(err) || err == nil && relation != model.Ahead && relation != model.Identical {
		return &git.ErrRewind{Start: start, SHA: sha, Relation: relation}
	}
	return err
}

// publish makes the move along with the deletions that are left to be made. Where the server takes fewer refs in one push, those
// that are too many are deleted afterwards.
func publish(ctx context.Context, c *git.Checkout, p Update, drop []git.Ref) error {
	branch := p.move()
	if len(drop) == 0 {
		return push(ctx, c, branch)
	}
	if most := c.MostRefs; most > 0 && len(drop) >= most {
		if err := publish(ctx, c, p, drop[:most-1]); err != nil {
			return err
		}
		return dropAfter(ctx, c, drop[most-1:])
	}
	err := pushAll(ctx, c, append([]relay.Move{branch}, deleting(drop)...)...)
	if learn(c, err) {
		return publish(ctx, c, p, drop)
	}
	left := drop
	switch said := git.StderrOf(err); {
	case strings.Contains(said, "remote ref does not exist"): // git found it absent and sent nothing
		left = present(drop, said)
	case strings.Contains(said, "does not support --atomic"):
		if err := push(ctx, c, branch); err != nil {
			return err
		}
		return dropAfter(ctx, c, drop)
	case kept(c, err, p) == nil:
		left = slices.DeleteFunc(slices.Clone(drop), func(r git.Ref) bool { return r.Name != p.Stage })
	}
	if err != nil && len(left) < len(drop) {
		return publish(ctx, c, p, left)
	}
	return err
}

// present are those of some refs of which git does not say that they are gone.
func present(refs []git.Ref, said string) []git.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r git.Ref) bool {
		return strings.Contains(said, "unable to delete '"+r.Name+"': remote ref does not exist")
	})
}

// dropAfter deletes what is no longer needed, the branch having moved: what the server keeps is no error, and after another
// one the caller has to look, since something was changed there.
func dropAfter(ctx context.Context, c *git.Checkout, drop []git.Ref) error {
	for len(drop) > 0 {
		err := push(ctx, c, deleting(drop)...)
		if left := present(drop, git.StderrOf(err)); err != nil && len(left) < len(drop) {
			drop = left
			continue
		}
		switch unclear := (*git.ErrUnclear)(nil); {
		case err == nil, errors.As(err, &unclear):
			return err
		case rejection(err) != nil:
			c.Opt.Log.Warn("refs_kept", "error", err)
			return nil
		}
		return &git.ErrUnclear{Err: err}
	}
	return nil
}

// kept makes nothing of an error that may come from what was to be dropped: a branch that the server protects, or that
// somebody else works on by now. Of an atomic push servers do not always say which ref was the one that they refused.
func kept(c *git.Checkout, err error, p Update) error {
	rejected := rejection(err)
	if len(p.Drop) == 0 || rejected == nil {
		return err
	}
	dropped := slices.ContainsFunc(p.Drop, func(r git.Ref) bool { return r.Name == rejected.Ref })
	if !dropped && rejected.Reason == git.Stale {
		return err
	}
	c.Opt.Log.Warn("refs_kept", "error", err)
	return nil
}

// deleting are the moves that delete refs.
func deleting(refs []git.Ref) (moves []relay.Move) {
	for _, ref := range refs {
		moves = append(moves, relay.Move{From: ref.SHA, To: relay.ZeroID, Ref: ref.Name})
	}
	return moves
}

// move is the branch's move.
func (p Update) move() relay.Move {
	return relay.Move{From: cmp.Or(p.Start, relay.ZeroID), To: p.SHA, Ref: "refs/heads/" + p.Branch}
}

// send makes the moves of an operation in one push and reads git's account of every ref
// (https://git-scm.com/docs/git-push#_output, --porcelain).
func send(ctx context.Context, c *git.Checkout, allowed relay.Op) error {
	args := []string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"}
	if allowed.Atomic {
		args = append(args, "--atomic")
	}
	leases, specs := allowed.Refspecs()
	out, err := c.Network(ctx, allowed, nil, slices.Concat(args, leases, []string{"origin"}, specs)...)
	if err == nil {
		return nil
	}
	if rejected := crowded(string(out), git.StderrOf(err), len(specs)); rejected != nil {
		return rejected
	}
	if rejected := refusal(string(out), git.StderrOf(err)); rejected != nil {
		if syntax.LockLost(rejected.Message) {
			return &git.ErrUnclear{Err: rejected}
		}
		return rejected
	}
	if sent(ctx, err, string(out)) {
		return &git.ErrUnclear{Err: err}
	}
	return err
}

// refusal finds the ref that was refused by itself, not because of another one in the same atomic push.
func refusal(out, stderr string) *git.ErrRejected {
	var found *git.ErrRejected
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
			found = &git.ErrRejected{Ref: syntax.Clean(ref), Message: syntax.Clean(part[2])}
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

// reason parses messages of git and GitHub: GH006 is branch protection and GH013 a ruleset
// (https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules);
// "refusing to allow ... to create or update workflow ..." is GitHub's message for a credential without that right.
func reason(said string) git.Reason {
	said = strings.ToLower(said)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
	}
	switch {
	case has("create or update workflow"):
		return git.Workflow
	case syntax.NameRefused(said):
		return git.Name
	case has("gh006", "gh013", "protected branch", "rule violations"):
		return git.Protected
	case has("stale info", "fetch first", "non-fast-forward", "needs force"), syntax.LockLost(said):
		return git.Stale
	}
	return git.Other
}

// sent reports whether a failed push without a report may have reached the server. git asks the server for its refs first
// ("unable to access" if that fails) and only then sends.
func sent(ctx context.Context, err error, out string) bool {
	if strings.Contains(out, "[remote failure]") || ctx.Err() != nil {
		return true
	}
	var failed *git.Error
	if !errors.As(err, &failed) {
		return false
	}
	said := strings.ToLower(failed.Stderr)
	words := []string{"rpc failed", "hung up unexpectedly", "unexpected disconnect", "early eof", "remote failed to report", "send-pack: "}
	return failed.Exit < 0 || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
}
