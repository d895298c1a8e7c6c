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
// as they are, byte for byte; a signature, which would no longer hold, is left out.
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

// Picker puts commits on top of each other, in memory. It writes all commits through one process, so that a pick costs
// the merge itself and little else. Close it.
type Picker struct {
	c     *git.Checkout
	files string // where the attributes of files are read
	dir   string // where a commit lies for git to take
	to    *io.PipeWriter
	from  *bufio.Reader
	ran   chan error
	stop  func() bool

	Tip, Tree string // what was put on top so far
}

// NewPicker starts at a commit.
func NewPicker(ctx context.Context, c *git.Checkout, files, onto string) (*Picker, error) {
	out, err := c.Ask(ctx, "rev-parse", "--verify", onto+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("read tree of %s: %w", onto, err)
	}
	return NewPickerOn(ctx, c, files, onto, syntax.Line(out))
}

// NewPickerOn starts at a commit whose tree is known.
func NewPickerOn(ctx context.Context, c *git.Checkout, files, onto, tree string) (*Picker, error) {
	dir, err := c.Temporary("pick")
	if err != nil {
		return nil, fmt.Errorf("make directory for commits: %w", err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) }) // git would wait for more
	p := &Picker{stop: stop, c: c, files: files, dir: dir, to: to, from: bufio.NewReader(from), ran: make(chan error, 1), Tip: onto, Tree: tree}
	go func() {
		// --literally: an author line that is not quite right is kept as well. The answer to each path comes at once.
		_, err := c.Run(ctx, git.Spec{
			Dir: c.OwnDir, Env: c.OwnEnv(), Input: in, Output: out,
			Args: git.Safely([]string{"hash-object", "-t", "commit", "-w", "--literally", "--no-filters", "--stdin-paths"}),
		})
		err = errors.Join(err, out.CloseWithError(cmp.Or[error](err, io.EOF)), in.CloseWithError(io.ErrClosedPipe))
		p.ran <- err
	}()
	return p, nil
}

// Close ends the process and removes its directory. What could not be written was told by write.
func (p *Picker) Close() {
	p.stop()
	_ = p.to.Close()
	<-p.ran
	_ = os.RemoveAll(p.dir)
}

// Write makes a commit of its bytes.
func (p *Picker) Write(raw []byte) (string, error) {
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

// StandIn writes a commit that only serves to choose the merge base: git 2.39 has merge-tree --write-tree without
// --merge-base, so a commit with the wanted tree and the wanted base as its only parent stands in for the real one.
func (p *Picker) StandIn(tree, parent string) (string, error) {
	return p.Write(CommitByUs(p.c, tree, []string{parent}, "stand-in\n"))
}

// Apply gives the tree that the tip has with what commit changed against parent.
func (p *Picker) Apply(ctx context.Context, commit, parent string) (tree string, err error) {
	ours, err := p.StandIn(p.Tree, parent)
	if err != nil {
		return "", err
	}
	return Combine(ctx, p.c, p.files, ours, commit, commit)
}

// Put writes a commit that has the tree and the tip as its parent, and makes it the tip.
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
