package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// picker puts commits on top of each other, in memory. It writes all commits through one process, so that a pick costs
// the merge itself and little else. Close it.
type picker struct {
	c     *Checkout
	files string // where the attributes of files are read
	dir   string // where a commit lies for git to take
	to    *io.PipeWriter
	from  *bufio.Reader
	ran   chan error
	stop  func() bool

	tip, tree string // what was put on top so far
}

// picker starts at a commit.
func (c *Checkout) picker(ctx context.Context, files, onto string) (*picker, error) {
	out, err := c.ask(ctx, "rev-parse", "--verify", onto+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("read tree of %s: %w", onto, err)
	}
	return c.pickerOn(ctx, files, onto, line(out))
}

// pickerOn starts at a commit whose tree is known.
func (c *Checkout) pickerOn(ctx context.Context, files, onto, tree string) (*picker, error) {
	dir, err := c.temporary("pick")
	if err != nil {
		return nil, fmt.Errorf("make directory for commits: %w", err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) }) // git would wait for more
	p := &picker{stop: stop, c: c, files: files, dir: dir, to: to, from: bufio.NewReader(from), ran: make(chan error, 1), tip: onto, tree: tree}
	go func() {
		// --literally: an author line that is not quite right is kept as well. The answer to each path comes at once.
		_, err := c.run(ctx, spec{
			dir: c.own, env: c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects), input: in, output: out,
			args: concat(shield, offline, []string{"hash-object", "-t", "commit", "-w", "--literally", "--no-filters", "--stdin-paths"}),
		})
		err = errors.Join(err, out.CloseWithError(errOr(err, io.EOF)), in.CloseWithError(io.ErrClosedPipe))
		p.ran <- err
	}()
	return p, nil
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// close ends the process and removes its directory. What could not be written was told by write.
func (p *picker) close() {
	p.stop()
	_ = p.to.Close()
	<-p.ran
	_ = os.RemoveAll(p.dir)
}

// write makes a commit of its bytes.
func (p *picker) write(raw []byte) (string, error) {
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
	if sha := line([]byte(answer)); isSHA(sha) {
		return sha, nil
	}
	return "", fmt.Errorf("write commit: unexpected answer %q", answer)
}

// standIn writes a commit that only serves to choose the merge base: git 2.39 has merge-tree --write-tree without
// --merge-base, so a commit with the wanted tree and the wanted base as its only parent stands in for the real one.
func (p *picker) standIn(tree, parent string) (string, error) {
	return p.write(p.c.plain(tree, []string{parent}, "stand-in\n"))
}

// apply gives the tree that the tip has with what commit changed against parent.
func (p *picker) apply(ctx context.Context, commit, parent string) (tree string, err error) {
	ours, err := p.standIn(p.tree, parent)
	if err != nil {
		return "", err
	}
	return p.c.combine(ctx, p.files, ours, commit, commit)
}

// put writes a commit that has the tree and the tip as its parent, and makes it the tip.
func (p *picker) put(was string, raw []byte, tree string) error {
	sha, err := p.write(raw)
	if err != nil {
		return fmt.Errorf("write commit for %s: %w", was, err)
	}
	p.tip, p.tree = sha, tree
	return nil
}

// plain is a commit object by us.
func (c *Checkout) plain(tree string, parents []string, message string) []byte {
	who := fmt.Sprintf("%s %d +0000", c.opt.Identity, c.opt.Now().Unix())
	return object(tree, parents, who, who, message)
}

// object is a commit object.
func object(tree string, parents []string, author, committer, message string) []byte {
	out := "tree " + tree + "\n"
	for _, parent := range parents {
		out += "parent " + parent + "\n"
	}
	return []byte(out + "author " + author + "\ncommitter " + committer + "\n\n" + message)
}
