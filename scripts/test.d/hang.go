package main

import (
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
)

// hangTime is how long go test may print nothing. With -json it prints a line whenever a test begins, says something or ends. So
// nothing but a hang takes as long, however slow the machine is and however many tests a package has.
const hangTime = 30 * time.Minute

// timeout ends a package that talks for ever. With one, go test also gives up on what a test has left behind that holds its output.
const timeout = "-timeout=6h"

// onSilence has tests that hang say where they are, and kills those that stay silent. heard is called for each line that they print.
func onSilence(c clock.Clock, end func(syscall.Signal, time.Duration)) (heard, stop func()) {
	ask := c.AfterFunc(hangTime, func() { end(syscall.SIGQUIT, hangTime) })
	kill := c.AfterFunc(2*hangTime, func() { end(syscall.SIGKILL, 2*hangTime) })
	heard = func() { _, _ = ask.Reset(hangTime), kill.Reset(2*hangTime) }
	stop = func() { _, _ = ask.Stop(), kill.Stop() }
	return heard, stop
}
