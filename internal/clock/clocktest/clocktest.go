// Package clocktest lets tests wait for something that happens, and never for a span of time. Its only limit is one that nothing
// but a hang reaches.
package clocktest

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// Hang is longer than whatever ends by itself takes on the slowest machine that is any use.
const Hang = 5 * time.Minute

// Until waits until ok says so. It is for what another program does, which no channel tells of.
func Until(t testing.TB, ok func() bool, what string) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	hang := time.NewTimer(Hang)
	defer hang.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-hang.C:
			t.Fatalf("%s: still not so after %v", what, Hang)
		}
	}
}

// Unlimited is the machine's clock for a program that is not to be limited: its tickers tick, its timers never end.
func Unlimited() clockwork.Clock { return unlimited{clockwork.NewRealClock()} }

type unlimited struct{ clockwork.Clock }

func (u unlimited) After(time.Duration) <-chan time.Time { return nil }

func (u unlimited) NewTimer(time.Duration) clockwork.Timer {
	return clockwork.NewFakeClock().NewTimer(Hang)
}

func (u unlimited) AfterFunc(_ time.Duration, f func()) clockwork.Timer {
	return clockwork.NewFakeClock().AfterFunc(Hang, f)
}

// Words is a log that calls back when a word is written to it, so that a test can go on when a program has said it.
type Words struct {
	To io.Writer // nil: nowhere else

	mu   sync.Mutex
	seen bytes.Buffer
	wait map[string][]func()
}

// At has do called, once, as soon as the word has been written from now on.
func (w *Words) At(word string, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait == nil {
		w.wait = map[string][]func(){}
	}
	w.wait[word] = append(w.wait[word], do)
}

func (w *Words) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.seen.Write(p)
	var due []func()
	for word, do := range w.wait {
		if bytes.Contains(w.seen.Bytes(), []byte(word)) {
			due = append(due, do...)
			delete(w.wait, word)
		}
	}
	if len(w.wait) == 0 {
		w.seen.Reset()
	}
	to := w.To
	w.mu.Unlock()
	for _, do := range due {
		do()
	}
	if to != nil {
		return to.Write(p)
	}
	return len(p), nil
}
