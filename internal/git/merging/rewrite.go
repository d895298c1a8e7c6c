package merging

import (
	"bytes"
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

// StandIn writes a commit that only serves to choose the merge base: git 2.39 lacks merge-tree --merge-base, so a commit
// with the wanted tree and the wanted base as its only parent replaces the real one.
func StandIn(c *git.Checkout, tree string, base ...string) (string, error) {
	id, err := git.WriteCommit(c, tree, "stand-in\n", base...)
	return id, git.Wrap(err, "prepare a merge")
}
