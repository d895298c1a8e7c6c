package mergetree

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
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
	fmt.Fprintf(&out, "tree %s\nparent %s\n%s\ncommitter %s\n%s\n", tree, parent, author, git.Us(c), encoding)
	out.Write(message)
	return out.Bytes()
}

// Picker puts commits on top of each other in memory, so that a pick costs little more than its merge.
type Picker struct {
	C     *git.Checkout
	Files string // directory of the attribute files

	Tip, Tree string // the result so far, and at first where it starts
}

// StandIn writes a commit that only serves to choose the merge base: git 2.39 lacks merge-tree --merge-base, so a commit
// with the wanted tree and the wanted base as its only parent replaces the real one.
func (p *Picker) StandIn(tree, parent string) (string, error) {
	return git.WriteCommit(p.C, tree, "stand-in\n", parent)
}

// Apply returns the tip's tree with the change of commit against parent.
func (p *Picker) Apply(ctx context.Context, commit, parent string) (tree string, err error) {
	ours, err := p.StandIn(p.Tree, parent)
	if err != nil {
		return "", err
	}
	return Combine(ctx, p.C, p.Files, ours, commit, commit)
}

// Put writes a commit with this tree on the tip, and makes it the tip.
func (p *Picker) Put(was string, raw []byte, tree string) error {
	sha, err := git.WriteObject(p.C, "commit", raw)
	if err != nil {
		return fmt.Errorf("write commit for %s: %w", was, err)
	}
	p.Tip, p.Tree = sha, tree
	return nil
}
