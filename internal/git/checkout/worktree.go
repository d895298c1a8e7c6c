// Package checkout changes HEAD, index and files of a checkout, and makes commits of them. It restores branches for agents,
// commits their work, moves it onto another base, and prepares trees for tests.
//
// It does not trust what others left in a checkout, and runs nothing that the checkout's configuration names.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/scratch"
)

// moveHead moves HEAD and its branch from one commit to another.
func moveHead(ctx context.Context, c *git.Checkout, to, from string) error {
	if _, err := c.Inside(ctx, "update-ref", "HEAD", to, from); err != nil {
		return fmt.Errorf("move HEAD to %s: %w", to, err)
	}
	c.Refs[git.HaveHead] = to
	return nil
}

// checkOut puts HEAD, index and files at a commit, and removes untracked files that are not ignored. tracking are changes of
// remote-tracking refs for git update-ref, which may fail. distrust says that others have written the index.
func checkOut(ctx context.Context, c *git.Checkout, branch, sha, tracking string, distrust bool) error {
	if err := pointHead(ctx, c, branch, sha, tracking); err != nil {
		return err
	}
	c.Refs[git.HaveHead] = sha
	if err := unlocked(c, func() error { return putFiles(ctx, c, sha, distrust) }); err != nil {
		return err
	}
	if c.ReadHead() != sha { // which git reads, too
		head, err := c.Head(ctx)
		if err == nil && head != sha {
			err = fmt.Errorf("HEAD is %s", head)
		}
		if err != nil {
			return err
		}
	}
	return noteDiffering(ctx, c, sha, distrust || c.OwnClone)
}

// putTree resets index and files to a tree while HEAD stays.
func putTree(ctx context.Context, c *git.Checkout, tree, head string) error {
	if err := resetFiles(ctx, c, tree); err != nil {
		return err
	}
	return noteDiffering(ctx, c, head, false)
}

// putFiles puts index and files at a commit.
func putFiles(ctx context.Context, c *git.Checkout, sha string, distrust bool) error {
	if distrust || resetFiles(ctx, c, sha) != nil { // an unreadable index is rebuilt, too
		if err := rebuildIndex(ctx, c, sha); err != nil {
			return err
		}
		if err := resetFiles(ctx, c, sha); err != nil {
			return err
		}
	}
	if c.OwnClone && !distrust { // nothing else was ever here
		return nil
	}
	return removeUntracked(ctx, c)
}

// unlocked does something with the files of a checkout, and where it fails once more if there were directories that we could not read or
// write. Git knows no modes of directories: they are what a program left.
func unlocked(c *git.Checkout, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if locked, uerr := scratch.Unlock(c.Top, ".git"); !locked || uerr != nil {
		return errors.Join(err, uerr)
	}
	return do()
}

// pointHead puts HEAD on the branch, a full name, and the branch on the commit.
func pointHead(ctx context.Context, c *git.Checkout, branch, sha, tracking string) error {
	move := ""
	if branch != "" {
		move = "update " + branch + " " + sha + "\n"
	}
	if updateRefs(ctx, c, tracking+move) != nil { // all or nothing, and it says not which
		if err := updateRefs(ctx, c, tracking); err != nil {
			c.Opt.Log.Debug("tracking_refs_kept", "error", err) // only a convenience for the agent
		}
		if err := updateRefs(ctx, c, move); err != nil {
			// A directory/file conflict with a local branch: detach HEAD, as actions/checkout does.
			c.Opt.Log.Debug("head_detached", "error", err)
			branch = ""
		}
	}
	var err error
	switch {
	case branch == "":
		_, err = c.Inside(ctx, "update-ref", "--no-deref", "HEAD", sha)
	case c.OwnClone || c.ReadHead() != "": // refs are files
		err = git.ReplaceFile(filepath.Join(c.GitDir, "HEAD"), []byte("ref: "+branch+"\n"))
	default:
		_, err = c.Inside(ctx, "symbolic-ref", "HEAD", branch)
	}
	if err != nil {
		return fmt.Errorf("point HEAD to %s: %w", sha, err)
	}
	c.Branch = branch
	return nil
}

// updateRefs makes changes for git update-ref, all or none.
func updateRefs(ctx context.Context, c *git.Checkout, changes string) error {
	if changes == "" {
		return nil
	}
	_, err := c.InsideTold(ctx, []byte(changes), "update-ref", "--no-deref", "--stdin")
	return err
}

// rebuildIndex writes the index from a commit, and compares every file with it. An untrusted index can make git overlook a
// changed file (git-update-index(1), --assume-unchanged and --skip-worktree). Unchanged files are not rewritten, so builds
// made from them stay up to date.
func rebuildIndex(ctx context.Context, c *git.Checkout, sha string) error {
	// First remove files that only the old index knows (both ignored and tracked), if that index is usable.
	if err := resetFiles(ctx, c, sha); err != nil {
		c.Opt.Log.Debug("index_unusable", "error", err)
	}
	return readTree(ctx, c, c.Index, sha)
}

// readTree makes an index from a commit, and compares every file with it.
func readTree(ctx context.Context, c *git.Checkout, index, sha string) error {
	if err := os.RemoveAll(index); err != nil {
		return fmt.Errorf("remove index: %w", err)
	}
	if _, err := c.TreeWith(ctx, index, nil, "read-tree", "--reset", sha); err != nil {
		return fmt.Errorf("read %s into the index: %w", sha, err)
	}
	// Exit code 1: some files differ.
	if _, err := c.TreeWith(ctx, index, nil, "update-index", "-q", "--refresh"); err != nil && git.ExitCode(err) != 1 {
		return fmt.Errorf("compare files with %s: %w", sha, err)
	}
	return nil
}

// resetFiles resets index and tracked files to a commit, whatever they were.
func resetFiles(ctx context.Context, c *git.Checkout, sha string) error {
	if _, err := c.Tree(ctx, "read-tree", "--reset", "-u", sha); err != nil {
		return fmt.Errorf("reset files to %s: %w", sha, err)
	}
	return nil
}

// removeUntracked removes untracked files that are not ignored, including repositories, until there are none: an untracked
// .gitignore hides files until it is removed itself.
func removeUntracked(ctx context.Context, c *git.Checkout) error {
	for {
		out, err := c.Tree(ctx, "clean", "-ffd")
		if err != nil {
			return fmt.Errorf("remove untracked files: %w", err)
		}
		if len(out) == 0 {
			return nil
		}
	}
}

// forgetStates aborts operations in progress in the checkout, like `git merge --quit` and its siblings.
func forgetStates(c *git.Checkout) error {
	names := []string{
		"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_START", "BISECT_LOG", "BISECT_EXPECTED_REV",
		"rebase-merge", "rebase-apply", "sequencer", "HEAD.lock",
	}
	errs := []error{os.RemoveAll(c.Index + ".lock"), os.RemoveAll(c.Shallow + ".lock"), os.RemoveAll(c.Config + ".lock")}
	for _, name := range names {
		errs = append(errs, os.RemoveAll(filepath.Join(c.GitDir, name)))
	}
	return git.Wrap(errors.Join(errs...), "end what was going on in the checkout")
}
