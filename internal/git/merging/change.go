package merging

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// change is a sum of what differs between two commits: of each path's old and new mode and of the lines that go and come, in their order,
// with three lines around them, as git-patch-id(1) takes them: the same lines at another place are another change, unless what is around
// them is the same there. "" is no difference.
type change string

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
	need := history.Needed{}
	if err := history.Differences(ctx, c, pairs, func(_ int, all []history.Altered) { need.Both(all) }); err != nil {
		return err
	}
	return need.Fetch(ctx, c)
}

// readChanges sums up the patches of git diff-tree --stdin (https://git-scm.com/docs/diff-generate-patch). It reads parts of lines, since a
// file's lines may be long. No line of a file can be taken for one of a header: it has a blank, a sign or a backslash before it.
func readChanges(in *bufio.Reader) (list []change, err error) {
	sum, some := sha256.New(), false
	end := func() {
		if some {
			list[len(list)-1] = change(sum.Sum(nil))
		}
		sum.Reset()
		some = false
	}
	for begins := true; ; {
		part, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(part) == 0 {
			end()
			return list, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if begins && syntax.IsSHA(string(bytes.TrimSuffix(part, []byte("\n")))) {
			end()
			list, part = append(list, ""), nil
		} else if begins {
			part = withoutPlace(part)
		}
		if len(part) > 0 && len(list) == 0 {
			return nil, fmt.Errorf("unexpected line %q", part)
		}
		sum.Write(part)
		some, begins = some || len(part) > 0, err == nil
	}
}

// withoutPlace is a line of a patch without what says where the change is: the numbers of lines and the ids of files. A file may be
// executable on one side alone.
func withoutPlace(line []byte) []byte {
	switch {
	case len(line) == 1: // between the id of a commit and its patch
		return nil
	case bytes.HasPrefix(line, []byte("@@ ")):
		return []byte("@\n")
	case bytes.HasPrefix(line, []byte("index ")):
		_, mode, _ := bytes.Cut(line[len("index "):], []byte(" "))
		return bytes.Replace(mode, []byte("100755"), []byte("100644"), 1)
	}
	return line
}
