package sandbox

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names objects by it
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// writeObject stores an object as git does, in a file of its own: a process of git's for each would take most of a test's time.
// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects#_object_storage
func (g gitStore) writeObject(r *Repository, kind string, data []byte) (string, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sha := fmt.Sprintf("%x", sha1.Sum(whole)) //nolint:gosec // see above
	file := filepath.Join(g.path(r), "objects", sha[:2], sha[2:])
	if _, err := os.Stat(file); err == nil {
		return sha, nil
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(whole)
	if err = errors.Join(err, z.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	return sha, writeAtomically(file, packed.Bytes())
}

// commitTree writes a commit, and refuses what git commit-tree refuses.
func (g gitStore) commitTree(r *Repository, tree string, parents []string, message string, author, committer signature) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, by := range []struct {
		role string
		signature
	}{{"author", author}, {"committer", committer}} {
		at, err := time.Parse(time.RFC3339, by.Date)
		if err != nil {
			return "", fmt.Errorf("write commit: date of the %s: %w", by.role, err)
		}
		name := withoutCrud(by.Name)
		if name == "" {
			return "", fmt.Errorf("write commit: the %s has no name", by.role)
		}
		fmt.Fprintf(&b, "%s %s <%s> %d +0000\n", by.role, name, withoutCrud(by.Email), at.Unix())
	}
	if strings.Contains(message, "\x00") {
		return "", errors.New("write commit: the message has a NUL byte")
	}
	fmt.Fprintf(&b, "\n%s", message)
	return g.writeObject(r, "commit", []byte(b.String()))
}

// withoutCrud is a name or an address as git writes it into a commit: https://git-scm.com/docs/git-commit#_commit_information
func withoutCrud(s string) string {
	s = strings.TrimFunc(s, func(c rune) bool { return c <= ' ' || strings.ContainsRune(`.,:;<>"\'`, c) })
	return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
}

// signedAt is who made something at a time.
func signedAt(name, email string, t time.Time) signature { return signature{name, email, stamp(t)} }

// byGitHub is the committer of what GitHub itself makes.
func byGitHub(t time.Time) signature { return signedAt("GitHub", "noreply@github.com", t) }

// setRef points a ref at an object, unless it is not where c.old has it. It takes the lock that git takes, and refuses what git
// update-ref refuses: a ref below another one, and a branch that is no commit. https://git-scm.com/docs/gitrepository-layout
func (g gitStore) setRef(r *Repository, c refChange) error {
	found, err := g.objects(r).find(c.now)
	if err == nil && strings.HasPrefix(c.ref, "refs/heads/") && found.kind != "commit" {
		err = errors.New("a branch is a commit")
	}
	if err != nil {
		return fmt.Errorf("set %s to %s: %w", c.ref, c.now, err)
	}
	file := filepath.Join(g.path(r), filepath.FromSlash(c.ref))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("set %s: %w", c.ref, err)
	}
	lock, err := os.OpenFile(file+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("set %s: somebody else does: %w", c.ref, err)
	}
	_, err = lock.WriteString(c.now + "\n")
	if err = errors.Join(err, lock.Close(), g.mayMove(r, c)); err == nil {
		err = os.Rename(lock.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", c.ref, errors.Join(err, os.Remove(lock.Name())))
	}
	return nil
}

// mayMove checks that a ref is where it is said to be, and that no other one is above or below it.
func (g gitStore) mayMove(r *Repository, c refChange) error {
	refs, err := g.readRefs(r)
	if err != nil {
		return err
	}
	if refs[c.ref] != c.old {
		return fmt.Errorf("it is at %q, not at %q", refs[c.ref], c.old)
	}
	for ref := range refs {
		if strings.HasPrefix(ref, c.ref+"/") || strings.HasPrefix(c.ref, ref+"/") {
			return fmt.Errorf("there is %s", ref)
		}
	}
	return nil
}

// dropRef deletes a ref, unless it is not where c.old has it. It is git who does, since a ref may be in its packed-refs.
func (g gitStore) dropRef(r *Repository, c refChange) error {
	_, err := g.run(r, "update-ref", "-d", c.ref, c.old)
	return err
}
