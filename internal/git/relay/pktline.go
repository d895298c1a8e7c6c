package relay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// pushRequest is what a client sends before the pack, as git-receive-pack reads it
// (https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer).
type pushRequest struct {
	raw          []byte // everything, with the final flush
	moves        []Move
	shallow      []string // commits whose parents the client does not have
	capabilities []string // capabilities
}

const (
	saidLimit   = 4 << 20 // limit of that; 80,000 shallow commits are less
	packetLimit = 65520   // bytes of one pkt-line
	flush       = "0000"
)

var errRequestTooLong = fmt.Errorf("over %d bytes ahead of the pack", saidLimit)

// readPushRequest reads exactly what precedes the pack. Anything that git does not send is an error, even if servers
// tolerate it: they might interpret it differently.
func readPushRequest(r io.Reader) (pushRequest, error) {
	var o pushRequest
	for {
		raw, err := readPktLine(r)
		if err != nil {
			return pushRequest{}, err
		}
		if o.raw = append(o.raw, raw...); len(o.raw) > saidLimit {
			return pushRequest{}, errRequestTooLong
		}
		if string(raw) == flush {
			return o, nil
		}
		text, able, more := strings.Cut(string(raw[4:]), "\x00")
		if more {
			o.capabilities = append(o.capabilities, strings.Fields(able)...)
		}
		text = strings.TrimSuffix(text, "\n")
		if sha, ok := strings.CutPrefix(text, "shallow "); ok && !more && syntax.IsSHA(sha) {
			o.shallow = append(o.shallow, sha)
			continue
		}
		part := strings.SplitN(text, " ", 3)
		if len(part) != 3 || !syntax.IsSHA(part[0]) || !syntax.IsSHA(part[1]) || !syntax.ValidRef(part[2]) {
			return pushRequest{}, fmt.Errorf("not a command of a push: %.100q", text)
		}
		o.moves = append(o.moves, Move{part[0], part[1], part[2]})
	}
}

// readPktLine reads one pkt-line, with its length (https://git-scm.com/docs/protocol-common#_pkt_line_format). A flush or a
// delimiter is only the length. At the end it is io.EOF.
func readPktLine(r io.Reader) ([]byte, error) {
	raw := make([]byte, 4, 64)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("read length of pkt-line: %w", err)
	}
	n, err := strconv.ParseUint(string(raw), 16, 16)
	switch {
	case err != nil, n > 1 && n <= 4, n > packetLimit:
		return nil, fmt.Errorf("not the length of a pkt-line: %q", raw)
	case n <= 1:
		return raw, nil
	}
	raw = append(raw, make([]byte, n-4)...)
	if _, err := io.ReadFull(r, raw[4:]); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read pkt-line: %w", io.ErrUnexpectedEOF)
	} else if err != nil {
		return nil, fmt.Errorf("read pkt-line: %w", err)
	}
	return raw, nil
}

// probe reports whether the request is empty: git sends one before a large pack to check its access.
func (o pushRequest) probe() bool { return string(o.raw) == flush }

// checkCapabilities is an error for a capability that git does not need, or a shallow commit outside the boundary.
func (o pushRequest) checkCapabilities(boundary []byte) error {
	ours := map[string]bool{}
	for sha := range strings.FieldsSeq(string(boundary)) {
		ours[sha] = true
	}
	for _, sha := range o.shallow {
		if !ours[sha] {
			return fmt.Errorf("a shallow commit that is none of ours: %s", sha)
		}
	}
	for _, able := range o.capabilities {
		name, _, valued := strings.Cut(able, "=")
		plain := slices.Contains([]string{"report-status", "report-status-v2", "side-band-64k", "quiet", "atomic"}, able)
		if !plain && able != "object-format=sha1" && !(valued && (name == "agent" || name == "session-id")) {
			return fmt.Errorf("a capability that is not needed: %.100q", able)
		}
	}
	return nil
}

// expectEOF is an error if anything follows.
func expectEOF(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return errors.New("something follows the end")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read the end: %w", err)
	}
	return nil
}

// advertisement passes on the server's ref advertisement, and records it once it is complete
// (https://git-scm.com/docs/gitprotocol-http#_smart_server_response): first the name of the service and a flush, then a
// line for each ref and a flush.
type advertisement struct {
	io.Closer
	in      *bufio.Reader
	left    []byte // of the last pkt-line
	flushes int
	at      map[string]string // of the refs that it has as keys
	note    func(at map[string]string)
}

func (a *advertisement) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(a.left) == 0 {
			if err := a.next(); err != nil {
				return n, err
			}
		}
		some := copy(p[n:], a.left)
		a.left, n = a.left[some:], n+some
	}
	return n, nil
}

func (a *advertisement) next() error {
	raw, err := readPktLine(a.in)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("read refs of the server: %w", err)
	}
	if a.left = raw; string(raw) == flush {
		if a.flushes++; a.flushes == 2 {
			a.note(a.at)
		}
		return nil
	}
	text, _, _ := strings.Cut(string(raw[4:]), "\x00")
	if sha, ref, ok := strings.Cut(strings.TrimSuffix(text, "\n"), " "); ok && syntax.IsSHA(sha) {
		if _, asked := a.at[ref]; asked {
			a.at[ref] = sha
		}
	}
	return nil
}
