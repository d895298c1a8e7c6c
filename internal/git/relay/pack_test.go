package relay

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// object is an object of a pack with so many bytes of content, which are not compressed much. A difference has base before it.
func object(kind byte, size int, base ...byte) string {
	var b bytes.Buffer
	n, head := size>>4, kind<<4|byte(size&15)
	for n > 0 {
		b.WriteByte(head | 0x80)
		head, n = byte(n&0x7f), n>>7
	}
	b.WriteByte(head)
	b.Write(base)
	z, _ := zlib.NewWriterLevel(&b, zlib.NoCompression) // which is a level
	_, _ = io.CopyN(z, zeros{}, int64(size))            // to memory
	_ = z.Close()                                       // as above
	return b.String()
}

func packHead(objects int) string {
	return string(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects)))
}

func packOf(objects ...string) string {
	return packHead(len(objects)) + strings.Join(objects, "") + strings.Repeat("c", 20)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// unpacked is what packFrom passes on of a text, and what it leaves.
func unpacked(text string) (passed, left string, err error) {
	in := bufio.NewReaderSize(strings.NewReader(text), 16)
	raw, err := io.ReadAll(packFrom(in))
	rest, _ := io.ReadAll(in) // of a string
	return string(raw), string(rest), err
}

func TestAPackEndsWhereItEnds(t *testing.T) {
	base := bytes.Repeat([]byte{0xff}, 20)
	must.Each(t, map[string]string{
		"empty": packOf(), "one": packOf(object(3, 5)), "an empty object": packOf(object(2, 0)), "kinds": packOf(object(1, 9), object(2, 17), object(3, 3), object(4, 100)),
		"an offset":   packOf(object(3, 200), object(6, 30, 0x81, 0x05)),
		"a base":      packOf(object(7, 30, base...), object(7, 3000, base...)),
		"a long one":  packOf(object(3, 1<<20), object(3, 1)),
		"version 3":   strings.Replace(packOf(object(3, 5)), "\x02", "\x03", 1),
		"many of one": packOf(strings.Split(strings.Repeat(object(3, 4)+"|", 300)+object(3, 1), "|")...),
	}, func(t *testing.T, pack string) {
		passed, left, err := unpacked(pack + "more")
		require.NoError(t, err)
		assert.Equal(t, pack, passed)
		assert.Equal(t, "more", left)
	})
}

func TestWhatIsNoPackIsNotPassedOnAsOne(t *testing.T) {
	pack := packOf(object(3, 200), object(6, 30, 5))
	for name, text := range map[string]string{
		"nothing": "", "no pack": "PUSH" + pack[4:], "version 4": strings.Replace(pack, "\x02", "\x04", 1), "an unknown type": packOf(object(5, 1)), "type 0": packOf(object(0, 1)),
		"not compressed": packOf("\x31x"), "a wrong checksum": packOf(object(3, 5)[:10] + "xxxx"), "cut off in the checksum": pack[:len(pack)-1], "cut off in an object": pack[:100], "cut off in a number": packHead(1) + "\xff",
	} {
		_, _, err := unpacked(text)
		require.Error(t, err, name)
	}
}

// TestAnObjectWithoutEndIsNotHeld: whoever pretends to be git could fill our memory with what never becomes content.
func TestAnObjectWithoutEndIsNotHeld(t *testing.T) {
	const size = 64 << 20
	blocks := packHead(1) + "\x31\x78\x01"
	for name, text := range map[string]string{
		"a number": packHead(1) + strings.Repeat("\xff", size), "empty blocks": blocks + strings.Repeat("\x00\x00\x00\xff\xff", size/5),
	} {
		p := packFrom(bufio.NewReader(strings.NewReader(text)))
		var err error
		got := allocated(func() { _, err = io.Copy(io.Discard, p) })
		require.ErrorContains(t, err, "without content and end", name)
		assert.Less(t, got, uint64(size/8), name)
	}
}

// FuzzPack: what is passed on is what stands there, and what is left follows it.
func FuzzPack(f *testing.F) {
	for _, text := range []string{"", packOf(), packOf(object(3, 5)) + "more", packOf(object(6, 30, 5)), packHead(1 << 30)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		passed, left, err := unpacked(string(text))
		if err == nil && passed+left != string(text) || !strings.HasPrefix(string(text), passed) {
			t.Fatalf("%q became %q and %q", text, passed, left)
		}
	})
}
