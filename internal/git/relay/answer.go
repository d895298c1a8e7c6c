package relay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// advertise passes on what the server says first, and shows each line of it.
func (r *Relay) advertise(ctx context.Context, out io.Writer, show func(line string)) error {
	answer, err := r.refs(ctx)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	err = passRefs(bufio.NewReader(answer.Body), bufio.NewWriter(toGit{out}), r.allowed.service == uploadPack, show)
	return r.endOf(err, false)
}

// passRefs passes on an advertisement without what only HTTP has of it (https://git-scm.com/docs/gitprotocol-http#_smart_server_response):
// ahead of it the name of the service and a flush. Lines are shown without what follows a NUL.
func passRefs(in *bufio.Reader, out *bufio.Writer, second bool, show func(line string)) error {
	line, err := readPktLine(in)
	if err == nil && strings.HasPrefix(string(line[4:]), "# service=") {
		if _, err = readPktLine(in); err == nil {
			line, err = readPktLine(in)
		}
	}
	if err == nil && second && !isError(line) && strings.TrimSuffix(string(line[4:]), "\n") != "version 2" {
		return errors.New("the server does not speak version 2 of git's protocol")
	}
	for ; ; line, err = readPktLine(in) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		if done, err := isLast(line, out); done {
			return err
		}
		text, _, _ := strings.Cut(string(line[4:]), "\x00")
		show(strings.TrimSuffix(text, "\n"))
	}
}

// passAnswer passes on upload-pack's answer to one request, up to a flush or an error. Git waits for no other end: if the server
// stops before, nobody else would tell git.
func passAnswer(in *bufio.Reader, out *bufio.Writer) error {
	for {
		head, _ := in.Peek(4) // what there is of it
		n, err := pktLength(head)
		if err == nil {
			head, err = in.Peek(min(n, 8))
		}
		first := bytes.Clone(head) // reading on overwrites it
		if err == nil {
			_, err = io.CopyN(out, in, int64(n))
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if done, err := isLast(first, out); done {
			return err
		}
	}
}

// isError reports whether a pkt-line that begins so is the server's error (https://git-scm.com/docs/gitprotocol-pack#_pkt_line_format).
func isError(line []byte) bool { return bytes.HasPrefix(line[4:], []byte("ERR ")) }

// isLast reports whether no line follows one that begins so. Then out is flushed; after an error git says nothing more.
func isLast(line []byte, out *bufio.Writer) (bool, error) {
	switch {
	case string(line[:4]) == flush:
		return true, out.Flush()
	case isError(line):
		return true, cmp.Or(out.Flush(), error(overError{errors.New("the server reported an error")}))
	}
	return false, nil
}

// pass makes a request and passes the answer on.
func (r *Relay) pass(ctx context.Context, body io.Reader, out io.Writer) error {
	answer, err := r.post(ctx, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if r.allowed.service == receivePack {
		_, err = io.Copy(toGit{out}, answer.Body)
	} else {
		err = passAnswer(bufio.NewReader(answer.Body), bufio.NewWriterSize(toGit{out}, packetLimit))
	}
	return r.endOf(err, true)
}

// toGit is the connection to git. It is no io.ReaderFrom: a net.Conn would put itself into what its source says.
type toGit struct{ conn io.Writer }

// overError is that git has ended before its answer, or was told the server's error and ends now.
type overError struct{ error }

func (t toGit) Write(p []byte) (int, error) {
	n, err := t.conn.Write(p)
	if err != nil {
		err = overError{err}
	}
	return n, err
}

// endOf is what it means that an answer could not be passed on: unless git has ended, the server has not said all.
func (r *Relay) endOf(err error, late bool) error {
	switch {
	case err == nil, errors.As(err, new(overError)):
		return err
	case late:
		return failedLate("unexpected disconnect", fmt.Errorf("read the server's answer: %w", err))
	case isCut(err):
		return r.unable(statusOf(err), fmt.Errorf("read what the server has: %w", err))
	}
	return r.unable(0, fmt.Errorf("read what the server has: %w", err))
}
