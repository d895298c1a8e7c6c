package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

// maxTarget is how long a symbolic link may be; Linux follows none that is longer (PATH_MAX).
const maxTarget = 4096

// Step is what one commit makes of one path that none of its parents has so.
type Step struct {
	Change
	Commit string
	before []string // ids of what the parents have there
	whole  bool     // of the range as a whole, not of a commit
}

// Steps compares commits with their parents, and the first of whole with the others of whole as if those were its parents.
func Steps(ctx context.Context, c *git.Checkout, commits, whole []string) (list []Step, err error) {
	err = compare(ctx, c, append(slices.Clone(commits), strings.Join(whole, " ")), func(n int, of []Step) {
		for _, s := range of {
			s.whole = n == len(commits)
			list = append(list, s)
		}
	})
	return list, err
}

// compare compares the first commit of each line with the others on it, or with its parents, in one process, and calls visit with each
// result. --root includes root commits; -c shows of a merge what differs from all parents.
func compare(ctx context.Context, c *git.Checkout, lines []string, visit func(n int, of []Step)) error {
	if len(lines) == 0 {
		return nil
	}
	read := func(in *bufio.Reader) error { return readSteps(in, len(lines), visit) }
	err := c.Pour(ctx, git.Rows(lines), read, "diff-tree", "--stdin", "--always", "--root", "-c", "-r", "-z", "--raw", "--no-renames", "--no-abbrev",
		"--ignore-submodules=none", "--no-textconv", "--no-ext-diff")
	return git.Wrap(err, "compare commits")
}

// readSteps reads git diff-tree --stdin -c -z
// (https://git-scm.com/docs/git-diff-tree#_raw_output_format and #_diff_format_for_merges): after the id of each line's first commit
// what differs.
func readSteps(in *bufio.Reader, lines int, visit func(n int, of []Step)) error {
	var of []Step
	commit := ""
	for n := -1; ; {
		word, err := in.ReadString(0)
		end := errors.Is(err, io.EOF) && word == ""
		if err != nil && !end {
			return err
		}
		if strings.HasPrefix(word, ":") {
			path, err := in.ReadString(0)
			if err != nil {
				return err
			}
			step, err := parseStep(word[:len(word)-1], path[:len(path)-1])
			if err != nil {
				return err
			}
			step.Commit = commit
			of = append(of, step)
			continue
		}
		if n >= 0 {
			visit(n, of)
		}
		if n, of, commit = n+1, nil, strings.TrimSuffix(word, "\x00"); end {
			if n != lines {
				return errors.New("the answer breaks off")
			}
			return nil
		}
	}
}

// parseStep parses one entry: one colon per parent, their modes and the new one, their IDs and the new one, one letter per
// parent.
func parseStep(meta, path string) (Step, error) {
	rest := strings.TrimLeft(meta, ":")
	n := len(meta) - len(rest)
	part := strings.Fields(rest)
	if n == 0 || len(part) != 2*n+3 {
		return Step{}, fmt.Errorf("unexpected entry %q", meta)
	}
	modes, ids := part[:n+1], part[n+1:2*n+2]
	s := Step{Change: Change{Path: path, OldMode: modes[0], NewMode: modes[n], Status: "M", Id: ids[n]}}
	for i, mode := range modes[:n] {
		if mode == s.NewMode || s.OldMode == git.ModeAbsent { // the most similar parent
			s.OldMode = mode
		}
		if mode != git.ModeAbsent && mode != git.ModeSubmodule {
			s.before = append(s.before, ids[i])
		}
	}
	switch {
	case s.NewMode == git.ModeAbsent:
		s.Status = "D"
	case s.OldMode == git.ModeAbsent:
		s.Status = "A"
	case s.OldMode[:2] != s.NewMode[:2]: // the first two digits are the type
		s.Status = "T"
	}
	return s, nil
}

// IsBlob reports whether a change leaves a file at its path.
func (c Change) IsBlob() bool { return c.NewMode != git.ModeAbsent && c.NewMode != git.ModeSubmodule }

// measureSteps fills in sizes and the targets of symbolic links.
func measureSteps(ctx context.Context, c *git.Checkout, steps []Step, sizes map[string]int64) error {
	var links []string
	for i := range steps {
		s := &steps[i]
		if !s.IsBlob() {
			continue
		}
		if s.Size = sizes[s.Id]; s.Size < 0 {
			return fmt.Errorf("the content of %q in %s is not here", s.Path, s.Commit)
		}
		if s.NewMode != git.ModeSymlink {
			continue
		}
		if s.Size > maxTarget {
			return fmt.Errorf("symbolic link %q in %s has a target of %d bytes", s.Path, s.Commit, s.Size)
		}
		links = append(links, s.Id)
	}
	targets, err := c.Texts(ctx, links, 0)
	for i := range steps {
		if s := &steps[i]; s.NewMode == git.ModeSymlink {
			s.Target = string(targets[s.Id])
		}
	}
	return err
}

// Sizes returns the sizes of objects, and -1 for missing ones.
func Sizes(ctx context.Context, c *git.Checkout, ids []string) (map[string]int64, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := git.Inspect(ctx, c, ids...)
	sizes := make(map[string]int64, len(ids))
	for i, one := range found {
		if sizes[ids[i]] = one.Size; one.ID == "" {
			sizes[ids[i]] = -1
		}
	}
	return sizes, git.Wrap(err, "measure objects")
}
