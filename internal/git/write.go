package git

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/hex"
	"errors"
	"fmt"
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
	dir := filepath.Join(cmp.Or(c.quarantine, c.Objects), id[:2])
	if _, err := os.Lstat(filepath.Join(dir, id[2:])); err == nil {
		return id, nil
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err = z.Write(raw)
	err = errors.Join(err, z.Close(), os.MkdirAll(dir, 0o777))
	if err == nil {
		err = put(dir, id[2:], packed.Bytes())
	}
	return id, Wrap(err, "write %s", kind)
}

// put writes a file that nobody sees before it is whole. Git removes what a killed process leaves of one.
func put(dir, name string, content []byte) error {
	file, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(0o444), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
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
