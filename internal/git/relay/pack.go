package relay

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// packReader passes on one pack and ends with it. Git says nothing after the pack of a push and waits for an answer, so the end
// has to be found: a pack tells how many objects it has, and each of them where it ends only when it is uncompressed
// (https://git-scm.com/docs/gitformat-pack).
type packReader struct {
	in      recorder
	step    func() error // reads on; nil at the beginning
	objects uint32       // that are left
	content io.ReadCloser
	discard []byte
	ended   bool
}

// packError is that git has not sent a whole pack.
type packError struct{ error }

func (e packError) Unwrap() error { return e.error }

// heldLimit is how much of a pack is held at most, in bytes: 32 KiB of content never take as much.
const heldLimit = 1 << 20

// recorder keeps what is read through it. It is an io.ByteReader: so nothing that uncompresses reads further than it has to
// (https://pkg.go.dev/compress/zlib#NewReader).
type recorder struct {
	in   *bufio.Reader
	read []byte
}

// take moves the beginning of what was read.
func (r *recorder) take(to []byte) int {
	n := copy(to, r.read)
	r.read = append(r.read[:0], r.read[n:]...)
	return n
}

func (r *recorder) ReadByte() (byte, error) {
	if err := r.full(); err != nil {
		return 0, err
	}
	b, err := r.in.ReadByte()
	if err == nil {
		r.read = append(r.read, b)
	}
	return b, err
}

func (r *recorder) Read(p []byte) (int, error) {
	if err := r.full(); err != nil {
		return 0, err
	}
	n, err := r.in.Read(p)
	r.read = append(r.read, p[:n]...)
	return n, err
}

// full is an error if so much is held that this can be no pack of git's.
func (r *recorder) full() error {
	if len(r.read) < heldLimit {
		return nil
	}
	return errors.New("an object without content and end")
}

// next reads so many bytes.
func (r *recorder) next(n int) ([]byte, error) {
	part := make([]byte, n)
	_, err := io.ReadFull(r, part)
	return part, err
}

func (p *packReader) Read(to []byte) (int, error) {
	if p.step == nil {
		p.step, p.discard = p.head, make([]byte, 32<<10)
	}
	for len(p.in.read) == 0 && !p.ended {
		if err := p.step(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, packError{fmt.Errorf("read the pack: %w", err)}
		}
	}
	if len(p.in.read) == 0 {
		return 0, io.EOF
	}
	return p.in.take(to), nil
}

// head reads a pack's header.
func (p *packReader) head() error {
	part, err := p.in.next(12)
	if err != nil {
		return err
	}
	if version := binary.BigEndian.Uint32(part[4:]); string(part[:4]) != "PACK" || version < 2 || version > 3 {
		return fmt.Errorf("it begins with %q", part)
	}
	p.objects, p.step = binary.BigEndian.Uint32(part[8:]), p.entry
	return nil
}

// entry reads what precedes an object's compressed content, or the checksum at the end.
func (p *packReader) entry() error {
	if p.objects == 0 {
		_, err := p.in.next(20)
		p.ended = err == nil
		return err
	}
	p.objects--
	kind, err := p.number()
	if err != nil {
		return err
	}
	switch kind >> 4 & 7 {
	case 1, 2, 3, 4: // a commit, tree, blob or tag
	case 6: // a difference to the object that begins so many bytes before
		_, err = p.number()
	case 7: // a difference to the object with this id
		_, err = p.in.next(20)
	default:
		err = fmt.Errorf("an object of the unknown type %d", kind>>4&7)
	}
	if err != nil {
		return err
	}
	if p.content == nil {
		p.content, err = zlib.NewReader(&p.in)
	} else {
		err = p.content.(zlib.Resetter).Reset(&p.in, nil) //nolint:forcetypeassert // as zlib.NewReader says
	}
	p.step = p.inflate
	return err
}

// number reads the bytes of a number, of which all but the last have the highest bit, and gives the first.
func (p *packReader) number() (byte, error) {
	first, err := p.in.ReadByte()
	for b := first; err == nil && b&0x80 != 0; {
		b, err = p.in.ReadByte()
	}
	return first, err
}

// inflate reads some of an object's content.
func (p *packReader) inflate() error {
	_, err := p.content.Read(p.discard)
	if errors.Is(err, io.EOF) { // and the checksum is right
		p.step = p.entry
		return nil
	}
	return err
}
