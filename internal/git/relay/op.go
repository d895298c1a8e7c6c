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

// Op is what one network command of git may do on the server.
type Op struct {
	service string
	fetch   bool   // objects as well as refs
	moves   []Move // of a push: each ref once
	Atomic  bool   // all moves or none
}

// Listing reads refs; Fetching also reads what they point to.
var Listing, Fetching = Op{service: uploadPack}, Op{service: uploadPack, fetch: true}

// Pushing makes independent moves.
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

// refs is the path of the ref advertisement, relative to the repository's URL.
func (o Op) refs() string { return "/info/refs?service=" + o.service }

// requests is how many requests the operation may take. A push takes two. A stateless fetch takes one per
// negotiation round: about forty for a million commits.
func (o Op) requests() int {
	if o.fetch {
		return 256
	}
	return 16
}

// Move is a change of a ref on the server, from one commit to another.
type Move struct{ From, To, Ref string }

const (
	ZeroID = "0000000000000000000000000000000000000000" // the commit of a missing ref
	AnyID  = ""                                         // whatever the ref is at
)

// Refspecs are git push's arguments for the moves. A lease holds for the one ref that it names.
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

// due are the moves that git makes if the server's refs are at these commits: none for a ref that is there already, and
// none if the ref is not at the move's From. Of an atomic push that is then none at all. Deleting a missing ref is a move,
// too.
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

// vetPush is an error unless the commands of a push are exactly the moves that are due given the server's refs, with nothing that
// changes how the server handles them: no push options and no certificate. The shallow commits have to be ours.
func (o Op) vetPush(said pushRequest, at map[string]string, boundary []byte) error {
	byRef := func(a, b Move) int { return strings.Compare(a.Ref, b.Ref) }
	due := slices.SortedFunc(slices.Values(o.due(at)), byRef)
	moves := slices.SortedFunc(slices.Values(said.moves), byRef)
	switch {
	case len(moves) == 0 || !slices.Equal(moves, due):
		return fmt.Errorf("not the moves that are to be made: %.200q", said.moves)
	case o.Atomic && !slices.Contains(said.capabilities, "atomic"):
		return errors.New("a push of some of the moves")
	case !slices.ContainsFunc(said.capabilities, func(able string) bool { return strings.HasPrefix(able, "report-status") }):
		return errors.New("a push whose outcome nobody would hear of")
	}
	return said.checkCapabilities(boundary)
}

// readRequest reads a request to upload-pack, which has one command (https://git-scm.com/docs/protocol-v2#_command_request): nil
// if git is done. It is an error unless the command belongs to the operation.
func (o Op) readRequest(in io.Reader) ([]byte, error) {
	read, err := readPktLine(in)
	if errors.Is(err, io.EOF) || string(read) == flush {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := strings.TrimSuffix(string(read[4:]), "\n")
	if said != "command=ls-refs" && (said != "command=fetch" || !o.fetch) {
		return nil, fmt.Errorf("a command that is no part of it: %.100q", said)
	}
	for {
		more, err := readPktLine(in)
		if err != nil {
			return nil, err
		}
		read = append(read, more...)
		switch {
		case string(more) == flush:
			return read, nil
		case len(read) > readLimit:
			return nil, errRequestTooLong
		}
	}
}
