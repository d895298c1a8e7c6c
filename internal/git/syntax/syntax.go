// Package syntax knows the formats of git and its servers: ref names, object IDs, output, and messages of a lost race. It also
// makes outside text safe to print. It runs nothing.
package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Quoted lists paths for people: quoted, since they are bytes, and at most ten.
func Quoted(paths []string) string {
	var list []string
	for i, path := range paths {
		if i == 10 {
			list = append(list, fmt.Sprintf("and %d more", len(paths)-i))
			break
		}
		list = append(list, fmt.Sprintf("%q", path))
	}
	return strings.Join(list, ", ")
}

// ValidRef accepts full ref names that are safe in a refspec
// (https://git-scm.com/docs/git-check-ref-format has the rules; the server enforces the rest of them).
func ValidRef(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "refs/")
	if !ok || rest == "" || strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, "/") {
		return false
	}
	return !strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`:?*[\^~`, r) })
}

var shaPattern = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// IsSHA accepts a full object id, so that nothing else can be taken for an option or a revision expression.
func IsSHA(s string) bool { return shaPattern.MatchString(s) }

// IsBranch reports whether a branch can have this name, which is without refs/heads/.
func IsBranch(name string) bool { return ValidRef("refs/heads/" + name) }

// HasMarkers reports whether a line starts or ends a conflict.
func HasMarkers(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return true
		}
	}
	return false
}

// Sniffed is how many bytes of a file git checks for a zero byte (buffer_is_binary).
const Sniffed = 8000

// IsBinary reports whether git takes a file that starts like this for binary.
func IsBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), Sniffed)], 0) >= 0 }

// NameRefused reports whether the server takes no ref of that name: a branch above or below it has the name, an equal one in
// another case, or a rule is about names. These are the words of git before and since 2.50, and of GitHub's front end and rulesets.
func NameRefused(said string) bool {
	said = strings.ToLower(said)
	return slices.ContainsFunc([]string{
		"exists; cannot create", "refname conflict", "conflict due to case-insensitive", "directory file conflict", "directory/file conflict",
		"funny refname", "gh005", "creations being restricted", "branch name must",
	}, func(words string) bool { return strings.Contains(said, words) })
}

var pointer = regexp.MustCompile(`\Aversion https?://\S*(?:git-lfs|hawser|git-media)\S*\s+(?:ext-\S.*\s+)*oid sha256:[0-9a-f]{64}\s`)

// IsPointer reports whether a file is what Git LFS commits in place of a content: at most 1024 bytes
// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
func IsPointer(text []byte) bool { return len(text) < 1024 && pointer.Match(text) }

// LockLost reports whether the server found a ref moved after it had reported it. Somebody was faster; but that may have
// been this very push: HTTP clients resend a request when a kept connection breaks, and the second one then finds the first one's
// change.
func LockLost(said string) bool {
	said = strings.ToLower(said)
	words := []string{"failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value", "reference already exists"}
	return !NameRefused(said) && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
}

// Clean removes control characters, so that outside text cannot control a terminal or a log.
func Clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// Line is the first line of git's output.
func Line(out []byte) string {
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// Fields splits git's -z output.
func Fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
