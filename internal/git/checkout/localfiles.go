package checkout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// checkQuiet is *ErrDirty if an operation is in progress in a worktree, or somebody has changed a tracked file.
func checkQuiet(ctx context.Context, c *git.Checkout, branch string, at git.Worktree) (differing []string, err error) {
	dirty := func(why string, paths ...string) ([]string, error) {
		return nil, &ErrDirty{Branch: branch, Dir: at.Top, Why: why, Paths: paths}
	}
	if at.GitDir == "" {
		return dirty("its files are missing: run git worktree prune")
	}
	for _, one := range [][2]string{
		{"MERGE_HEAD", "a merge"}, {"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"rebase-merge", "a rebase"},
		{"rebase-apply", "a rebase"}, {"sequencer", "a cherry-pick or revert"}, {"BISECT_START", "a bisection"}, {"index.lock", "another git"},
	} {
		if _, err := os.Lstat(filepath.Join(at.GitDir, one[0])); err == nil {
			return dirty(one[1] + " is in progress")
		}
	}
	out, err := c.AsOwner(ctx, at, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
	if err != nil {
		return nil, fmt.Errorf("look for changed files: %w", err)
	}
	var paths []string
	for _, entry := range syntax.Fields(out) {
		if strings.HasPrefix(entry, " M ") {
			differing = append(differing, entry[3:])
		} else if len(entry) > 3 {
			paths = append(paths, entry[3:])
		}
	}
	written, err := asWritten(ctx, c, at, differing)
	if err != nil {
		return nil, err
	}
	for _, path := range differing {
		if !written[path] {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		return dirty("files are changed", paths...)
	}
	return differing, nil
}

// asWritten tells which files are as git writes them.
func asWritten(ctx context.Context, c *git.Checkout, at git.Worktree, paths []string) (written map[string]bool, err error) {
	dir, err := c.Temporary("written")
	if err != nil {
		return nil, fmt.Errorf("look for changed files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	written = map[string]bool{}
	for some := range slices.Chunk(paths, 500) {
		if _, err := c.AsOwner(ctx, at, append([]string{"checkout-index", "--prefix=" + dir + "/", "--"}, some...)...); err != nil {
			return nil, fmt.Errorf("look for changed files: %w", err)
		}
		for _, path := range some {
			written[path] = contentAt(ctx, c, at.Top, path) == contentAt(ctx, c, dir, path)
		}
	}
	return written, nil
}

// checkUntracked is *ErrDirty if an untracked file is in the way of one to be written. forward finds those that git would
// keep, too; git would overwrite ignored ones.
func checkUntracked(ctx context.Context, c *git.Checkout, branch string, at git.Worktree, from, to string) error {
	list, err := history.Between(ctx, c, from, to)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	var fresh []string
	for _, change := range list {
		if change.New == "" {
			gone[change.Path] = true
		} else if change.Old == "" {
			fresh = append(fresh, change.Path)
		}
	}
	blocked := map[string]bool{}
	for _, file := range fresh {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if info, err := os.Lstat(filepath.Join(at.Top, dir)); err == nil && !info.IsDir() && !gone[dir] {
				blocked[dir] = true
			}
		}
	}
	for some := range slices.Chunk(fresh, 500) {
		out, err := c.AsOwner(ctx, at, append([]string{"ls-files", "-z", "--others", "--"}, some...)...)
		if err != nil {
			return fmt.Errorf("look for files in the way: %w", err)
		}
		for _, file := range syntax.Fields(out) {
			blocked[file] = true
		}
	}
	if len(blocked) > 0 {
		return &ErrDirty{Branch: branch, Dir: at.Top, Why: untracked, Paths: slices.Sorted(maps.Keys(blocked))}
	}
	return nil
}

const untracked = "files that git does not track are in the way"

// forward moves a branch, with the index and the files where it is checked out. The branch is locked at from meanwhile, so
// that no commit intervenes, and only moves once all files are written.
func forward(ctx context.Context, c *git.Checkout, branch string, at git.Worktree, from, to string) error {
	ref := "refs/heads/" + branch
	var files error
	err := hold(ctx, c, at, fmt.Sprintf("update %s %s %s", ref, to, from), func() error {
		// Files that were rewritten unchanged are clean, too.
		if _, files = c.AsOwner(ctx, at, "update-index", "-q", "--refresh"); files == nil {
			files = write(ctx, c, at, from, to)
		}
		return files
	})
	switch said := git.StderrOf(err); {
	case err == nil:
		return nil
	case files != nil:
		if paths, why := standing(git.StderrOf(files)); why != "" {
			return &ErrDirty{Branch: branch, Dir: at.Top, Why: why, Paths: paths}
		}
	case syntax.LockLost(said):
		return &git.ErrRejected{Ref: ref, Reason: git.Stale, Message: strings.TrimSpace(said)}
	}
	return err
}

// write brings index and files from one commit to another. Git would keep what differs from the index.
func write(ctx context.Context, c *git.Checkout, at git.Worktree, from, to string) error {
	list, err := history.Between(ctx, c, from, to)
	if err != nil {
		return err
	}
	back := []string{"checkout-index", "--"}
	for _, change := range list {
		if change.Old != "" && slices.Contains(at.Differing, change.Path) {
			back = append(back, change.Path)
			if err == nil {
				err = os.Remove(filepath.Join(at.Top, change.Path))
			}
		}
	}
	if err == nil {
		_, err = c.AsOwner(ctx, at, "read-tree", "-m", "-u", from, to)
	}
	if err != nil && len(back) > 2 {
		_, failed := c.AsOwner(ctx, at, back...)
		err = errors.Join(err, failed)
	}
	return err
}

// canForward asks git, with a copy of the index, whether forward could write all files.
func canForward(ctx context.Context, c *git.Checkout, branch string, at git.Worktree, from, to string) (err error) {
	if len(at.Differing) > 0 { // which git would keep
		return nil
	}
	dir, err := c.Temporary("index")
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at.Index = filepath.Join(dir, "index")
	if err := copyIndex(filepath.Join(at.GitDir, "index"), at.Index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy index: %w", err)
	}
	// A split index would write another file into the git directory.
	if _, err = c.AsOwner(ctx, at, "-c", "core.splitIndex=false", "update-index", "-q", "--refresh"); err == nil {
		_, err = c.AsOwner(ctx, at, "read-tree", "-n", "-m", "-u", from, to)
	}
	if paths, why := standing(git.StderrOf(err)); why != "" {
		return &ErrDirty{Branch: branch, Dir: at.Top, Why: why, Paths: paths}
	}
	return err
}

// standing parses git's reasons for not writing files.
func standing(said string) (paths []string, why string) {
	for row := range strings.Lines(said) {
		row = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(row), "error: "), "fatal: ")
		for _, words := range [][3]string{
			{"Untracked working tree file '", "' would be ", untracked},
			{"Entry '", "' not uptodate", "files are changed"}, {"Entry '", "' would be overwritten", "files are changed"},
			{"Updating '", "' would lose untracked files", untracked},
		} {
			rest, ok := strings.CutPrefix(row, words[0])
			if path, _, found := strings.Cut(rest, words[1]); ok && found {
				paths, why = append(paths, path), words[2]
			}
		}
		if strings.Contains(row, "index.lock") {
			why = "another git is in progress"
		}
	}
	return paths, why
}

// hold runs do while an update's refs are locked and verified, and makes the update if do succeeds.
//
// https://git-scm.com/docs/git-update-ref#_description has the transaction's commands.
func hold(ctx context.Context, c *git.Checkout, at git.Worktree, update string, do func() error) error {
	in, commands, err := os.Pipe() // only git holds its end, so writing does not block if it exits
	if err != nil {
		return fmt.Errorf("start a transaction: %w", err)
	}
	defer in.Close()
	say := func(text string) { _, _ = io.WriteString(commands, text+"\n") } // if git exited, Stream knows why
	env := c.Env("GIT_DIR="+at.GitDir, "GIT_WORK_TREE="+at.Top)
	spec := git.Spec{Dir: at.Top, Env: env, Input: in, Args: git.Safely([]string{"update-ref", "-m", "mergexo: merge", "--stdin"})}
	return c.Stream(ctx, spec, func(answers *bufio.Reader) error {
		defer commands.Close()
		say("start\n" + update + "\nprepare")
		for answer := ""; answer != "prepare: ok\n"; {
			if answer, err = answers.ReadString('\n'); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			say("abort")
			return err
		}
		say("commit")
		commands.Close()
		_, err := io.Copy(io.Discard, answers)
		return err
	})
}
