package git

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

// operation is what one network command of git may do at the server.
type operation struct {
	service string
	fetch   bool   // objects besides refs
	moves   []move // of a push: each ref once
	atomic  bool   // all moves or none
}

// listing reads refs, fetching also what they point to.
var listing, fetching = operation{service: uploadPack}, operation{service: uploadPack, fetch: true}

// pushing makes moves, each for itself.
func pushing(moves ...move) operation { return operation{service: receivePack, moves: moves} }

func (o operation) String() string {
	switch {
	case o.service == receivePack:
		return "push"
	case o.fetch:
		return "fetch"
	}
	return "listing of refs"
}

// refs is where the server tells its refs, below the URL of the repository.
func (o operation) refs() string { return "/info/refs?service=" + o.service }

// requests is how many the operation may take. A push takes two or three. Of a fetch over a stateless connection each
// round that looks for common commits is one: of a million commits there are about forty.
func (o operation) requests() int {
	if o.fetch {
		return 256
	}
	return 16
}

// move is a change of a ref at the server, as a push says it: from one commit to another.
type move struct{ from, to, ref string }

const (
	nowhere  = "0000000000000000000000000000000000000000" // the commit of a ref that is not there
	anywhere = ""                                         // from wherever the ref is
)

// refspecs tell git push of the moves. A lease holds for the one ref that it names.
func (o operation) refspecs() (leases, specs []string) {
	for _, m := range o.moves {
		spec := strings.ReplaceAll(m.to, nowhere, "") + ":" + m.ref
		switch {
		case m.from != anywhere:
			leases = append(leases, "--force-with-lease="+m.ref+":"+strings.ReplaceAll(m.from, nowhere, ""))
		case m.to != nowhere:
			spec = "+" + spec
		}
		specs = append(specs, spec)
	}
	return leases, specs
}

// due are the moves that git makes where the server says that its refs are at these commits: none for a ref that is there
// already, and none away from another commit than the move says. Of an atomic push that is then none at all. To delete
// what is not there is a move, too.
func (o operation) due(at map[string]string) (due []move) {
	for _, m := range o.moves {
		was := cmp.Or(at[m.ref], nowhere)
		switch {
		case was == m.to && was != nowhere:
		case m.from == anywhere, m.from == was:
			due = append(due, move{was, m.to, m.ref})
		case o.atomic:
			return nil
		}
	}
	return due
}

// vetPush reads of a push what is said ahead of the pack. It is an error unless that is all the moves that are due where
// the server has said that its refs are, with nothing that changes what the server does with them: no push options and no
// certificate. The shallow commits have to be ours.
func (o operation) vetPush(body io.Reader, at map[string]string, boundary []byte) (read []byte, err error) {
	said, err := hear(body)
	if err != nil {
		return nil, err
	}
	if said.probe() {
		return said.raw, ends(body)
	}
	byRef := func(a, b move) int { return strings.Compare(a.ref, b.ref) }
	due := slices.SortedFunc(slices.Values(o.due(at)), byRef)
	moves := slices.SortedFunc(slices.Values(said.moves), byRef)
	switch {
	case at == nil:
		return nil, errors.New("a push by somebody who was not told where refs are")
	case len(moves) == 0 || !slices.Equal(moves, due):
		return nil, fmt.Errorf("not the moves that are to be made: %.200q", said.moves)
	case o.atomic && !slices.Contains(said.able, "atomic"):
		return nil, errors.New("a push of some of the moves")
	}
	return said.raw, said.plain(boundary)
}

// vetRead reads the first command of a request to upload-pack, and of a listing all of the request. It is an error unless
// that is a command of the operation; second tells whether it is one of protocol version 2, of which a request has one
// (https://git-scm.com/docs/protocol-v2#_command_request).
func (o operation) vetRead(body io.Reader, second bool) (read []byte, err error) {
	read, err = packet(body)
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
		more, err := packet(body)
		if err != nil {
			return nil, err
		}
		read = append(read, more...)
		switch {
		case string(more) == flush:
			return read, ends(body)
		case len(read) > saidLimit:
			return nil, errTooMuch
		}
	}
}
