package relay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Services of a server, as the paths of requests name them (https://git-scm.com/docs/gitprotocol-http).
const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// Op is what one network command of git may do at the server.
type Op struct {
	service string
	fetch   bool   // objects besides refs
	moves   []Move // of a push: each ref once
	Atomic  bool   // all moves or none
}

// Listing reads refs, fetching also what they point to.
var Listing, Fetching = Op{service: uploadPack}, Op{service: uploadPack, fetch: true}

// Pushing makes moves, each for itself.
func Pushing(moves ...Move) Op { return Op{service: receivePack, moves: moves} }

// PushingAll makes all of the moves, or none.
func PushingAll(moves ...Move) Op {
	return Op{service: receivePack, moves: moves, Atomic: true}
}

func (o Op) String() string {
	switch {
	case o.service == receivePack:
		return "push"
	case o.fetch:
		return "fetch"
	}
	return "listing of refs"
}

// refs is where the server tells its refs, below the URL of the repository.
func (o Op) refs() string { return "/info/refs?service=" + o.service }

// requests is how many the operation may take. A push takes two or three. Of a fetch over a stateless connection each
// round that looks for common commits is one: of a million commits there are about forty.
func (o Op) requests() int {
	if o.fetch {
		return 256
	}
	return 16
}

// Move is a change of a ref at the server, as a push says it: from one commit to another.
type Move struct{ From, To, Ref string }

const (
	ZeroID = "0000000000000000000000000000000000000000" // the commit of a ref that is not there
	AnyID  = ""                                         // from wherever the ref is
)

// Refspecs tell git push of the moves. A lease holds for the one ref that it names.
func (o Op) Refspecs() (leases, specs []string) {
	for _, m := range o.moves {
		spec := strings.ReplaceAll(m.To, ZeroID, "") + ":" + m.Ref
		switch {
		case m.From != AnyID:
			leases = append(leases, "--force-with-lease="+m.Ref+":"+strings.ReplaceAll(m.From, ZeroID, ""))
		case m.To != ZeroID:
			spec = "+" + spec
		}
		specs = append(specs, spec)
	}
	return leases, specs
}

// due are the moves that git makes where the server says that its refs are at these commits: none for a ref that is there
// already, and none away from another commit than the move says. Of an atomic push that is then none at all. To delete
// what is not there is a move, too.
func (o Op) due(at map[string]string) (due []Move) {
	for _, m := range o.moves {
		was := cmp.Or(at[m.Ref], ZeroID)
		switch {
		case was == m.To && was != ZeroID:
		case m.From == AnyID, m.From == was:
			due = append(due, Move{was, m.To, m.Ref})
		case o.Atomic:
			return nil
		}
	}
	return due
}

// vetPush reads of a push what is said ahead of the pack. It is an error unless that is all the moves that are due where
// the server has said that its refs are, with nothing that changes what the server does with them: no push options and no
// certificate. The shallow commits have to be ours.
func (o Op) vetPush(body io.Reader, at map[string]string, boundary []byte) (read []byte, err error) {
	said, err := readPushRequest(body)
	if err != nil {
		return nil, err
	}
	if said.probe() {
		return said.raw, expectEOF(body)
	}
	byRef := func(a, b Move) int { return strings.Compare(a.Ref, b.Ref) }
	due := slices.SortedFunc(slices.Values(o.due(at)), byRef)
	moves := slices.SortedFunc(slices.Values(said.moves), byRef)
	switch {
	case at == nil:
		return nil, errors.New("a push by somebody who was not told where refs are")
	case len(moves) == 0 || !slices.Equal(moves, due):
		return nil, fmt.Errorf("not the moves that are to be made: %.200q", said.moves)
	case o.Atomic && !slices.Contains(said.capabilities, "atomic"):
		return nil, errors.New("a push of some of the moves")
	}
	return said.raw, said.checkCapabilities(boundary)
}

// vetRead reads the first command of a request to upload-pack, and of a listing all of the request. It is an error unless
// that is a command of the operation; second tells whether it is one of protocol version 2, of which a request has one
// (https://git-scm.com/docs/protocol-v2#_command_request).
func (o Op) vetRead(body io.Reader, second bool) (read []byte, err error) {
	read, err = readPktLine(body)
	if err != nil {
		return nil, err
	}
	said := strings.TrimSuffix(string(read[4:]), "\n")
	switch {
	case second && said == "command=ls-refs":
	case second && said == "command=fetch" && o.fetch:
		return read, nil
	case !second && strings.HasPrefix(said, "want ") && o.fetch:
		return read, nil
	default:
		return nil, fmt.Errorf("a command that is no part of it: %.100q", said)
	}
	for {
		more, err := readPktLine(body)
		if err != nil {
			return nil, err
		}
		read = append(read, more...)
		switch {
		case string(more) == flush:
			return read, expectEOF(body)
		case len(read) > saidLimit:
			return nil, errRequestTooLong
		}
	}
}
