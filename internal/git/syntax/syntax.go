// Package syntax knows how git and its servers write things: which ref names and object ids are valid, how an answer is split, what
// their words for a lost race are, and how text from outside is made safe to print. It runs nothing.
package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Quoted lists paths for a person: quoted, since they are bytes, and not more than ten.
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

// ValidRef accepts full ref names that can stand in a refspec
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

// HasMarkers says that a line opens or closes a conflict.
func HasMarkers(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return true
		}
	}
	return false
}

// Sniffed is how many bytes of a file git looks at for a zero byte (buffer_is_binary).
const Sniffed = 8000

// IsBinary reports whether git takes a file that begins so for a binary one.
func IsBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), Sniffed)], 0) >= 0 }

// LockLost reports whether the server found a ref moved after it had told us where the ref is. Somebody was quicker; but
// that may have been this very push: curl sends a request again when a kept connection dies under it, and the second
// one meets what the first has done.
func LockLost(said string) bool {
	said = strings.ToLower(said)
	for _, word := range []string{"failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value", "reference already exists"} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// Clean removes control characters, so that what a server or a path says cannot drive a terminal or a log.
func Clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// Line is the first line of git's answer.
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
