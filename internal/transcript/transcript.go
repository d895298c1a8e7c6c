// Package transcript seals the transcript of an agent's session, so that it can lie where everybody who reads the
// repository can read it, and the next turn can go on with the session on another machine. What is sealed is a plain age
// file (https://age-encryption.org/v1) around a gzipped tar archive, so that whoever has the key can look into it without
// us: age --decrypt -i key.txt | tar -tz.
//
// age tells nobody who sealed a file, and a hidden ref can be moved by whoever may push. So what is opened has to be what
// a receipt names by its digest, and says itself which pull request and session it is of.
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

// About says what a transcript is of. It is sealed with it.
type About struct {
	Repository  string `json:"repository"` // owner/name
	PullRequest int    `json:"pull_request"`
	Adapter     string `json:"adapter"`
	Session     string `json:"session"` // as the receipt names it
}

// String names it for a person; the values are quoted, since they can be anybody's.
func (a About) String() string {
	return fmt.Sprintf("%s#%d, %s, session %s", quoted(a.Repository), a.PullRequest, quoted(a.Adapter), quoted(a.Session))
}

// same compares as GitHub does: names of repositories have no case.
func (a About) same(b About) bool {
	repository := strings.EqualFold(a.Repository, b.Repository)
	a.Repository = b.Repository
	return repository && a == b
}

// Kind says why a transcript was not sealed or opened.
type Kind string

// The kinds.
const (
	Size    Kind = "size"    // it is longer than what is kept, or has no files
	Changed Kind = "changed" // it is not the one that the receipt names
	Locked  Kind = "locked"  // it was sealed with another key
	Damaged Kind = "damaged" // it is no sealed transcript, or not all of it
	Foreign Kind = "foreign" // it is of another pull request or session
)

// Error is a transcript that was not sealed or opened: one line that says why.
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

// Open gives the files of a sealed transcript, if it is the one with that digest and is about what it should be about.
// Nothing of it is looked at before all of it has been found to be whole. The error is an *Error.
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

// damaged puts an error of a library behind our own words for it.
func damaged(what string, err error) *Error {
	return &Error{Damaged, fmt.Sprintf("%s (%s)", what, strings.Join(strings.Fields(err.Error()), " ")), err}
}

// quoted is a text that could be anybody's, short and on one line.
func quoted(text string) string {
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return fmt.Sprintf("%q", text)
}
