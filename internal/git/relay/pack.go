package relay

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// packError is that git has not sent a whole pack.
type packError struct{ error }

func (e packError) Unwrap() error { return e.error }

// idleLimit is how many bytes of a pack may come without content: 32 KiB of content never take as much.
const idleLimit = 1 << 20

// packFrom passes on one pack and ends with it. Git says nothing after the pack of a push and waits for an answer, so the end
// has to be found: a pack tells how many objects it has, and each of them where it ends only when it is uncompressed
// (https://git-scm.com/docs/gitformat-pack). Errors of reading are a packError. The caller closes it.
func packFrom(in *bufio.Reader) *io.PipeReader {
	out, to := io.Pipe()
	go func() {
		p := &packCopy{in: in, to: bufio.NewWriterSize(to, 32<<10), discard: make([]byte, 32<<10)}
		err := p.pack()
		if err == nil {
			err = p.to.Flush()
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			err = packError{fmt.Errorf("read the pack: %w", err)}
		}
		to.CloseWithError(err)
	}()
	return out
}

// packCopy passes on what is read through it. It is an io.ByteReader: so nothing that uncompresses reads further than it has to
// (https://pkg.go.dev/compress/zlib#NewReader).
type packCopy struct {
	in      *bufio.Reader
	to      *bufio.Writer
	idle    int // bytes since the last content
	content io.ReadCloser
	discard []byte
}

func (p *packCopy) ReadByte() (byte, error) {
	b, err := p.in.ReadByte()
	if err == nil {
		err = p.to.WriteByte(b)
	}
	return b, cmp.Or(err, p.count(1))
}

func (p *packCopy) Read(part []byte) (int, error) {
	n, err := p.in.Read(part)
	if _, failed := p.to.Write(part[:n]); failed != nil {
		return n, failed
	}
	return n, cmp.Or(err, p.count(n))
}

// count is an error if so much comes without content that this can be no pack of git's.
func (p *packCopy) count(n int) error {
	if p.idle += n; p.idle < idleLimit {
		return nil
	}
	return errors.New("an object without content and end")
}

// next reads so many bytes.
func (p *packCopy) next(n int) ([]byte, error) {
	part := make([]byte, n)
	_, err := io.ReadFull(p, part)
	return part, err
}

// pack reads a pack: its header, its objects and its checksum.
func (p *packCopy) pack() error {
	head, err := p.next(12)
	if err != nil {
		return err
	}
	if version := binary.BigEndian.Uint32(head[4:]); string(head[:4]) != "PACK" || version < 2 || version > 3 {
		return fmt.Errorf("it begins with %q", head)
	}
	for range binary.BigEndian.Uint32(head[8:]) {
		if err := p.object(); err != nil {
			return err
		}
	}
	_, err = p.next(20)
	return err
}

// object reads one object: what precedes its compressed content, and that.
func (p *packCopy) object() error {
	p.idle = 0
	kind, err := p.number()
	if err != nil {
		return err
	}
	switch kind >> 4 & 7 {
	case 1, 2, 3, 4: // a commit, tree, blob or tag
	case 6: // a difference to the object that begins so many bytes before
		_, err = p.number()
	case 7: // a difference to the object with this id
		_, err = p.next(20)
	default:
		err = fmt.Errorf("an object of the unknown type %d", kind>>4&7)
	}
	if err != nil {
		return err
	}
	if p.content == nil {
		p.content, err = zlib.NewReader(p)
	} else {
		err = p.content.(zlib.Resetter).Reset(p, nil) //nolint:forcetypeassert // as zlib.NewReader says
	}
	if err != nil {
		return err
	}
	for err == nil {
		_, err = p.content.Read(p.discard)
		p.idle = 0
	}
	if errors.Is(err, io.EOF) { // and the checksum is right
		return nil
	}
	return err
}

// number reads the bytes of a number, of which all but the last have the highest bit, and gives the first.
func (p *packCopy) number() (byte, error) {
	first, err := p.ReadByte()
	for b := first; err == nil && b&0x80 != 0; {
		b, err = p.ReadByte()
	}
	return first, err
}
