package mergetree

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Rewrite is a commit object with another tree, one parent and us as committer. Author, date, encoding and message stay
// byte for byte; a signature, which would be invalid, is dropped.
func Rewrite(c *git.Checkout, raw []byte, tree, parent string) []byte {
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	var author, encoding []byte
	for row := range bytes.Lines(head) {
		row = bytes.TrimSuffix(row, []byte("\n"))
		switch {
		case bytes.HasPrefix(row, []byte("author ")):
			author = row
		case bytes.HasPrefix(row, []byte("encoding ")):
			encoding = append(slices.Clone(row), '\n')
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\nparent %s\n%s\ncommitter %s %d +0000\n%s\n", tree, parent, author, c.Opt.Identity, c.Opt.Now().Unix(), encoding)
	out.Write(message)
	return out.Bytes()
}

// Picker puts commits on top of each other in memory. One process writes all commits, so a pick costs little more than its
// merge. It starts with the first one. Close it.
type Picker struct {
	c     *git.Checkout
	files string // directory of the attribute files
	start func() error
	dir   string // passes commits to git; "" before the first
	to    *io.PipeWriter
	from  *bufio.Reader
	ran   chan error
	stop  func() bool

	Tip, Tree string // the result so far
}

// NewPicker starts at a commit.
func NewPicker(ctx context.Context, c *git.Checkout, files, onto string) (*Picker, error) {
	out, err := c.Ask(ctx, "rev-parse", "--verify", onto+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("read tree of %s: %w", onto, err)
	}
	return NewPickerOn(ctx, c, files, onto, syntax.Line(out)), nil
}

// NewPickerOn starts at a commit whose tree is known.
func NewPickerOn(ctx context.Context, c *git.Checkout, files, onto, tree string) *Picker {
	p := &Picker{c: c, files: files, ran: make(chan error, 1), Tip: onto, Tree: tree}
	p.start = func() error { return p.run(ctx) }
	return p
}

// run starts the process that writes commits.
func (p *Picker) run(ctx context.Context) (err error) {
	c := p.c
	if p.dir, err = c.Temporary("pick"); err != nil {
		return fmt.Errorf("make directory for commits: %w", err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	p.stop = context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) }) // git would wait for more
	p.to, p.from = to, bufio.NewReader(from)
	go func() {
		// --literally also accepts slightly malformed author lines. Each path is answered at once.
		_, err := c.Run(ctx, git.Spec{
			Dir: c.OwnDir, Env: c.OwnEnv(), Input: in, Output: out,
			Args: git.Safely([]string{"hash-object", "-t", "commit", "-w", "--literally", "--no-filters", "--stdin-paths"}),
		})
		err = errors.Join(err, out.CloseWithError(cmp.Or[error](err, io.EOF)), in.CloseWithError(io.ErrClosedPipe))
		p.ran <- err
	}()
	return nil
}

// Close ends the process and removes its directory. Write has reported failed writes.
func (p *Picker) Close() {
	if p.dir == "" {
		return
	}
	p.stop()
	_ = p.to.Close()
	<-p.ran
	_ = os.RemoveAll(p.dir)
}

// Write writes a raw commit.
func (p *Picker) Write(raw []byte) (string, error) {
	if p.dir == "" {
		if err := p.start(); err != nil {
			return "", err
		}
	}
	file := filepath.Join(p.dir, "commit")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	if _, err := io.WriteString(p.to, file+"\n"); err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	answer, err := p.from.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	if sha := syntax.Line([]byte(answer)); syntax.IsSHA(sha) {
		return sha, nil
	}
	return "", fmt.Errorf("write commit: unexpected answer %q", answer)
}

// StandIn writes a commit that only serves to choose the merge base: git 2.39 lacks merge-tree --merge-base, so a commit
// with the wanted tree and the wanted base as its only parent replaces the real one.
func (p *Picker) StandIn(tree, parent string) (string, error) {
	return p.Write(CommitByUs(p.c, tree, []string{parent}, "stand-in\n"))
}

// Apply returns the tip's tree with the change of commit against parent.
func (p *Picker) Apply(ctx context.Context, commit, parent string) (tree string, err error) {
	ours, err := p.StandIn(p.Tree, parent)
	if err != nil {
		return "", err
	}
	return Combine(ctx, p.c, p.files, ours, commit, commit)
}

// Put writes a commit with this tree on the tip, and makes it the tip.
func (p *Picker) Put(was string, raw []byte, tree string) error {
	sha, err := p.Write(raw)
	if err != nil {
		return fmt.Errorf("write commit for %s: %w", was, err)
	}
	p.Tip, p.Tree = sha, tree
	return nil
}

// CommitByUs is a commit object by us.
func CommitByUs(c *git.Checkout, tree string, parents []string, message string) []byte {
	who := fmt.Sprintf("%s %d +0000", c.Opt.Identity, c.Opt.Now().Unix())
	return CommitObject(tree, parents, who, who, message)
}

// CommitObject is a commit object.
func CommitObject(tree string, parents []string, author, committer, message string) []byte {
	out := "tree " + tree + "\n"
	for _, parent := range parents {
		out += "parent " + parent + "\n"
	}
	return []byte(out + "author " + author + "\ncommitter " + committer + "\n\n" + message)
}
