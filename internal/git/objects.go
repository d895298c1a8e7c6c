package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Pour runs a command in our own git directory and reads its output while it runs. If the command fails, reading fails.
func (c *Checkout) Pour(ctx context.Context, stdin []byte, read func(*bufio.Reader) error, args ...string) error {
	env := c.OwnEnv()
	return c.Stream(ctx, Spec{Dir: c.OwnDir, Env: env, Stdin: stdin, Args: Safely(args)}, read)
}

// Converse runs a command in our own git directory that answers each line of its input at once: talk writes to it and reads
// its answers. It ends when talk returns.
func (c *Checkout) Converse(ctx context.Context, talk func(to io.Writer, from *bufio.Reader) error, args ...string) error {
	in, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) }) // git would wait for more
	defer stop()
	return c.Stream(ctx, Spec{Dir: c.OwnDir, Env: c.OwnEnv(), Input: in, Args: Safely(args)}, func(from *bufio.Reader) error {
		defer to.Close()
		return talk(to, from)
	})
}

// Stream does the same for any command.
func (c *Checkout) Stream(ctx context.Context, s Spec, read func(*bufio.Reader) error) error {
	out, to := io.Pipe()
	ran := make(chan error, 1)
	s.Output = to
	go func() {
		_, err := c.Run(ctx, s)
		to.CloseWithError(err) // nil is EOF
		ran <- err
	}()
	err := read(bufio.NewReaderSize(out, 64<<10))
	out.CloseWithError(io.ErrClosedPipe) // git exits when it can no longer write
	if failed := <-ran; err == nil {
		return failed
	}
	return err
}

// Contents visits the contents of objects in the requested order, duplicates included. What a visit leaves unread is
// skipped. All of them have to be here.
func (c *Checkout) Contents(ctx context.Context, ids []string, visit func(id string, content io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	return c.Pour(ctx, []byte(strings.Join(ids, "\n")+"\n"), func(in *bufio.Reader) error {
		for _, id := range ids {
			head, err := in.ReadString('\n')
			if err != nil {
				return fmt.Errorf("read object %s: %w", id, err)
			}
			part := strings.Fields(head)
			if len(part) != 3 || part[0] != id {
				return fmt.Errorf("read object %s: unexpected answer %q", id, head)
			}
			size, err := strconv.ParseInt(part[2], 10, 64)
			if err != nil {
				return fmt.Errorf("read object %s: %w", id, err)
			}
			content := &io.LimitedReader{R: in, N: size}
			if err := visit(id, content); err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, in, content.N+1); err != nil { // a newline follows
				return fmt.Errorf("read object %s: %w", id, err)
			}
		}
		return nil
	}, "cat-file", "--batch", "--buffer")
}
