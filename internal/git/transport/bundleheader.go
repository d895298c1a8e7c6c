package transport

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

const (
	bundleV2   = "# v2 git bundle\n"
	packHeader = 12 // bytes: PACK, the version, the number of objects
)

// bundle is an opened one with a valid header; of its pack only the claimed number of objects is known.
type bundle struct {
	file    *os.File
	needs   []string // prerequisites
	head    string
	pack    int64 // start of the pack
	objects int
}

// openBundle opens a file without following links, and reads what precedes its pack.
func openBundle(file string) (b *bundle, err error) {
	in, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, refuse(BundleUnreadable, "it is a symbolic link")
	}
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("open bundle: %w", err)
	case !info.Mode().IsRegular():
		return nil, refuse(BundleUnreadable, "it is not a regular file")
	case info.Size() > MaxBundle:
		return nil, refuse(BundleTooLarge, "%d bytes, at most %d", info.Size(), MaxBundle)
	}
	text := make([]byte, maxBundleHeader+packHeader)
	n, err := in.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	b = &bundle{file: in}
	if err := b.parse(text[:n]); err != nil {
		return nil, err
	}
	return b, b.parsePack(text[:n], info.Size())
}

var (
	bundleNeed = regexp.MustCompile(`^-([0-9a-f]{40})(?: .*)?$`)
	bundleRef  = regexp.MustCompile(`^([0-9a-f]{40}) (\S+)$`)
)

// parse parses the header, strictly as git-bundle writes it.
func (b *bundle) parse(text []byte) error {
	end := bytes.Index(text[:min(len(text), maxBundleHeader)], []byte("\n\n"))
	if !bytes.HasPrefix(text, []byte(bundleV2)) || end < 0 {
		return refuse(BundleFormat, "it has no header of a git bundle of version 2 within %d bytes", maxBundleHeader)
	}
	b.pack = int64(end + 2)
	refs := 0
	for i, row := range strings.Split(string(text[len(bundleV2):max(len(bundleV2), end)]), "\n") {
		if m := bundleNeed.FindStringSubmatch(row); m != nil && refs == 0 {
			b.needs = append(b.needs, m[1])
			continue
		}
		m := bundleRef.FindStringSubmatch(row)
		if m == nil {
			return refuse(BundleFormat, "line %d of its header is %q", i+2, cut(row))
		}
		if refs++; refs > 1 || m[2] != BundleRef {
			return refuse(BundleRefs, "it has %q, want %s and nothing else", cut(m[2]), BundleRef)
		}
		b.head = m[1]
	}
	slices.Sort(b.needs)
	b.needs = slices.Compact(b.needs)
	switch {
	case refs == 0:
		return refuse(BundleRefs, "it has no ref, want %s", BundleRef)
	case len(b.needs) > maxPrerequisites:
		return refuse(BundleTooLarge, "%d commits to build on, at most %d", len(b.needs), maxPrerequisites)
	case len(b.needs) == 0:
		return refuse(BundleRewrite, "it builds on nothing: a history of its own")
	}
	return nil
}

// parsePack reads the pack's claimed number of objects (https://git-scm.com/docs/gitformat-pack). An empty pack has only a
// checksum after that, and is not read further.
func (b *bundle) parsePack(text []byte, size int64) error {
	start, ok := bytes.CutPrefix(text[b.pack:], []byte("PACK\x00\x00\x00\x02"))
	if !ok || len(start) < 4 {
		return refuse(BundleCorrupt, "no pack of version 2 follows its header")
	}
	count := binary.BigEndian.Uint32(start)
	if count > maxBundleObjects {
		return refuse(BundleTooLarge, "%d objects, at most %d", count, maxBundleObjects)
	}
	if count == 0 && size != b.pack+packHeader+sha1.Size {
		return refuse(BundleCorrupt, "bytes follow its empty pack")
	}
	b.objects = int(count)
	return nil
}

// cut is the start of an outside text.
func cut(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
