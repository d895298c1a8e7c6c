package git

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// move is one command of a push: a ref goes from one commit to another.
type move struct{ from, to, ref string }

// nowhere is the commit of a ref that is not there.
const nowhere = "0000000000000000000000000000000000000000"

// opening is what a client says ahead of the pack, as git-receive-pack reads it
// (https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer).
type opening struct {
	raw     []byte // all of it, with the flush that ends it
	moves   []move
	shallow []string // commits whose parents the client does not have
	able    []string // capabilities
}

const (
	saidLimit   = 1 << 20 // bytes of what is said; 20,000 shallow commits are less
	packetLimit = 65520   // bytes of one pkt-line
)

// hear reads what is said ahead of the pack, and not a byte more. What git does not send is an error, also where servers
// put up with it: they might read something else in it.
func hear(r io.Reader) (opening, error) {
	var o opening
	for {
		text, flush, err := o.packet(r)
		if err != nil {
			return opening{}, err
		}
		if flush {
			return o, nil
		}
		text, able, more := strings.Cut(text, "\x00")
		if more {
			o.able = append(o.able, strings.Fields(able)...)
		}
		text = strings.TrimSuffix(text, "\n")
		if sha, ok := strings.CutPrefix(text, "shallow "); ok && !more && isSHA(sha) {
			o.shallow = append(o.shallow, sha)
			continue
		}
		part := strings.SplitN(text, " ", 3)
		if len(part) != 3 || !isSHA(part[0]) || !isSHA(part[1]) || !validRef(part[2]) {
			return opening{}, fmt.Errorf("not a command of a push: %.100q", text)
		}
		o.moves = append(o.moves, move{part[0], part[1], part[2]})
	}
}

// packet reads one pkt-line (https://git-scm.com/docs/protocol-common#_pkt_line_format) and keeps its bytes.
func (o *opening) packet(r io.Reader) (text string, flush bool, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return "", false, fmt.Errorf("read length of pkt-line: %w", err)
	}
	n, err := strconv.ParseUint(string(size[:]), 16, 16)
	switch {
	case err != nil, n > 0 && n <= 4, n > packetLimit:
		return "", false, fmt.Errorf("not the length of a pkt-line: %q", size)
	case len(o.raw)+4+int(n) > saidLimit:
		return "", false, fmt.Errorf("over %d bytes ahead of the pack", saidLimit)
	}
	o.raw = append(o.raw, size[:]...)
	if n == 0 {
		return "", true, nil
	}
	rest := make([]byte, n-4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return "", false, fmt.Errorf("read pkt-line: %w", err)
	}
	o.raw = append(o.raw, rest...)
	return string(rest), false, nil
}

// probe tells whether nothing is said at all: so git asks, before a large pack, whether it would be let in.
func (o opening) probe() bool { return string(o.raw) == "0000" }

// only is an error unless all that is said is this one move, with nothing that changes what the server does with it: so no
// push options and no certificate. The shallow commits have to be ours.
func (o opening) only(one move, boundary []byte) error {
	if !slices.Equal(o.moves, []move{one}) {
		return fmt.Errorf("not the move that is to be made: %.200q", o.moves)
	}
	for _, sha := range o.shallow {
		if !slices.Contains(strings.Fields(string(boundary)), sha) {
			return fmt.Errorf("a shallow commit that is none of ours: %s", sha)
		}
	}
	for _, able := range o.able {
		name, _, valued := strings.Cut(able, "=")
		plain := slices.Contains([]string{"report-status", "report-status-v2", "side-band-64k", "quiet", "atomic"}, able)
		if !plain && able != "object-format=sha1" && !(valued && (name == "agent" || name == "session-id")) {
			return fmt.Errorf("a capability that is not needed: %.100q", able)
		}
	}
	return nil
}

// ends is an error where something follows.
func ends(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return errors.New("something follows the end")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read the end: %w", err)
	}
	return nil
}
