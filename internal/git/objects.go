package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Pour runs a command in our own git directory and reads its output while it runs. If the command fails, reading fails.
func (c *Checkout) Pour(ctx context.Context, stdin []byte, read func(*bufio.Reader) error, args ...string) error {
	env := c.OwnEnv()
	return c.Stream(ctx, Spec{Dir: c.OwnDir, Env: env, Stdin: stdin, Args: Safely(args)}, read)
}

// Converse runs a command in our own git directory that answers each line of its input at once: talk writes to it and reads
// its answers. It ends when talk returns.
func (c *Checkout) Converse(ctx context.Context, talk func(to io.Writer, from *bufio.Reader) error, args ...string) error {
	in, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) }) // git would wait for more
	defer stop()
	return c.Stream(ctx, Spec{Dir: c.OwnDir, Env: c.OwnEnv(), Input: in, Args: Safely(args)}, func(from *bufio.Reader) error {
		defer to.Close()
		return talk(to, from)
	})
}

// Stream does the same for any command.
func (c *Checkout) Stream(ctx context.Context, s Spec, read func(*bufio.Reader) error) error {
	out, to := io.Pipe()
	ran := make(chan error, 1)
	s.Output = to
	go func() {
		_, err := c.Run(ctx, s)
		to.CloseWithError(err) // nil is EOF
		ran <- err
	}()
	err := read(bufio.NewReaderSize(out, 64<<10))
	out.CloseWithError(io.ErrClosedPipe) // git exits when it can no longer write
	if failed := <-ran; err == nil {
		return failed
	}
	return err
}

// Object is what git knows about an object without its content.
type Object struct {
	ID   string // "": it is not here
	Kind string // commit, tree, blob or tag
	Size int64  // in bytes
}

// Inspect looks up what revisions name in our own directory, each in its place.
func Inspect(ctx context.Context, c *Checkout, revisions ...string) ([]Object, error) {
	if len(revisions) == 0 {
		return nil, nil
	}
	out, err := c.Tell(ctx, Rows(revisions), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, fmt.Errorf("look for objects: %w", err)
	}
	rows := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(rows) != len(revisions) {
		return nil, fmt.Errorf("look for objects: %d answers for %d names", len(rows), len(revisions))
	}
	found := make([]Object, len(rows))
	for i, row := range rows {
		if found[i], err = objectIn(row); err != nil {
			return nil, fmt.Errorf("look for objects: %w", err)
		}
	}
	return found, nil
}

// objectIn reads a line of git cat-file about an object. One that is not here has no ID.
func objectIn(row string) (Object, error) {
	part := strings.Fields(row)
	if len(part) != 3 || !syntax.IsSHA(part[0]) { // "missing"
		return Object{}, nil
	}
	size, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil {
		return Object{}, fmt.Errorf("unexpected answer %q", row)
	}
	return Object{part[0], part[1], size}, nil
}

// Rows are lines for git to read.
func Rows(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// Texts reads the contents of objects, in any order. One longer than limit bytes is an error; 0: none is. All of them have to be here.
func (c *Checkout) Texts(ctx context.Context, ids []string, limit int64) (map[string][]byte, error) {
	texts := make(map[string][]byte, len(ids))
	err := c.Contents(ctx, slices.Compact(slices.Sorted(slices.Values(ids))), func(id string, content io.Reader) (err error) {
		if limit > 0 {
			content = io.LimitReader(content, limit+1)
		}
		if texts[id], err = io.ReadAll(content); err == nil && limit > 0 && int64(len(texts[id])) > limit {
			err = fmt.Errorf("object %s has over %d bytes", id, limit)
		}
		return err
	})
	return texts, err
}

// Entry is what a tree or an index has at a path: "100644 ID"; "" for nothing.
type Entry string

// Mode is six octal digits; "" for nothing.
func (e Entry) Mode() string { return strings.SplitN(string(e), " ", 2)[0] }

// ID is the object's; "" for nothing.
func (e Entry) ID() string {
	_, id, _ := strings.Cut(string(e), " ")
	return id
}

// IsFile reports whether it is a regular file.
func (e Entry) IsFile() bool { return strings.HasPrefix(string(e), "100") }

// IsBlob reports whether it is a file or a symbolic link.
func (e Entry) IsBlob() bool { return e.IsFile() || e.Mode() == ModeSymlink }

// EntriesIn reads what git ls-tree -z or git ls-files -z --stage prints, by path.
func EntriesIn(out []byte) map[string]Entry {
	found := map[string]Entry{}
	for _, row := range syntax.Fields(out) {
		meta, path, _ := strings.Cut(row, "\t")
		part := slices.DeleteFunc(strings.Fields(meta), func(part string) bool { return part == "blob" || part == "commit" || part == "tree" })
		found[path] = Entry(part[0] + " " + part[1])
	}
	return found
}

// Entries are what a commit or tree has at these paths; missing ones are left out.
func Entries(ctx context.Context, c *Checkout, tree string, paths []string) (map[string]Entry, error) {
	found := map[string]Entry{}
	for some := range slices.Chunk(paths, 200) { // that many fit into an argument list, whatever their length
		out, err := c.Ask(ctx, slices.Concat([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, some)...)
		if err != nil {
			return nil, fmt.Errorf("look up paths in %s: %w", tree, err)
		}
		maps.Copy(found, EntriesIn(out))
	}
	return found, nil
}

// Contents visits the contents of objects in the requested order, duplicates included. What a visit leaves unread is
// skipped. All of them have to be here.
func (c *Checkout) Contents(ctx context.Context, ids []string, visit func(id string, content io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	return c.Pour(ctx, Rows(ids), func(in *bufio.Reader) error {
		for _, id := range ids {
			head, err := in.ReadString('\n')
			if err != nil {
				return fmt.Errorf("read object %s: %w", id, err)
			}
			one, err := objectIn(head)
			if err != nil || one.ID != id {
				return fmt.Errorf("read object %s: unexpected answer %q", id, head)
			}
			content := &io.LimitedReader{R: in, N: one.Size}
			if err := visit(id, content); err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, in, content.N+1); err != nil { // a newline follows
				return fmt.Errorf("read object %s: %w", id, err)
			}
		}
		return nil
	}, "cat-file", "--batch", "--buffer")
}

// Peek visits the contents of objects, in their order. It leaves out missing ones, and those of most bytes or more. One process tells the
// sizes and the contents.
func Peek(ctx context.Context, c *Checkout, ids []string, most int64, visit func(content []byte)) error {
	if len(ids) == 0 {
		return nil
	}
	return c.Converse(ctx, func(to io.Writer, from *bufio.Reader) error {
		for _, id := range ids {
			size, err := askFor(to, from, "info", id)
			if err != nil {
				return err
			}
			if size < 0 || size >= most {
				continue
			}
			if _, err := askFor(to, from, "contents", id); err != nil {
				return err
			}
			content := make([]byte, size+1) // a newline follows
			if _, err := io.ReadFull(from, content); err != nil {
				return fmt.Errorf("read object %s: %w", id, err)
			}
			visit(content[:size])
		}
		return nil
	}, "cat-file", "--batch-command")
}

// askFor sends a command about an object to git cat-file --batch-command, and returns the object's size; -1: it is not here.
func askFor(to io.Writer, from *bufio.Reader, command, id string) (size int64, err error) {
	if _, err := fmt.Fprintf(to, "%s %s\n", command, id); err != nil {
		return 0, fmt.Errorf("ask for object %s: %w", id, err)
	}
	answer, err := from.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("read object %s: %w", id, err)
	}
	if strings.TrimSpace(answer) == id+" missing" {
		return -1, nil
	}
	one, err := objectIn(answer)
	if err != nil || one.ID != id {
		return 0, fmt.Errorf("read object %s: unexpected answer %q", id, answer)
	}
	return one.Size, nil
}
