package handoff

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/mergexo/mergexo/internal/strictjson"
)

// ErrAbsent says that there is no handoff: the agent's job died before it wrote one, or its artifact was not transferred.
var ErrAbsent = errors.New("the agent's job handed over nothing")

// format is what the outcome file must have, of whatever it is about.
var format = strictjson.Rules{
	Name: OutcomeFile,
	Required: map[string][]string{
		"":                         {"version", "repository", "number", "ended", "outcome"},
		"bundle":                   {"sha256", "size"},
		"outcome.review_replies[]": {"review_comment_id", "body"},
		"outcome.git_ops[]":        {"op"},
		"outcome.findings[]":       {"path", "line", "severity", "text"},
	},
	Nullable: []string{"outcome"},
	MaxItems: 1000,
}

// Read reads and validates an untrusted handoff directory. Errors are ErrAbsent, *Refusal, or the file system's own. It
// only checks the bundle's size and hash; git checks its commits.
func Read(dir string) (Handoff, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Handoff{}, fmt.Errorf("%w: there is no %s", ErrAbsent, dir)
	}
	if err != nil {
		return Handoff{}, fmt.Errorf("read handoff: %w", err)
	}
	defer root.Close()
	there, err := entries(root)
	if err != nil {
		return Handoff{}, err
	}
	if len(there) == 0 {
		return Handoff{}, fmt.Errorf("%w: %s is empty", ErrAbsent, dir)
	}
	h, err := readOutcome(root)
	if err != nil {
		return Handoff{}, err
	}
	if err := h.validate(); err != nil {
		return Handoff{}, err
	}
	if bundled := slices.Contains(there, BundleFile); !bundled && h.Bundle != nil {
		return Handoff{}, refuse(BundleFile, "missing, but %s names commits up to %s", OutcomeFile, h.Head)
	} else if bundled && h.Bundle == nil {
		return Handoff{}, refuse(BundleFile, "it exists, but %s names no commits", OutcomeFile)
	}
	if h.Bundle != nil {
		err = compare(root, *h.Bundle)
	}
	return h, err
}

// entries lists a handoff's directory and refuses unexpected files.
func entries(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("read handoff: %w", err)
	}
	defer dir.Close()
	const many = 100 // of more, any is refused as well as another
	names, err := dir.Readdirnames(many)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read handoff: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if name != OutcomeFile && name != BundleFile {
			return nil, refuse(excerpt(name), "it is not part of a handoff, which has %s and %s", OutcomeFile, BundleFile)
		}
	}
	return names, nil
}

// open opens a file that is neither a link nor hard-linked, up to a size limit.
func open(root *os.Root, name string, limit int64) (*os.File, error) {
	before, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(name, "missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read handoff: %w", err)
	}
	if err := regular(name, before); err != nil {
		return nil, err
	}
	// O_NONBLOCK: opening a pipe would block forever.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read handoff: %w", err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("read handoff: %w", err)
	case !os.SameFile(before, info):
		err = refuse(name, "it was replaced while it was opened")
	case info.Size() > limit:
		err = refuse(name, "%d bytes, at most %d", info.Size(), limit)
	default:
		return file, nil
	}
	return nil, errors.Join(err, file.Close())
}

func regular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return refuse(name, "it is a symbolic link")
	case mode.IsDir():
		return refuse(name, "it is a directory")
	case !mode.IsRegular():
		return refuse(name, "it is not a regular file (%s)", mode.Type())
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return refuse(name, "it has %d names: a hard link", stat.Nlink)
	}
	return nil
}

func readOutcome(root *os.Root) (Handoff, error) {
	text, err := outcomeText(root)
	if err != nil {
		return Handoff{}, err
	}
	return decode(text)
}

func outcomeText(root *os.Root) ([]byte, error) {
	file, err := open(root, OutcomeFile, MaxOutcome)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxOutcome))
	if err != nil {
		return nil, fmt.Errorf("read handoff: %w", err)
	}
	return text, nil
}

// Digest is the SHA-256 of a handoff's outcome file, also of one that Read refuses; "" if there is none. A handoff that is read again
// has the same one, and what another run of the agent's job makes has another, since Made differs.
func Digest(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	text, err := outcomeText(root)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// compare checks the bundle file against its description.
func compare(root *os.Root, said Bundle) error {
	file, err := open(root, BundleFile, MaxBundle)
	if err != nil {
		return err
	}
	defer file.Close()
	is, err := describe(io.LimitReader(file, MaxBundle))
	switch {
	case err != nil:
		return err
	case is.Size != said.Size:
		return refuse(BundleFile, "%d bytes, %s says %d", is.Size, OutcomeFile, said.Size)
	case is.SHA256 != said.SHA256:
		return refuse(BundleFile, "its SHA-256 is %s, %s says %s", is.SHA256, OutcomeFile, said.SHA256)
	}
	return nil
}

// describe computes a bundle's size and hash.
func describe(file io.Reader) (Bundle, error) {
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return Bundle{}, fmt.Errorf("read %s: %w", BundleFile, err)
	}
	return Bundle{hex.EncodeToString(sum.Sum(nil)), size}, nil
}
