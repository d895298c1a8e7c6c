package agent

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
)

const (
	tailLimit = 64 << 10 // bytes of stderr kept for the error
	lineLimit = 8 << 10  // longer lines are broken
	logLimit  = 4 << 20  // bytes of stderr passed on to the log
)

// pipes are the three ends that the child has and the three that we have.
type pipes struct {
	child [3]*os.File
	ours  [3]*os.File
	wg    sync.WaitGroup
	stdin []byte
	to    [3]io.Writer
}

func openPipes(stdin []byte, stdout, stderr io.Writer) (*pipes, error) {
	p := &pipes{stdin: stdin, to: [3]io.Writer{nil, stdout, stderr}}
	for i := range p.child {
		r, w, err := os.Pipe()
		if err != nil {
			p.abandon()
			return nil, err
		}
		mode := fs.FileMode(0o622)
		if p.child[i], p.ours[i] = w, r; i == 0 {
			p.child[i], p.ours[i], mode = r, w, 0o644
		}
		// Whoever opens /dev/stdin or /dev/stderr needs the right to, which on a pipe only its maker has. Elsewhere than on Linux
		// that is us, and a pipe has no mode.
		if runtime.GOOS != "linux" {
			continue
		}
		if err := p.child[i].Chmod(mode); err != nil {
			p.abandon()
			return nil, err
		}
	}
	return p, nil
}

// started closes the child's ends, which it has its own copies of, and begins to copy.
func (p *pipes) started() {
	closeAll(p.child)
	for i, file := range p.ours {
		p.wg.Go(func() {
			if i == 0 {
				_, _ = file.Write(p.stdin) // a program need not read what it is given
				_ = file.Close()
				return
			}
			_, _ = io.Copy(p.to[i], file)
		})
	}
}

// finish waits until all that was written has been read. Somebody who still holds a pipe has until the patience ends.
func (p *pipes) finish(c clock.Clock, patience time.Duration) {
	now := time.Now()
	_ = p.ours[0].SetWriteDeadline(now) // nobody is left who ought to read
	end := c.AfterFunc(patience, func() {
		for _, file := range p.ours[1:] {
			_ = file.SetReadDeadline(now)
		}
	})
	p.wg.Wait()
	end.Stop()
	closeAll(p.ours)
}

// abandon closes what was opened for a process that was not started.
func (p *pipes) abandon() {
	closeAll(p.child)
	p.wg.Wait()
	closeAll(p.ours)
}

// closeAll closes the files that were opened.
func closeAll(files [3]*os.File) {
	for _, file := range files {
		_ = file.Close() // of nil, an error
	}
}

// capped keeps up to limit bytes, and says once that there were more.
type capped struct {
	limit int64
	over  func()
	mu    sync.Mutex
	kept  bytes.Buffer
	full  bool
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.limit - int64(c.kept.Len())
	if int64(len(p)) > room && !c.full {
		c.full = true
		c.over()
	}
	c.kept.Write(p[:min(int64(len(p)), room)])
	return len(p), nil
}

func (c *capped) flooded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

func (c *capped) bytes() []byte { return c.kept.Bytes() }

// sieve passes on the lines that keep wants, and everything when keep is nil. A line that is longer than what is
// accepted of all is passed on unseen, so that it counts.
type sieve struct {
	to   *capped
	keep func(line []byte) bool
	part []byte
}

func (s *sieve) Write(p []byte) (int, error) {
	if s.keep == nil {
		return s.to.Write(p)
	}
	for rest := p; ; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			s.part = append(s.part, rest...)
			break
		}
		s.part = append(s.part, rest[:end]...)
		s.decide()
		rest = rest[end:]
	}
	if int64(len(s.part)) > s.to.limit {
		_, _ = s.to.Write(s.part)
		s.part = nil
	}
	return len(p), nil
}

func (s *sieve) decide() {
	if s.keep(s.part) {
		_, _ = s.to.Write(s.part)
	}
	s.part = s.part[:0]
}

// flush decides about a last line that has no end.
func (s *sieve) flush() {
	if len(s.part) > 0 {
		s.decide()
	}
}

// lines passes whole lines on, up to a limit, and keeps the last ones.
type lines struct {
	to     io.Writer
	part   []byte
	kept   []byte
	cut    bool // kept is only the end
	passed int
	silent bool
}

func (l *lines) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p...)
	if len(l.kept) > 2*tailLimit {
		l.kept, l.cut = l.kept[:copy(l.kept, l.kept[len(l.kept)-tailLimit:])], true
	}
	l.part = append(l.part, p...)
	rest := l.part
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 && len(rest) < lineLimit {
			l.part = append(l.part[:0], rest...) // once for all lines: a copy for each would cost the square of their number
			return len(p), nil
		}
		if end < 0 || end > lineLimit {
			end = lineLimit - 1
			l.pass(append(append([]byte(nil), rest[:end+1]...), '\n'))
		} else {
			l.pass(rest[:end+1])
		}
		rest = rest[end+1:]
	}
}

// pass writes one line. That the log cannot be written to is no reason to stop the agent.
func (l *lines) pass(line []byte) {
	if l.silent {
		return
	}
	if l.passed += len(line); l.passed > logLimit {
		l.silent = true
		line = fmt.Appendf(nil, "(more than %d bytes: the rest is left out)\n", logLimit)
	}
	_, _ = l.to.Write(line)
}

// flush passes on a last line that has no end.
func (l *lines) flush() {
	if len(l.part) > 0 {
		l.pass(append(l.part, '\n'))
		l.part = nil
	}
}

// tail is the end, from where a line begins: a part of one could be a part of a secret, which nobody recognizes.
func (l *lines) tail() string {
	from := max(0, len(l.kept)-tailLimit)
	text := string(l.kept[from:])
	if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" && (l.cut || from > 0) {
		return rest
	}
	return text
}
