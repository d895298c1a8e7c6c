package checkout

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Changes are how the files and an index of a checkout differ from its HEAD, apart from ignored files and from what is nobody's work
// (git.Differing).
type Changes struct {
	Unmerged []string             // paths with conflicts
	There    []string             // changed and new files; repositories of their own end with a slash
	Set      map[string]git.Entry // what the index should have: nothing for deleted files, the earlier entries of what is nobody's work
	Was      map[string]git.Entry // what it has, of all that differs
}

// Any reports whether there is anything.
func (ch Changes) Any() bool { return len(ch.Was)+len(ch.Unmerged) > 0 }

// look compares the checkout's files and an index with a commit, which is its HEAD. Before that it removes the index's orders to overlook
// files, and writes it from the commit if it is broken or has no entries. settings are options of git.
func look(ctx context.Context, c *git.Checkout, index, head string, settings ...string) (Changes, error) {
	if err := complete(ctx, c, index, head, slices.Concat(anyway, settings)); err != nil {
		return Changes{}, err
	}
	return compare(ctx, c, index, head, settings...)
}

// compare is look for an index without such orders.
func compare(ctx context.Context, c *git.Checkout, index, head string, settings ...string) (Changes, error) {
	ch := Changes{Set: map[string]git.Entry{}, Was: map[string]git.Entry{}}
	if err := git.PointHead(c, head); err != nil {
		return ch, err
	}
	out, err := c.TreeWith(ctx, index, nil, slices.Concat(anyway, settings, []string{"status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"})...)
	if err != nil {
		return ch, fmt.Errorf("look for changes: %w", err)
	}
	for _, row := range syntax.Fields(out) { // https://git-scm.com/docs/git-status#_porcelain_format_version_2
		path, states, entry := row[2:], "??", git.Entry("")
		switch row[0] {
		case 'u':
			ch.Unmerged = append(ch.Unmerged, strings.SplitN(row, " ", 11)[10])
			continue
		case '1':
			part := strings.SplitN(row, " ", 9)
			path, states, entry = part[8], part[1], git.Entry(part[4]+" "+part[7])
		}
		switch same := sameAsNoted(ctx, c, path); {
		case same != nil && states != "D.": // a file that is no longer tracked does not come back
			ch.Set[path] = same.Was
			continue
		case states[1] == 'D':
			ch.Set[path] = ""
		case states[1] != '.':
			ch.There = append(ch.There, path)
		}
		ch.Was[path] = entry
	}
	return ch, nil
}

// anyway makes git look at files that an index says to skip, if they exist
// (https://git-scm.com/docs/git-sparse-checkout#_internals_sparse_checkout).
var anyway = []string{"-c", "core.sparseCheckout=true"}

// complete is what look does before it looks.
func complete(ctx context.Context, c *git.Checkout, index, head string, settings []string) error {
	_, err := c.TreeWith(ctx, index, nil, append(settings, "update-index", "-q", "--really-refresh")...)
	if code := git.ExitCode(err); err != nil && (code < 0 || git.Exhausts(err)) {
		return fmt.Errorf("read the index: %w", err)
	} else if info, gone := os.Stat(index); gone == nil && info.Size() >= smallestIndex && (err == nil || code == 1) { // 1: conflicts
		return nil
	}
	if err := readTree(ctx, c, index, head); err != nil || !git.Sparse(c) {
		return err
	}
	out, err := c.TreeWith(ctx, index, nil, "ls-files", "-z", "--deleted")
	if err == nil {
		_, err = c.TreeWith(ctx, index, out, "update-index", "-z", "--skip-worktree", "--stdin")
	}
	return git.Wrap(err, "leave out what a sparse checkout does not have")
}

// smallestIndex is the size of an index with one entry (https://git-scm.com/docs/index-format).
const smallestIndex = 12 + 64 + 20

// LeaveOut takes files out of There that are too large for the server, without reading them. It returns why, by path.
func (ch *Changes) LeaveOut(top string) map[string]string {
	large := map[string]string{}
	ch.There = slices.DeleteFunc(ch.There, func(path string) bool {
		info, err := os.Lstat(filepath.Join(top, path))
		if err != nil || !info.Mode().IsRegular() || info.Size() <= git.LargestFile {
			return false
		}
		large[path] = fmt.Sprintf("it has %d MB, and the server takes at most %d", info.Size()>>20, git.LargestFile>>20)
		return true
	})
	return large
}

// Take puts the changes into an index. It returns what git does not take, by path, and why.
func (ch Changes) Take(ctx context.Context, c *git.Checkout, index string) (refused map[string]string, err error) {
	return git.UpdateIndex(ctx, c, index, ch.Set, ch.There, c.Top)
}

// noteDiffering records what differs from the index just after git has written the files: git.Differing. ours says that the index has
// no orders of others.
func noteDiffering(ctx context.Context, c *git.Checkout, head string, ours bool) error {
	c.Differing = map[string]git.Differing{}
	index := filepath.Join(c.OwnDir, "written")
	err := copyIndex(c.Index, index)
	if _, none := os.Lstat(filepath.Join(c.Top, ".gitattributes")); err == nil && (none == nil || c.Noted[filepath.Join(c.Info, "attributes")] != nil) {
		err = distrust(index)
	}
	if err != nil {
		return fmt.Errorf("compare files with their index: %w", err)
	}
	look := look
	if ours {
		look = compare
	}
	ch, err := look(ctx, c, index, head)
	if err != nil || !ch.Any() {
		return err
	}
	if _, err := ch.Take(ctx, c, index); err != nil {
		return err
	}
	out, err := c.TreeWith(ctx, index, nil, "ls-files", "--stage", "-z")
	now := git.EntriesIn(out)
	for path, was := range ch.Was {
		noteOne(ctx, c, path, was, now[path])
	}
	c.Opt.Log.Debug("files_differ", "files", len(c.Differing))
	return git.Wrap(err, "list entries")
}

// distrust makes git look into each file, even if its time is the one that the index has: with other attributes since, it can differ even
// so. Git looks into files that are no older than the index (https://git-scm.com/docs/racy-git).
func distrust(index string) error { return os.Chtimes(index, time.Unix(1, 0), time.Unix(1, 0)) }

// noteOne records that a path is nobody's work for as long as it stays as it is.
func noteOne(ctx context.Context, c *git.Checkout, path string, was, now git.Entry) {
	c.Differing[path] = git.Differing{Was: was, Now: now, Content: contentAt(ctx, c, c.Top, path)}
}

// sameAsNoted is what was recorded of a path that still is as it was then; nil for any other.
func sameAsNoted(ctx context.Context, c *git.Checkout, path string) *git.Differing {
	if d, noted := c.Differing[path]; noted && d.Content == contentAt(ctx, c, c.Top, path) {
		return &d
	}
	return nil
}

// contentAt tells whether what is at a path in a directory has changed, as git sees it: the type and the bytes of a file and whether it is
// executable, or the commit of a repository.
func contentAt(ctx context.Context, c *git.Checkout, dir, path string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Lstat(strings.TrimSuffix(path, "/"))
	if err != nil {
		return ""
	}
	if at := filepath.Join(dir, path); info.IsDir() {
		head, err := c.Run(ctx, git.Spec{Dir: at, Env: c.Env("GIT_CEILING_DIRECTORIES=" + filepath.Dir(at)), Args: git.Safely([]string{"rev-parse", "HEAD"})})
		return fmt.Sprintf("%s %v", head, err == nil)
	}
	if target, err := root.Readlink(path); err == nil {
		return "link " + target
	}
	if info.Size() > git.LargestFile { // to read it takes minutes
		return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	sum := sha256.New()
	file, err := git.OpenIn(root, path)
	if err == nil {
		_, err = io.Copy(sum, file)
		_ = file.Close()
	}
	return fmt.Sprintf("%o %x %v", info.Mode()&(os.ModeType|0o100), sum.Sum(nil), err == nil)
}

// filesOf are all files of a commit, by path.
func filesOf(ctx context.Context, c *git.Checkout, commit string) (map[string]git.Entry, error) {
	out, err := c.Ask(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	return git.EntriesIn(out), git.Wrap(err, "list entries")
}

// takenAlong are files that somebody's commit has with the work though they are as they were, and the entries that they had before.
func takenAlong(ctx context.Context, c *git.Checkout, commit string) (map[string]git.Entry, error) {
	along := map[string]git.Entry{}
	if len(c.Differing) == 0 {
		return along, nil
	}
	now, err := filesOf(ctx, c, commit)
	for path, d := range c.Differing {
		if d.Was != "" && d.Now != d.Was && now[path] == d.Now && sameAsNoted(ctx, c, path) != nil {
			along[path] = d.Was
		}
	}
	return along, err
}
