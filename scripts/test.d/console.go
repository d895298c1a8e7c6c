package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// console is where everything that runs beside each other says what it has to say, each in one piece.
type console struct {
	mu sync.Mutex
	to io.Writer
}

func (c *console) line(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.to, format+"\n", args...)
}

// progress shows the lines of a program that say what is fetched or waited for, and keeps the last one.
type progress struct {
	to   *console
	part []byte
	last string
}

func (p *progress) Write(b []byte) (int, error) {
	p.part = append(p.part, b...)
	for {
		line, rest, ok := bytes.Cut(p.part, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		if p.part = rest; len(line) > 0 {
			p.last = string(line)
		}
		if bytes.HasPrefix(line, []byte("fetching ")) || bytes.HasPrefix(line, []byte("waiting ")) {
			p.to.line("%s", line)
		}
	}
}
