package merging

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// change is what differs between two commits: for each path a sum of its old and new mode and of the lines that go and
// come, in their order, with three lines around them, as git-patch-id(1) takes them: the same lines at another place are
// another change, unless what is around them is the same there. The paths are as git quotes them in a patch.
type change map[string][sha256.Size]byte

// changes compares pairs of commits, newer first, in one process. Contents are compared by line whatever attributes say, so
// that binaries count byte for byte too.
func changes(ctx context.Context, c *git.Checkout, pairs [][2]string) ([]change, error) {
	var ask strings.Builder
	for _, pair := range pairs {
		ask.WriteString(pair[0] + " " + pair[1] + "\n")
	}
	if err := fillChanges(ctx, c, pairs); err != nil {
		return nil, err
	}
	var list []change
	read := func(in *bufio.Reader) (err error) {
		list, err = readChanges(in)
		return err
	}
	err := c.Pour(ctx, []byte(ask.String()), read, "-c", "core.quotePath=true", "-c", "diff.indentHeuristic=false", "diff-tree", "--stdin", "--always", "--root", "-m", "-r", "-p", "-U3", "--inter-hunk-context=0",
		"--text", "--no-renames", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers", "--ignore-submodules=none", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/")
	if err == nil && len(list) != len(pairs) {
		err = errors.New("the answer breaks off")
	}
	return list, git.Wrap(err, "compare what changed")
}

// fillChanges fetches the files for these comparisons into a partial clone.
func fillChanges(ctx context.Context, c *git.Checkout, pairs [][2]string) error {
	if !c.Partial {
		return nil
	}
	need := &history.Needed{Ids: map[string]bool{}}
	err := history.Differences(ctx, c, pairs, func(_ int, all []history.Altered) {
		for _, one := range all {
			need.Add(one.Old, one.New)
		}
	})
	if err != nil {
		return err
	}
	return history.FetchMissing(ctx, c, need.Sorted())
}

// readChanges parses the patches of git diff-tree --stdin (https://git-scm.com/docs/diff-generate-patch).
func readChanges(in *bufio.Reader) ([]change, error) {
	r := &patchReader{in: in}
	for {
		row, err := r.row()
		if errors.Is(err, io.EOF) {
			r.end()
			return r.list, nil
		}
		if err != nil {
			return nil, err
		}
		if err := r.take(row); err != nil {
			return nil, err
		}
	}
}

// patchReader holds the hash of the current file.
type patchReader struct {
	in    *bufio.Reader
	list  []change
	path  string
	sum   hash.Hash
	index []byte // the index line, which only counts if git shows no lines
	plain bool   // it showed lines
}

// row is a line of a header; paths limit its length.
func (r *patchReader) row() ([]byte, error) {
	var row []byte
	for {
		part, err := r.in.ReadSlice('\n')
		row = append(row, part...)
		if err == nil || errors.Is(err, io.EOF) && len(row) > 0 {
			return bytes.TrimSuffix(row, []byte("\n")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(row) > 1<<20 {
			return nil, err
		}
	}
}

func (r *patchReader) take(row []byte) error {
	switch {
	case syntax.IsSHA(string(row)):
		r.end()
		r.list = append(r.list, change{})
	case bytes.HasPrefix(row, []byte("diff --git ")):
		r.end()
		r.path, r.sum, r.index, r.plain = string(row[len("diff --git "):]), sha256.New(), nil, false
	case r.sum == nil:
		if len(row) > 0 {
			return fmt.Errorf("unexpected line %q", row)
		}
	case bytes.HasPrefix(row, []byte("@@ ")):
		return r.hunk(row)
	case bytes.HasPrefix(row, []byte("index ")):
		r.index = bytes.Clone(row)
		if fields := bytes.Fields(row); len(fields) == 3 { // an unchanged mode; a file may be executable on one side alone
			r.add(bytes.Replace(fields[2], []byte("100755"), []byte("100644"), 1))
		}
	case bytes.HasPrefix(row, []byte("--- ")), bytes.HasPrefix(row, []byte("+++ ")):
	default: // old mode, new mode, new file mode, deleted file mode, Binary files ... differ
		r.add(row)
	}
	return nil
}

func (r *patchReader) add(text []byte) {
	r.sum.Write(text)
	r.sum.Write([]byte{'\n'})
}

// hunk reads as many lines as its header says, so that file content is never taken for a header.
func (r *patchReader) hunk(head []byte) error {
	r.plain = true
	part := bytes.Fields(head)
	if len(part) < 4 {
		return fmt.Errorf("unexpected line %q", head)
	}
	was, is := lineCount(part[1]), lineCount(part[2])
	r.sum.Write([]byte("@\n"))
	for was > 0 || is > 0 {
		next, err := r.in.Peek(1)
		if err != nil {
			return err
		}
		switch next[0] {
		case '-':
			was--
		case '+':
			is--
		case ' ':
			was, is = was-1, is-1
		case '\\': // the line before ends the file without a newline
		default:
			return fmt.Errorf("unexpected line after %q", head)
		}
		if err := r.line(); err != nil {
			return err
		}
		if was < 0 || is < 0 {
			return fmt.Errorf("unexpected line after %q", head)
		}
	}
	if next, err := r.in.Peek(1); err == nil && next[0] == '\\' {
		return r.line()
	}
	return nil
}

// line adds a hunk's line to the hash, however long it is.
func (r *patchReader) line() error {
	for {
		part, err := r.in.ReadSlice('\n')
		r.sum.Write(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// lineCount is the number of lines in "-12,3" or "+12".
func lineCount(span []byte) int {
	_, count, ok := bytes.Cut(span, []byte(","))
	if !ok {
		return 1
	}
	n := 0
	if _, err := fmt.Sscanf(string(count), "%d", &n); err != nil || n < 0 {
		return -1 << 30
	}
	return n
}

// end stores the current file's hash under its path.
func (r *patchReader) end() {
	if r.sum == nil {
		return
	}
	if !r.plain {
		r.add(r.index)
	}
	r.list[len(r.list)-1][r.path] = [sha256.Size]byte(r.sum.Sum(nil))
	r.sum = nil
}
