// Package transcript encrypts the transcript of an agent's session. So it can be stored in the repository, where everybody can
// read it, and the next turn can continue the session on another machine.
//
// The result is a plain age file (https://age-encryption.org/v1) around a gzipped tar archive. Whoever has the key can read it
// without MergeXO: age --decrypt -i key.txt | tar -tz.
//
// An age file does not prove who encrypted it, and everybody who may push can move a private ref. So Open only accepts the file
// whose digest a receipt names, and the file itself must name its pull request and session.
package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// The bounds of a transcript.
const (
	MaxPlain  = 64 << 20 // bytes of its files
	MaxSealed = 25 << 20 // bytes when it is sealed; GitHub takes files of up to 100 MiB
	maxFiles  = 100
)

// About says which pull request and session a transcript belongs to. It is encrypted with it.
type About struct {
	Repository  string `json:"repository"` // owner/name
	PullRequest int    `json:"pull_request"`
	Adapter     string `json:"adapter"`
	Session     string `json:"session"` // as the receipt names it
}

// String names it for a person. The values are quoted, since anybody can have written them.
func (a About) String() string {
	return fmt.Sprintf("%s#%d, %s, session %s", quoted(a.Repository), a.PullRequest, quoted(a.Adapter), quoted(a.Session))
}

// same compares as GitHub does, which ignores case in the names of repositories.
func (a About) same(b About) bool {
	repository := strings.EqualFold(a.Repository, b.Repository)
	a.Repository = b.Repository
	return repository && a == b
}

// Kind says why a transcript was not sealed or opened.
type Kind string

// The kinds.
const (
	Size    Kind = "size"    // it is too long to be kept, or has no files
	Changed Kind = "changed" // it is not the one that the receipt names
	Locked  Kind = "locked"  // it was sealed with another key
	Damaged Kind = "damaged" // it is not an encrypted transcript, or a part is missing
	Foreign Kind = "foreign" // it belongs to another pull request or session
)

// Error says in one line why a transcript was not sealed or opened.
type Error struct {
	Kind   Kind
	Detail string
	Err    error
}

func (e *Error) Error() string { return "transcript: " + e.Detail }
func (e *Error) Unwrap() error { return e.Err }

// Digest names a sealed transcript: SHA-256, in hexadecimal.
func Digest(sealed []byte) string {
	sum := sha256.Sum256(sealed)
	return hex.EncodeToString(sum[:])
}

// Seal packs files, by their slash-separated relative paths, and encrypts them for the key. The error is an *Error.
func (k Key) Seal(about About, files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	to, err := age.Encrypt(&out, k.identity.Recipient())
	if err != nil {
		return nil, &Error{Damaged, "cannot be sealed (" + err.Error() + ")", err}
	}
	if err := pack(to, about, files); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, &Error{Damaged, "cannot be sealed (" + err.Error() + ")", err}
	}
	if out.Len() > MaxSealed {
		return nil, &Error{Kind: Size, Detail: fmt.Sprintf("it has %d bytes when it is sealed: at most %d are kept", out.Len(), MaxSealed)}
	}
	return out.Bytes(), nil
}

// Open returns the files of a sealed transcript that has this digest and belongs to this pull request and session. It reads
// nothing of it before it has checked the whole. The error is an *Error.
func (k Key) Open(about About, digest string, sealed []byte) (map[string][]byte, error) {
	if len(sealed) > MaxSealed {
		return nil, &Error{Kind: Size, Detail: fmt.Sprintf("it has %d bytes: at most %d are opened", len(sealed), MaxSealed)}
	}
	if got := Digest(sealed); got != digest {
		return nil, &Error{Kind: Changed, Detail: fmt.Sprintf("it is not the one that the receipt names (sha256 %s, not %s)", got, quoted(digest))}
	}
	in, err := age.Decrypt(bytes.NewReader(sealed), k.identity)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, &Error{Locked, "it was sealed with another key than the one in transcript-key (MERGEXO_TRANSCRIPT_KEY)", err}
	case err != nil:
		return nil, damaged("it is not a whole age file", err)
	}
	plain, err := io.ReadAll(in)
	if err != nil {
		return nil, damaged("it is not a whole age file", err)
	}
	found, files, err := unpack(plain)
	if err != nil {
		return nil, err
	}
	if !found.same(about) {
		return nil, &Error{Kind: Foreign, Detail: fmt.Sprintf("it is of %s, not of %s", found, about)}
	}
	return files, nil
}

// damaged adds our own words to an error of a library.
func damaged(what string, err error) *Error {
	return &Error{Damaged, fmt.Sprintf("%s (%s)", what, strings.Join(strings.Fields(err.Error()), " ")), err}
}

// quoted returns untrusted text, short and on one line.
func quoted(text string) string {
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return fmt.Sprintf("%q", text)
}
