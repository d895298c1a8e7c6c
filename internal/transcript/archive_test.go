package transcript_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/transcript"
)

func gzipped(t testing.TB, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(plain)
	require.NoError(t, errors.Join(err, z.Close()))
	return out.Bytes()
}

// tarred is an archive with about.json, unless that is empty, and files, whose text is "x" where they can have one.
func tarred(t testing.TB, about string, heads ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	a := tar.NewWriter(&out)
	put := func(head tar.Header, text string) {
		head.Size = int64(len(text))
		require.NoError(t, a.WriteHeader(&head))
		require.NoError(t, must.Err(io.WriteString(a, text)))
	}
	if about != "" {
		put(tar.Header{Name: "about.json", Typeflag: tar.TypeReg}, about)
	}
	for _, head := range heads {
		text := ""
		if head.Typeflag == tar.TypeReg {
			text = "x"
		}
		put(*head, text)
	}
	require.NoError(t, a.Close())
	return out.Bytes()
}

// packed is a gzipped archive.
func packed(about string, heads ...*tar.Header) func(testing.TB) []byte {
	return func(t testing.TB) []byte { return gzipped(t, tarred(t, about, heads...)) }
}

func with(heads ...*tar.Header) func(testing.TB) []byte { return packed(aboutText, heads...) }

// aboutText is about.json for about, as the package writes it.
var aboutText = fmt.Sprintf(`{"version":1,"repository":%q,"pull_request":%d,"adapter":%q,"session":%q}`, about.Repository, about.PullRequest, about.Adapter, about.Session)

// file is one that an archive may have.
var file = &tar.Header{Name: "files/x", Typeflag: tar.TypeReg}

func many(n int) (heads []*tar.Header) {
	for i := range n {
		heads = append(heads, &tar.Header{Name: fmt.Sprintf("files/%d", i), Typeflag: tar.TypeReg})
	}
	return heads
}

// archives are what somebody could seal who knows the public key, each with what is wrong with it.
var archives = []struct {
	name string
	kind transcript.Kind
	make func(t testing.TB) []byte
}{
	{"not gzipped", transcript.Damaged, func(testing.TB) []byte { return []byte("hello") }},
	{"nothing", transcript.Damaged, func(testing.TB) []byte { return nil }},
	{"an empty archive", transcript.Damaged, packed("")},
	{"no about.json", transcript.Damaged, packed("", file)},
	{"no files", transcript.Damaged, with()},
	{"about.json is no JSON", transcript.Damaged, packed(`hello`, file)},
	{"about.json has a field more", transcript.Damaged, packed(`{"version": 1, "pull": 7}`, file)},
	{"about.json has no version", transcript.Damaged, packed(`{"pull_request": 7}`, file)},
	{"about.json goes on", transcript.Damaged, packed(`{"version": 1} {}`, file)},
	{"about.json is of a later version", transcript.Damaged, packed(`{"version": 2, "compression": "zstd"}`, file)},
	{"a path that leads out", transcript.Damaged, with(&tar.Header{Name: "files/../../x", Typeflag: tar.TypeReg})},
	{"an absolute path", transcript.Damaged, with(&tar.Header{Name: "files//etc/passwd", Typeflag: tar.TypeReg})},
	{"a path elsewhere", transcript.Damaged, with(&tar.Header{Name: "x", Typeflag: tar.TypeReg})},
	{"a path of another system", transcript.Damaged, with(&tar.Header{Name: `files/..\x`, Typeflag: tar.TypeReg})},
	{"a path with a line feed", transcript.Damaged, with(&tar.Header{Name: "files/a\nb", Typeflag: tar.TypeReg})},
	{"a long path", transcript.Damaged, with(&tar.Header{Name: "files/" + strings.Repeat("x", 251), Typeflag: tar.TypeReg})},
	{"a symbolic link", transcript.Damaged, with(&tar.Header{Name: "files/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})},
	{"a hard link", transcript.Damaged, with(&tar.Header{Name: "files/x", Typeflag: tar.TypeLink, Linkname: "about.json"})},
	{"a FIFO", transcript.Damaged, with(&tar.Header{Name: "files/x", Typeflag: tar.TypeFifo})},
	{"a directory", transcript.Damaged, with(&tar.Header{Name: "files/x/", Typeflag: tar.TypeDir})},
	{"a file twice", transcript.Damaged, with(file, file)},
	{"too many files", transcript.Size, with(many(101)...)},
	{"a bomb", transcript.Size, func(t testing.TB) []byte {
		var out bytes.Buffer
		require.NoError(t, tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "files/x", Typeflag: tar.TypeReg, Size: transcript.MaxPlain + 1}))
		return append(gzipped(t, append(bytes.TrimSuffix(tarred(t, aboutText), make([]byte, 1024)), out.Bytes()...)), zeros(t, 65)...)
	}},
	{"a bomb behind the archive", transcript.Size, func(t testing.TB) []byte { return append(with(file)(t), zeros(t, 65)...) }},
	{"something behind the archive", transcript.Damaged, func(t testing.TB) []byte { return gzipped(t, append(tarred(t, aboutText, file), "more"...)) }},
	{"a bomb that is mostly holes", transcript.Size, sparse},
	{"half an archive", transcript.Damaged, func(t testing.TB) []byte {
		whole := with(file)(t)
		return whole[:len(whole)/2]
	}},
}

// zeros unpacks to so many MiB of them: gzip takes one stream behind another for one.
func zeros(t testing.TB, n int) []byte {
	t.Helper()
	return bytes.Repeat(gzipped(t, make([]byte, 1<<20)), n)
}

// sparse is an archive whose one file is 100 GB of nothing, as GNU tar writes one in its PAX format 1.0
// (https://www.gnu.org/software/tar/manual/html_node/PAX-1.html). archive/tar reads such files and does not write them.
func sparse(t testing.TB) []byte {
	var raw bytes.Buffer
	block := func(kind byte, name, text string) {
		head := make([]byte, 512)
		copy(head, name)
		copy(head[100:], "0000600\x000000000\x000000000\x00"+fmt.Sprintf("%011o\x0000000000000\x00        %c", len(text), kind))
		copy(head[257:], "ustar\x0000")
		sum := 0
		for _, b := range head {
			sum += int(b)
		}
		copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
		raw.Write(head)
		raw.WriteString(text + strings.Repeat("\x00", (512-len(text)%512)%512))
	}
	block('0', "about.json", aboutText)
	records := ""
	for _, record := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=files/x", "GNU.sparse.realsize=100000000000"} {
		records += fmt.Sprintf("%d %s\n", len(record)+4, record)
	}
	block('x', "pax", records)
	block('0', "files/x", "1\n99999999999\n1\n"+strings.Repeat("\x00", 495)+"x")
	raw.Write(make([]byte, 1024))
	return gzipped(t, raw.Bytes())
}

func TestAnArchiveThatWeDidNotMakeIsRefused(t *testing.T) {
	id, k := fresh(t)
	var lines []string
	for _, c := range archives {
		sealed := encrypted(t, id.Recipient(), c.make(t))
		files, err := k.Open(about, transcript.Digest(sealed), sealed)
		assert.Nil(t, files, c.name)
		assert.Equal(t, c.kind, kindOf(t, err), c.name)
		lines = append(lines, c.name+": "+err.Error())
	}
	golden.Text(t, "refused.txt", strings.Join(lines, "\n"))

	sealed := encrypted(t, id.Recipient(), with(file)(t))
	files := must.Get(k.Open(about, transcript.Digest(sealed), sealed))(t, "the ones above are wrong for what their names say only")
	assert.Equal(t, map[string][]byte{"x": []byte("x")}, files)
}

func FuzzOpen(f *testing.F) {
	id, k := fresh(f)
	for _, c := range archives {
		if !strings.Contains(c.name, "bomb") {
			f.Add(c.make(f), byte(0))
		}
	}
	f.Add(with(file)(f), byte(0))
	sealed := must.Get(k.Seal(about, map[string][]byte{rollout: []byte("{}\n")}))(f)
	f.Add(sealed, byte(2))
	f.Add(tarred(f, aboutText, file), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, layer byte) {
		switch layer % 3 { // what somebody made: all of it, what is inside of age, or what is inside of gzip
		case 0:
			data = encrypted(t, id.Recipient(), data)
		case 1:
			data = encrypted(t, id.Recipient(), gzipped(t, data))
		}
		files, err := k.Open(about, transcript.Digest(data), data)
		if err != nil {
			kindOf(t, err)
			return
		}
		again := must.Get(k.Seal(about, files))(t, "what was opened could have been sealed")
		require.Equal(t, slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(must.Get(k.Open(about, transcript.Digest(again), again))(t))))
	})
}
