package relay

import (
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
	saidLimit   = 4 << 20  // limit of that; 80,000 shallow commits are less
	readLimit   = 64 << 20 // bytes of a request to read; a million objects that are wanted are less
	packetLimit = 65520    // bytes of one pkt-line
	flush       = "0000"
)

var errRequestTooLong = errors.New("more than such a request has")

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
	n, err := pktLength(raw)
	if err != nil {
		return nil, err
	}
	raw = append(raw, make([]byte, n-4)...)
	if _, err := io.ReadFull(r, raw[4:]); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read pkt-line: %w", io.ErrUnexpectedEOF)
	} else if err != nil {
		return nil, fmt.Errorf("read pkt-line: %w", err)
	}
	return raw, nil
}

// pktLength is how many bytes a pkt-line has that begins so, these four included.
func pktLength(head []byte) (int, error) {
	if len(head) < 4 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil || n > 1 && n <= 4 || n > packetLimit {
		return 0, fmt.Errorf("not the length of a pkt-line: %q", head)
	}
	return max(int(n), 4), nil // a flush or a delimiter is only the length
}

// hasPack reports whether a pack follows: none if nothing but deletions is asked for.
func (o pushRequest) hasPack() bool {
	return slices.ContainsFunc(o.moves, func(m Move) bool { return m.To != ZeroID })
}

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
