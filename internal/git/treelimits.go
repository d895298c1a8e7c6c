package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits for the paths of one commit. A dozen trees that each name the next one ten times are a few hundred bytes and 10^12
// paths, and git's diff holds every path in memory before it prints the first.
const (
	maxPaths  = 1_000_000
	maxNested = 256 // nested directories; git recurses into them
)

// ErrTreeLimits says that a commit has too many paths, or too deeply nested ones.
type ErrTreeLimits struct{ Tree, Detail string }

func (e *ErrTreeLimits) Error() string { return "tree " + e.Tree + " " + e.Detail }

// CheckTreeLimits is *ErrTreeLimits if one of the commits of head that are not in except is too large to be compared. Call
// it before Changes on others' commits.
func CheckTreeLimits(ctx context.Context, c *Checkout, head string, except ...string) error {
	args := []string{"rev-list", "--no-commit-header", "--format=%T", head}
	for _, e := range except {
		args = append(args, "^"+e)
	}
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return fmt.Errorf("list trees: %w", err)
	}
	return CheckTrees(ctx, c, strings.Fields(string(out)))
}

// CheckTrees is *ErrTreeLimits if one of these trees is too large to be compared. One process reads all of them.
func CheckTrees(ctx context.Context, c *Checkout, roots []string) error {
	if len(roots) == 0 {
		return nil
	}
	s := treeSet{trees: map[string]*tree{}}
	err := c.Converse(ctx, func(to io.Writer, from *bufio.Reader) (err error) {
		next := roots
		for level := 0; len(next) > 0; level++ {
			if level > maxNested {
				return &ErrTreeLimits{next[0], fmt.Sprintf("lies below more than %d directories", maxNested)}
			}
			if next, err = s.grow(to, from, next); err != nil {
				return fmt.Errorf("read trees: %w", err)
			}
		}
		return nil
	}, "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, root := range roots {
		switch paths, height := s.measure(root); {
		case paths > maxPaths:
			return &ErrTreeLimits{root, fmt.Sprintf("has over %d paths", maxPaths)}
		case height > maxNested:
			return &ErrTreeLimits{root, fmt.Sprintf("has over %d directories in each other", maxNested)}
		}
	}
	return nil
}

// tree is what decides how many paths a tree object stands for.
type tree struct {
	files, height int
	below         []string // subtrees, each as often as it occurs
	measured      bool
}

// treeSet holds trees by ID.
type treeSet struct{ trees map[string]*tree }

// grow reads trees and returns the IDs of subtrees that were not read yet.
func (s *treeSet) grow(to io.Writer, from *bufio.Reader, ids []string) (next []string, err error) {
	var ask bytes.Buffer
	asked := 0
	for _, id := range ids {
		if s.trees[id] == nil {
			s.trees[id] = &tree{}
			ask.WriteString(id + "\n")
			asked++
		}
	}
	wrote := make(chan error, 1)
	go func() { // git waits for its answers to be read before it reads on
		_, err := to.Write(ask.Bytes())
		wrote <- err
	}()
	for range asked {
		below, err := s.read(from)
		if err != nil {
			return nil, err
		}
		next = append(next, below...)
	}
	return next, <-wrote
}

// read reads one answer of git cat-file --batch and returns the subtrees that were not read yet.
func (s *treeSet) read(in *bufio.Reader) (next []string, err error) {
	head, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) { // what git failed with
		return nil, err
	}
	one, bad := objectIn(head)
	if err != nil || bad != nil || one.Kind != "tree" {
		return nil, fmt.Errorf("unexpected answer %q", head)
	}
	content := make([]byte, one.Size+1) // a newline follows
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, err
	}
	t := s.trees[one.ID]
	if err := t.parse(content[:one.Size], len(one.ID)/2); err != nil {
		return nil, fmt.Errorf("tree %s: %w", one.ID, err)
	}
	for _, id := range t.below {
		if s.trees[id] == nil {
			next = append(next, id)
		}
	}
	return next, nil
}

// parse reads the entries of a tree, whose IDs are width bytes long.
func (t *tree) parse(content []byte, width int) error {
	for len(content) > 0 {
		mode, rest, spaced := bytes.Cut(content, []byte(" "))
		_, rest, named := bytes.Cut(rest, []byte{0})
		if !spaced || !named || len(rest) < width {
			return errors.New("it breaks off")
		}
		if string(bytes.TrimLeft(mode, "0")) == "40000" {
			t.below = append(t.below, fmt.Sprintf("%x", rest[:width]))
		} else {
			t.files++
		}
		content = rest[width:]
	}
	return nil
}

// measure returns the number of paths below a tree, counted to just beyond the limit, and their depth.
func (s *treeSet) measure(id string) (paths, height int) {
	t := s.trees[id]
	if !t.measured {
		for _, b := range t.below {
			paths, height := s.measure(b)
			t.files, t.height = min(t.files+paths+1, maxPaths+1), max(t.height, height+1)
		}
		t.below, t.measured = nil, true
	}
	return t.files, t.height
}
