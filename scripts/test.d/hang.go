package main

import (
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
)

// hangTime is how long go test may print nothing. With -json it prints a line whenever a test begins, says something or ends. So
// nothing but a hang takes as long, however slow the machine is and however many tests a package has.
const hangTime = 30 * time.Minute

// onSilence has tests that hang say where they are, and kills those that stay silent. heard is called for each line that they print.
func onSilence(c clock.Clock, end func(syscall.Signal)) (heard, stop func()) {
	ask := c.AfterFunc(hangTime, func() { end(syscall.SIGQUIT) })
	kill := c.AfterFunc(2*hangTime, func() { end(syscall.SIGKILL) })
	heard = func() { _, _ = ask.Reset(hangTime), kill.Reset(2*hangTime) }
	stop = func() { _, _ = ask.Stop(), kill.Stop() }
	return heard, stop
}
