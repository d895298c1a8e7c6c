package git

import (
	"cmp"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// WriteObject writes an object into a file of its own, as git does (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects), and returns
// its id. It does not check what is in it. Git would need a process for each, or one that answers at once.
func WriteObject(c *Checkout, kind string, content []byte) (id string, err error) {
	raw := fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content)
	sum := sha1.Sum(raw) //nolint:gosec // git's own
	id = hex.EncodeToString(sum[:])
	file := filepath.Join(cmp.Or(c.quarantine, c.Objects), id[:2], id[2:])
	if _, err := os.Lstat(file); err == nil {
		return id, nil
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o777); err == nil {
		err = WriteWhole(file, "tmp_obj_", 0o444, func(to io.Writer) error { // git removes what a killed process leaves of that name
			z := zlib.NewWriter(to)
			_, err := z.Write(raw)
			return errors.Join(err, z.Close())
		})
	}
	return id, Wrap(err, "write %s", kind)
}

// WriteCommit writes a commit by us, of now.
func WriteCommit(c *Checkout, tree, message string, parents ...string) (id string, err error) {
	who := Us(c)
	return WriteObject(c, "commit", CommitObject(tree, slices.Compact(parents), who, who, message))
}

// Us is our author or committer line, of now.
func Us(c *Checkout) string { return fmt.Sprintf("%s %d +0000", c.Opt.Identity, c.Opt.Now().Unix()) }

// CommitObject is the content of a commit.
func CommitObject(tree string, parents []string, author, committer, message string) []byte {
	out := "tree " + tree + "\n"
	for _, parent := range parents {
		out += "parent " + parent + "\n"
	}
	return []byte(out + "author " + author + "\ncommitter " + committer + "\n\n" + message)
}
