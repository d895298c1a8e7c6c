package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Stage pushes a commit to a hidden ref, wherever that ref was before. Branches and tags are refused: nothing but a
// stage is ever forced. One network operation.
func (c *Checkout) Stage(ctx context.Context, ref, sha string) error {
	if !validRef(ref) || !isSHA(sha) || strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
		return fmt.Errorf("stage %q at %q: not a hidden ref and a commit id", sha, ref)
	}
	if err := c.push(ctx, "+"+sha+":"+ref); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// Publish is one move of a branch on the server.
type Publish struct {
	Branch string // without refs/heads/
	Start  string // where the branch is; "" when it must not exist yet
	SHA    string // where it goes
	Stage  string // ref to delete in the same push; "" for none
}

// Publish moves a branch and deletes the stage, atomically where the server can. The move happens only if the branch is
// at Start, or at SHA already; and SHA must descend from Start, which is asked here, since a lease alone allows a rewind.
// Errors are *ErrRewind, *ErrRejected, *ErrUnclear or *Error. One network operation, and two more where the stage is
// gone already or the server cannot push atomically, and those of Deepen where the history here is too short to tell.
func (c *Checkout) Publish(ctx context.Context, p Publish) error {
	branch := "refs/heads/" + p.Branch
	if !validRef(branch) || !isSHA(p.SHA) || p.Start != "" && !isSHA(p.Start) || p.Stage != "" && !validRef(p.Stage) || strings.HasPrefix(p.Stage, "refs/heads/") {
		return fmt.Errorf("publish %q: not a branch, commit ids and a hidden ref", p)
	}
	if p.Start != "" {
		if err := c.descends(ctx, p.Start, p.SHA); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := c.publish(ctx, branch, p); err != nil {
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

func (c *Checkout) publish(ctx context.Context, branch string, p Publish) error {
	lease, move := "--force-with-lease="+branch+":"+p.Start, p.SHA+":"+branch
	if p.Stage == "" {
		return c.push(ctx, lease, move)
	}
	err := c.push(ctx, "--atomic", lease, move, ":"+p.Stage)
	switch said := stderrOf(err); {
	case err == nil:
		return nil
	case strings.Contains(said, "remote ref does not exist"):
		return c.push(ctx, lease, move) // git found the stage absent and sent nothing
	case strings.Contains(said, "does not support --atomic"):
		if err := c.push(ctx, lease, move); err != nil {
			return err
		}
		return c.push(ctx, ":"+p.Stage)
	}
	return err
}

// push sends refspecs, preceded by options, and reads git's account of every ref
// (https://git-scm.com/docs/git-push#_output, --porcelain).
func (c *Checkout) push(ctx context.Context, specs ...string) error {
	args := []string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"}
	for len(specs) > 0 && strings.HasPrefix(specs[0], "--") {
		args, specs = append(args, specs[0]), specs[1:]
	}
	out, err := c.network(ctx, append(append(args, "origin"), specs...)...)
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
