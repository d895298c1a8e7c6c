package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/mergexo/mergexo/internal/clock"
)

// Screen is the output or the error output of this process, which may be a terminal. Only here is anything written that a terminal
// obeys: colors, and what takes away the line about the work that is in progress. All writes to one terminal go through one Screen.
type Screen struct {
	mu      sync.Mutex
	w       io.Writer
	columns int // of a terminal; 0: lines may have any length
	colour  bool
	moves   bool   // the line about the work may be shown
	line    string // the work that is in progress; "" for none
	visible bool   // the line is on the screen
	within  bool   // the last write did not end its line
}

// NewScreen writes to w, plainly until Adapt says otherwise.
func NewScreen(w io.Writer) *Screen {
	s := &Screen{w: w}
	if f, ok := w.(*os.File); ok && s.Terminal() {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			s.columns = int(size.Col)
		}
	}
	return s
}

// Terminal reports whether a person sees what is written.
func (s *Screen) Terminal() bool {
	f, ok := s.w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Adapt sets whether colors are written, and whether work that is in progress is shown. It is called before anything is written.
func (s *Screen) Adapt(colour, moves bool) { s.colour, s.moves = colour, moves }

// clearLine goes to the beginning of the line and erases it.
const clearLine = "\r\x1b[K"

// Write writes above the line about the work.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.moves || len(p) == 0 {
		return s.w.Write(p)
	}
	if err := s.erase(); err != nil {
		return 0, err
	}
	n, err := s.w.Write(p)
	if err != nil {
		return n, err
	}
	s.within = p[len(p)-1] != '\n'
	return n, s.draw()
}

// workLimit bounds the line about the work, in characters: one that a terminal breaks could not be erased.
const workLimit = 60

// Working shows on a terminal what is in progress, and for how long, until done is called.
func (s *Screen) Working(c clock.Clock, what string) (done func()) {
	if !s.moves {
		return func() {}
	}
	what = shortened(oneLine(what), workLimit)
	c = clock.Or(c)
	began := c.Now()
	ticks := c.NewTicker(time.Second)
	stop, stopped := make(chan struct{}), make(chan struct{})
	s.show(what)
	go func() {
		defer close(stopped)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.Chan():
				s.show(fmt.Sprintf("%s (%d s)", what, int(c.Since(began).Seconds())))
			case <-stop:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
		s.show("")
	})
}

// show replaces the line. A terminal that is gone is noticed by the next write that matters.
func (s *Screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.erase()
	s.line = line
	_ = s.draw()
}

func (s *Screen) erase() error {
	if !s.visible {
		return nil
	}
	s.visible = false
	_, err := io.WriteString(s.w, clearLine)
	return err
}

func (s *Screen) draw() error {
	if s.line == "" || s.within {
		return nil
	}
	s.visible = true
	_, err := io.WriteString(s.w, s.line)
	return err
}

// style is how a word of ours stands out: https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters
type style string

const (
	unstyled style = ""
	strong   style = "1"
	red      style = "31"
	green    style = "32"
	yellow   style = "33"
)

// ink colors words for a writer, if that is a terminal that gets colors.
type ink bool

func inkOf(w io.Writer) ink {
	s, ok := w.(*Screen)
	return ink(ok && s.colour)
}

// in gives a text that a style stands for. The text has to be plain.
func (i ink) in(st style, text string) string {
	if !i || st == unstyled || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// signStyles are the colors of doctor's signs.
var signStyles = map[string]style{"ok": green, "warn": yellow, "fix": red}

// Findings writes what doctor found: text has a sign at the beginning of each finding, two blanks into the line.
func Findings(w io.Writer, found string) error {
	i := inkOf(w)
	var b strings.Builder
	for line := range strings.Lines(plain(found)) {
		rest, indented := strings.CutPrefix(line, "  ")
		sign, more, ok := strings.Cut(rest, " ")
		if st := signStyles[sign]; indented && ok && st != unstyled {
			line = "  " + i.in(st, sign) + " " + more
		}
		b.WriteString(line)
	}
	return text(w, b.String())
}
