package main

import (
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
