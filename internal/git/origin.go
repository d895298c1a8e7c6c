package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// FetchOrigin gets the tips of branches of the server and names them origin/BRANCH in the checkout, where an agent looks
// for them. ErrNoRef names a branch that the server does not have. One network operation.
func (c *Checkout) FetchOrigin(ctx context.Context, branches ...string) (tips map[string]string, err error) {
	var wants [][2]string
	for _, branch := range branches {
		if !validRef("refs/heads/" + branch) {
			return nil, fmt.Errorf("fetch origin: %q is not a branch", branch)
		}
		wants = append(wants, [2]string{"refs/heads/" + branch, fmt.Sprintf("refs/fetched/origin-%d", len(wants))})
	}
	if err := c.fetch(ctx, c.bounded(ctx, 0), wants...); err != nil {
		return nil, fmt.Errorf("fetch origin: %w", err)
	}
	tips = map[string]string{}
	var known bytes.Buffer
	for i, branch := range branches {
		tips[branch] = c.refs[wants[i][1]]
		fmt.Fprintf(&known, "update refs/remotes/origin/%s %s\n", branch, tips[branch])
	}
	if _, err := c.insideTold(ctx, known.Bytes(), "update-ref", "--no-deref", "--stdin"); err != nil {
		c.opt.Log.Debug("tracking_refs_kept", "error", err) // as in nameTips
	}
	return tips, nil
}

// Tips are the commits that branches of the server had when they were fetched by their names.
func (c *Checkout) Tips() []string { return c.serverTips() }

// BaseTip is the tip of the base branch of the last Restore or Begin, as it was then; "" where there is none.
func (c *Checkout) BaseTip() string { return c.refs[fetchedBase] }

// MergeOrigin merges a fetched commit into HEAD of the checkout. Where that conflicts, the checkout is left in the middle
// of the merge: files and index have what did combine, with conflict markers in the rest, and the next Commit makes the
// merge commit of it. *ErrConflict names the paths; nobody but MarkedPaths looks whether the markers went away. Missing
// history is fetched.
func (c *Checkout) MergeOrigin(ctx context.Context, other, message string) (head string, err error) {
	if head, err = c.Head(ctx); err != nil {
		return "", err
	}
	relation, err := c.Relation(ctx, head, other)
	if err == nil && relation == model.Unknown {
		err = c.Deepen(ctx, head, other)
	}
	if err != nil {
		return "", err
	}
	if err := c.meet(ctx, head, other); err != nil {
		return "", err
	}
	merged, err := c.Merge(ctx, other, message)
	var conflict *ErrConflict
	if !errors.As(err, &conflict) {
		return merged, err
	}
	if err := c.reset(ctx, conflict.Tree); err != nil {
		return "", err
	}
	return head, errors.Join(replaceFile(filepath.Join(c.gitDir, "MERGE_HEAD"), []byte(other+"\n")), conflict)
}

// meet fetches all history where what is here does not tell how two commits have diverged.
func (c *Checkout) meet(ctx context.Context, head, other string) error {
	if _, err := c.ask(ctx, "merge-base", head, other); exitCode(err) != 1 || len(c.boundary) == 0 {
		return err
	}
	wants := [][2]string{{other, "refs/fetched/sha-" + other}}
	if known := c.refs[fetchedHead]; known != "" {
		wants = append(wants, [2]string{known, "refs/fetched/sha-" + known})
	}
	return c.fetch(ctx, []string{"--unshallow"}, wants...)
}

// MarkedPaths gives those of the paths whose files in the checkout have conflict markers. A file that is not there or not
// a regular one has none.
func (c *Checkout) MarkedPaths(paths []string) ([]string, error) {
	root, err := os.OpenRoot(c.top)
	if err != nil {
		return nil, fmt.Errorf("look for conflict markers: %w", err)
	}
	defer root.Close()
	var marked []string
	for _, path := range paths {
		info, err := root.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		file, err := root.Open(path)
		if err != nil {
			return nil, fmt.Errorf("look for conflict markers: %w", err)
		}
		has, err := hasMarkers(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("look for conflict markers in %q: %w", path, err)
		}
		if has {
			marked = append(marked, path)
		}
	}
	return slices.Clip(marked), nil
}

// HasMarkers says that a line opens or closes a conflict.
func HasMarkers(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return true
		}
	}
	return false
}

// HasMarkers says the same of the new lines of an addition; those around them were there before.
func (a Addition) HasMarkers() bool {
	i := 0
	for line := range bytes.Lines(a.Text) {
		if (a.Fresh == nil || i < len(a.Fresh) && a.Fresh[i]) && HasMarkers(line) {
			return true
		}
		i++
	}
	return false
}

// hasMarkers finds the lines that open and close a conflict, as git-merge(1) writes them.
func hasMarkers(file io.Reader) (bool, error) {
	in := bufio.NewReader(file)
	opened, start := false, true
	for {
		line, err := in.ReadSlice('\n')
		if start && bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			opened = true
		}
		if start && opened && bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return true, nil
		}
		start = err == nil // a line that is longer than the buffer comes in pieces
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}
