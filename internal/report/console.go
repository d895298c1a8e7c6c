package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"
)

// annotationLimit bounds the message of an annotation, in bytes: GitHub shows no more.
const annotationLimit = 4096

// Annotate writes a workflow command that shows message beside the run. level is notice, warning or error, anything
// else is an error. The message is cut and escaped: whatever it holds, it stays one line and one command.
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-a-warning-message
func Annotate(w io.Writer, level, message string) error {
	switch level {
	case "notice", "warning", "error":
	default:
		return fmt.Errorf("annotate: level %q: want notice, warning or error", level)
	}
	return command(w, level, cut(plain(message), annotationLimit))
}

// Complaint writes the last line of a run that failed: "mergexo: " and the first line of what is said. The other lines follow, each after
// "| ", so that none can be mistaken for a workflow command: the runner skips blanks before one.
func Complaint(w io.Writer, said string) error {
	first, rest, _ := strings.Cut(plain(strings.TrimSpace(said)), "\n")
	out := inkOf(w).in(red, "mergexo:") + " " + first + "\n"
	if rest != "" {
		out += indent(rest, "  | ") + "\n"
	}
	return text(w, out)
}

func command(w io.Writer, name, message string) error {
	c := githubactions.Command{Name: name, Message: message}
	if _, err := io.WriteString(w, c.String()+"\n"); err != nil {
		return fmt.Errorf("write workflow command %s: %w", name, err)
	}
	return nil
}

// Console prints progress: groups of lines, and the output of other programs. It is safe for concurrent use; each goroutine
// prints whole lines.
type Console struct {
	mu        sync.Mutex
	w         io.Writer
	inActions bool
	token     func() string
	fenced    []*foreign // with an open fence
}

// NewConsole prints to w. In Actions (inActions) groups fold and foreign text is fenced off by token, which must give a
// new random word of letters and digits at each call: who knows it can end the fence.
func NewConsole(w io.Writer, inActions bool, token func() string) *Console {
	return &Console{w: w, inActions: inActions, token: token}
}

// Group begins a group of lines that a reader can fold. Groups do not nest.
func (c *Console) Group(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inActions {
		return command(c.w, "group", oneLine(name))
	}
	if _, err := fmt.Fprintln(c.w, inkOf(c.w).in(strong, "== "+oneLine(name))); err != nil {
		return fmt.Errorf("print group: %w", err)
	}
	return nil
}

// End ends the group.
func (c *Console) End() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inActions {
		return nil
	}
	return command(c.w, "endgroup", "")
}

// Mask tells the runner to hide a value in everything that it shows from now on; outside Actions there is nobody to tell. While
// foreign text is fenced off, the runner would not obey: the fence is opened for it, and the next line of such text stands
// behind another one. https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#masking-a-value-in-a-log
func (c *Console) Mask(value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inActions || value == "" {
		return nil
	}
	for _, f := range c.fenced {
		if err := command(c.w, f.token, ""); err != nil {
			return err
		}
		f.token = ""
	}
	c.fenced = nil
	return command(c.w, "add-mask", value)
}

// Foreign is where text that is not ours goes, such as an agent's log. In Actions it stands between stop-commands, so
// that the runner obeys nothing in it; elsewhere each line begins with "| " and holds no terminal sequence. Close must
// be called: in Actions the runner obeys nothing until then. A fence is opened with the first byte and not for an empty text.
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#stopping-and-starting-workflow-commands
func (c *Console) Foreign() io.WriteCloser { return &foreign{console: c} }

// foreignLine bounds one printed line of foreign text, in bytes: longer ones are broken.
const foreignLine = 16 << 10

type foreign struct {
	mu      sync.Mutex
	console *Console
	token   string // of the open fence; guarded by the console's lock
	rest    []byte // the beginning of a line
	closed  bool
}

func (f *foreign) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, io.ErrClosedPipe
	}
	f.rest = append(f.rest, p...)
	for len(f.rest) > 0 {
		n := bytes.IndexByte(f.rest, '\n')
		switch {
		case n >= 0:
			n++
		case len(f.rest) > foreignLine:
			n = foreignLine
		default:
			return len(p), nil
		}
		if err := f.line(f.rest[:min(n, foreignLine)]); err != nil {
			return 0, err
		}
		f.rest = f.rest[min(n, foreignLine):]
	}
	return len(p), nil
}

// line prints one line, or a part of an overlong one, and ends it.
func (f *foreign) line(text []byte) error {
	c := f.console
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inActions && f.token == "" {
		f.token = c.token()
		if err := command(c.w, "stop-commands", f.token); err != nil {
			return err
		}
		c.fenced = append(c.fenced, f)
	}
	out := strings.TrimRight(string(text), "\r\n")
	if !c.inActions {
		out = indent(out, "| ")
	}
	if _, err := io.WriteString(c.w, out+"\n"); err != nil {
		return fmt.Errorf("print foreign text: %w", err)
	}
	return nil
}

func (f *foreign) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if len(f.rest) > 0 {
		if err := f.line(f.rest); err != nil {
			return err
		}
	}
	c := f.console
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.token == "" {
		return nil
	}
	c.fenced = slices.DeleteFunc(c.fenced, func(open *foreign) bool { return open == f })
	return command(c.w, f.token, "")
}

// indent puts prefix before every line of untrusted text, which thereby begins no line.
func indent(s, prefix string) string {
	lines := strings.Split(plain(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(prefix+l, " ")
	}
	return strings.Join(lines, "\n")
}
