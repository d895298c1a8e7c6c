package checkout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// maxLeft is how many branches and stashes LeftBranches returns, and maxLookedAt how many it examines.
const (
	maxLeft     = 10
	maxLookedAt = 1000
)

// Stash is the ref of git stash, whose earlier entries only its reflog has.
const Stash = "refs/stash"

// LeftBranches lists local branches that an agent created or moved since the last Restore or Begin and left work on, which is neither
// in HEAD nor on a branch of the server that was fetched. For the branch of Restore or Begin see BranchTip. What is in git stash is listed as
// refs/stash, with one commit for each stash. The names are the agent's, valid for git but not always UTF-8. At most ten branches, sorted
// by name.
func LeftBranches(ctx context.Context, c *git.Checkout, start string) ([]git.Ref, error) {
	if c.Noted == nil || !syntax.IsSHA(start) {
		return nil, fmt.Errorf("look for branches astray of %q: not a commit id, or no branch was restored", start)
	}
	if err := c.Recreate(); err != nil {
		return nil, err
	}
	tips, err := localBranches(ctx, c)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(tips))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == c.Branch || c.Branches[name] == tips[name] || slices.Contains(c.Tracked, tips[name])
	})
	if len(names) == 0 {
		return nil, nil
	}
	head, err := c.Head(ctx)
	if git.Exhausts(err) { // nobody could look
		return nil, err
	}
	if err != nil { // an agent may leave HEAD where no commit is: nothing is reachable from there
		head = start
	}
	names = slices.DeleteFunc(names, func(name string) bool { return tips[name] == head })
	names, err = astray(ctx, c, names[:min(len(names), maxLookedAt)], tips, head)
	if err != nil {
		return nil, err
	}
	var found []git.Ref
	for _, name := range names {
		left := []git.Ref{{Name: name, SHA: tips[name]}}
		if name == Stash {
			if left, err = stashes(ctx, c); err != nil {
				return nil, err
			}
		}
		found = append(found, left...)
	}
	return found, git.NewOwnDir(c)
}

// astray are those of the branches with commits that neither HEAD nor a fetched branch has.
func astray(ctx context.Context, c *git.Checkout, names []string, tips map[string]string, head string) ([]string, error) {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = tips[name]
	}
	ids, err := c.Peel(ctx, ids...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	ask := strings.Join(slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" }), "\n") + "\n^" + head + "\n"
	for _, tip := range history.FetchedTips(c) {
		ask += "^" + tip + "\n"
	}
	out, err := c.Tell(ctx, []byte(ask), "rev-list", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("look for branches astray: %w", err)
	}
	own := map[string]bool{}
	for id := range strings.FieldsSeq(string(out)) {
		own[id] = true
	}
	var found []string
	for i, name := range names {
		if own[ids[i]] && len(found) < maxLeft {
			found = append(found, name)
		}
	}
	return found, nil
}

// stashes are the stashes since the last Restore or Begin, the newest first, each as one commit on the one that HEAD was at. Git has
// untracked files in a commit of their own (https://git-scm.com/docs/git-stash#_discussion).
func stashes(ctx context.Context, c *git.Checkout) (found []git.Ref, err error) {
	out, err := c.Inside(ctx, "rev-list", "--walk-reflogs", fmt.Sprintf("--max-count=%d", maxLeft), Stash)
	if err != nil {
		return nil, fmt.Errorf("list stashes: %w", err)
	}
	for _, sha := range strings.Fields(string(out)) {
		if sha == c.Branches[Stash] {
			break
		}
		tree, parents, err := commitHeader(ctx, c, sha)
		if err != nil {
			return nil, err
		}
		if len(parents) == 0 { // no stash
			continue
		}
		entries, err := takenAlong(ctx, c, sha)
		if err == nil && len(parents) > 2 {
			var untracked map[string]git.Entry
			untracked, err = filesOf(ctx, c, parents[2])
			maps.Copy(entries, untracked)
		}
		if err == nil {
			tree, err = git.Retree(ctx, c, tree, entries)
		}
		if err != nil {
			return nil, err
		}
		if commit, err := onParent(ctx, c, tree, parents[0], "Stash of the agent"); err != nil {
			return nil, err
		} else if commit != parents[0] {
			found = append(found, git.Ref{Name: Stash, SHA: commit})
		}
	}
	return found, nil
}

// noteStarted records where an agent starts: the commit, and the existing local branches.
func noteStarted(ctx context.Context, c *git.Checkout, sha string) error {
	tips, err := localBranches(ctx, c)
	if err != nil {
		return err
	}
	c.Started, c.Branches, c.Submodules = sha, tips, nil
	if err := noteSubmodules(ctx, c, c, ""); err != nil {
		c.Opt.Log.Warn("submodules_not_looked_at", "error", err) // what is changed in them is not named
	}
	return nil
}
