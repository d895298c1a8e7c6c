package transcript

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// An archive holds about.json and then the files, below files/, sorted. It leaves out everything that could differ between two
// archives of the same files.
const (
	aboutName = "about.json"
	filesDir  = "files/"
	maxAbout  = 16 << 10
	// maxArchive is larger than any archive: each file has two headers and padding, and then comes the end.
	maxArchive = MaxPlain + maxAbout + (maxFiles+2)*4096
)

// envelope is about.json. A version that is not known is refused: its fields may mean something else.
type envelope struct {
	Version int `json:"version"`
	About
}

const version = 1

// badPath says why a path cannot be in a transcript; "" if it can.
func badPath(path string) string {
	switch {
	case len(path) > 250:
		return "is too long"
	case !fs.ValidPath(path) || path == ".":
		return "is not a relative path without . and .."
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }):
		return "has a character that not every file system takes"
	}
	return ""
}

// pack writes the archive.
func pack(to io.Writer, about About, files map[string][]byte) error {
	total := 0
	for path, text := range files {
		if why := badPath(path); why != "" {
			return &Error{Kind: Damaged, Detail: fmt.Sprintf("cannot be sealed (the path %s %s)", quoted(path), why)}
		}
		total += len(text)
	}
	head, err := json.Marshal(envelope{version, about})
	switch {
	case err != nil:
	case len(files) == 0:
		return &Error{Kind: Size, Detail: "it has no files"}
	case len(files) > maxFiles || total > MaxPlain || len(head) > maxAbout:
		return &Error{Kind: Size, Detail: fmt.Sprintf("it has %d bytes in %d files: at most %d in %d are kept", total, len(files), MaxPlain, maxFiles)}
	default:
		zipped := gzip.NewWriter(to)
		archive := tar.NewWriter(zipped)
		err = add(archive, aboutName, head)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			err = errors.Join(err, add(archive, filesDir+path, files[path]))
		}
		err = errors.Join(err, archive.Close(), zipped.Close())
	}
	if err != nil {
		return &Error{Damaged, "cannot be sealed (" + err.Error() + ")", err}
	}
	return nil
}

func add(to *tar.Writer, name string, text []byte) error {
	if err := to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err := to.Write(text)
	return err
}

// unpack reads an archive as pack writes it, and refuses any other. Every error is an *Error.
func unpack(packed []byte) (About, map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return About{}, nil, damaged("it is not a gzipped archive", err)
	}
	// One byte above the limit shows that the archive is too long.
	in := &io.LimitedReader{R: zipped, N: maxArchive + 1}
	about, files, err := entries(tar.NewReader(in))
	if err == nil {
		var rest int64
		if rest, err = io.Copy(io.Discard, in); err == nil && rest > 0 {
			err = errors.New("something follows its end")
		}
	}
	var known *Error
	switch {
	case in.N <= 0:
		return About{}, nil, &Error{Kind: Size, Detail: fmt.Sprintf("it unpacks to more than %d bytes", maxArchive)}
	case errors.As(err, &known):
		return About{}, nil, known
	case err != nil:
		return About{}, nil, damaged("its archive cannot be read", err)
	}
	return about, files, nil
}

// entries reads what the archive holds.
func entries(archive *tar.Reader) (About, map[string][]byte, error) {
	head, err := archive.Next()
	if err != nil || head.Name != aboutName || head.Typeflag != tar.TypeReg || head.Size > maxAbout {
		return About{}, nil, &Error{Damaged, "its archive does not begin with " + aboutName, err}
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		return About{}, nil, err
	}
	about, err := readAbout(text)
	if err != nil {
		return About{}, nil, err
	}
	files, total := map[string][]byte{}, int64(0)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return About{}, nil, err
		}
		path, below := strings.CutPrefix(head.Name, filesDir)
		why := badPath(path)
		switch {
		case !below:
			why = "is not below " + filesDir
		case why != "":
		case head.Typeflag != tar.TypeReg:
			why = "is not a regular file"
		case files[path] != nil:
			why = "is there twice"
		}
		if why != "" {
			return About{}, nil, &Error{Kind: Damaged, Detail: fmt.Sprintf("its file %s %s", quoted(head.Name), why)}
		}
		// Checked before it is read: a sparse file of any size takes hardly any bytes in the archive.
		if total += head.Size; total > MaxPlain || len(files) == maxFiles {
			return About{}, nil, &Error{Kind: Size, Detail: fmt.Sprintf("it has more than %d bytes or %d files", MaxPlain, maxFiles)}
		}
		if files[path], err = io.ReadAll(archive); err != nil {
			return About{}, nil, err
		}
	}
	if len(files) == 0 {
		return About{}, nil, &Error{Kind: Damaged, Detail: "its archive has no files"}
	}
	return about, files, nil
}

// readAbout reads about.json.
func readAbout(text []byte) (About, error) {
	var read envelope
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	err := in.Decode(&read)
	if err == nil && in.More() {
		err = errors.New("something follows the object")
	}
	if read.Version > version {
		return About{}, &Error{Damaged, fmt.Sprintf("it is of version %d: this MergeXO opens version %d", read.Version, version), err}
	}
	if err == nil && read.Version != version {
		err = errors.New("it has no version")
	}
	if err != nil {
		return About{}, damaged("its "+aboutName+" cannot be read", err)
	}
	return read.About, nil
}
