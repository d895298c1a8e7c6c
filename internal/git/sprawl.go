package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What one commit may spread out to. A dozen trees that each name the next one ten times are a few hundred bytes and
// 10^12 paths, and git's diff holds every path in memory before it says the first.
const (
	maxPaths  = 1_000_000
	maxNested = 256 // directories in each other; git follows them by recursion
)

// ErrSprawl says that a commit has more paths than anybody could look at, or ones that are nested too deeply.
type ErrSprawl struct{ Tree, Detail string }

func (e *ErrSprawl) Error() string { return "tree " + e.Tree + " " + e.Detail }

// Countable is *ErrSprawl when one of the commits of head that are not in except cannot be compared with another one in
// reasonable space. To be asked before Changes of commits that others made.
func (c *Checkout) Countable(ctx context.Context, head string, except ...string) error {
	args := []string{"rev-list", "--no-commit-header", "--format=%T", head}
	for _, e := range except {
		args = append(args, "^"+e)
	}
	out, err := c.ask(ctx, args...)
	if err != nil {
		return fmt.Errorf("list trees: %w", err)
	}
	w := wood{trees: map[string]*tree{}}
	roots := strings.Fields(string(out))
	next := roots
	for level := 0; len(next) > 0; level++ {
		if level > maxNested {
			return &ErrSprawl{next[0], fmt.Sprintf("lies below more than %d directories", maxNested)}
		}
		if next, err = w.grow(ctx, c, next); err != nil {
			return err
		}
	}
	for _, root := range roots {
		switch paths, height := w.measure(root); {
		case paths > maxPaths:
			return &ErrSprawl{root, fmt.Sprintf("has over %d paths", maxPaths)}
		case height > maxNested:
			return &ErrSprawl{root, fmt.Sprintf("has over %d directories in each other", maxNested)}
		}
	}
	return nil
}

// tree is what of a tree object decides how many paths it stands for.
type tree struct {
	files, height int
	below         []string // the trees in it, each as often as it is named
	measured      bool
}

// wood is trees by their ids.
type wood struct{ trees map[string]*tree }

// grow reads trees and gives the ids of those below them that were not read yet.
func (w *wood) grow(ctx context.Context, c *Checkout, ids []string) (next []string, err error) {
	var ask bytes.Buffer
	for _, id := range ids {
		if w.trees[id] == nil {
			w.trees[id] = &tree{}
			ask.WriteString(id + "\n")
		}
	}
	from, to := io.Pipe()
	read := make(chan error, 1)
	go func() {
		var err error
		next, err = w.read(bufio.NewReader(from))
		from.CloseWithError(err)
		read <- err
	}()
	_, ran := c.run(ctx, spec{
		dir: c.own, env: c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects), stdin: ask.Bytes(), output: to,
		args: concat(shield, offline, []string{"cat-file", "--batch"}),
	})
	to.Close()
	if err := <-read; err != nil || ran != nil {
		return nil, fmt.Errorf("read trees: %w", errors.Join(err, ran))
	}
	return next, nil
}

// read takes in what git cat-file --batch says.
func (w *wood) read(in *bufio.Reader) (next []string, err error) {
	for {
		head, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && head == "" {
			return next, nil
		}
		part := strings.Fields(head)
		if err != nil || len(part) != 3 || part[1] != "tree" {
			return nil, fmt.Errorf("unexpected answer %q", head)
		}
		size, err := strconv.Atoi(part[2])
		if err != nil {
			return nil, fmt.Errorf("unexpected answer %q", head)
		}
		content := make([]byte, size+1) // a newline follows
		if _, err := io.ReadFull(in, content); err != nil {
			return nil, err
		}
		t := w.trees[part[0]]
		if err := t.parse(content[:size], len(part[0])/2); err != nil {
			return nil, fmt.Errorf("tree %s: %w", part[0], err)
		}
		for _, id := range t.below {
			if w.trees[id] == nil {
				next = append(next, id)
			}
		}
	}
}

// parse reads the entries of a tree, whose ids have so many bytes.
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

// measure gives the paths below a tree, counted no further than just beyond the limit, and how deep they are nested.
func (w *wood) measure(id string) (paths, height int) {
	t := w.trees[id]
	if !t.measured {
		for _, b := range t.below {
			paths, height := w.measure(b)
			t.files, t.height = min(t.files+paths+1, maxPaths+1), max(t.height, height+1)
		}
		t.below, t.measured = nil, true
	}
	return t.files, t.height
}
