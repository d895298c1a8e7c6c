package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/mergexo/mergexo/internal/model"
)

// Kind says how an agent failed.
type Kind string

// The kinds of failure.
const (
	Start    Kind = "start"    // it could not be started
	Exit     Kind = "exit"     // it ended with an exit code other than 0, or by a signal
	Timeout  Kind = "timeout"  // it was stopped because it took too long
	Canceled Kind = "canceled" // it was stopped because the run was
	Flood    Kind = "flood"    // it wrote more on stdout than is accepted
	Output   Kind = "output"   // what it wrote is not an outcome

	Alive      Kind = "alive"      // something that it started goes on running: nothing more is safe to do
	Unreturned Kind = "unreturned" // it ended well, but what it was given cannot be taken back from its user

	NotInstalled Kind = "not_installed" // the program is not there, or does not run at all
	Login        Kind = "login"         // no key, or one that the provider does not take
	Limit        Kind = "limit"         // the provider's rate limit, quota or capacity: later it may work
	Model        Kind = "model"         // the provider or its model failed
	Refused      Kind = "refused"       // the model will not do it
	NoSession    Kind = "no_session"    // the session to be resumed is not on this machine
)

// Error is an agent that gave no outcome: one line that says what and why.
type Error struct {
	Kind   Kind
	Detail string // the line, without the agent's own words
	Exit   int    // exit code; -1 when it has none
	Stderr string // the last lines it printed, as bytes; at most 64 KiB
	Err    error
	// What is known of the work that failed, where the adapter can tell: it was paid for, and could be resumed.
	Session string
	Usage   model.Usage

	format string // that Detail was made by, of args; "": Detail has no words of the program's
	args   []any
	last   string // what Error says of Stderr; "": not redacted
}

func (e *Error) Error() string {
	switch e.Kind {
	case Start, Exit, Timeout, Canceled, Flood:
		if said := cmp.Or(e.last, lastWords(e.Stderr, 300).String()); said != "" {
			return "agent: " + e.Detail + "; its last line: " + said
		}
	}
	return "agent: " + e.Detail
}

func (e *Error) Unwrap() error { return e.Err }

// NotRun says that tests say nothing by failing so: they were not started, or their end is ours. A program of theirs that is not
// there is told by the shell that they run in.
func NotRun(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && (failed.Kind == Start || failed.Kind == Unreturned)
}

// Starved says that the machine had no process, memory or descriptor left for what was to be started.
func Starved(err error) bool {
	return slices.ContainsFunc([]error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}, func(one error) bool { return errors.Is(err, one) })
}

// failing makes an error whose detail may have words among its args.
func failing(kind Kind, exit int, format string, args ...any) *Error {
	return &Error{Kind: kind, Exit: exit, Detail: fmt.Sprintf(format, args...), format: format, args: args}
}

func wrong(format string, args ...any) *Error { return failing(Output, 0, format, args...) }

// redacted takes out of the words in an error what nobody may read.
func (opt Options) redacted(err error) error {
	var failed *Error
	if opt.Redact == nil || !errors.As(err, &failed) {
		return err
	}
	failed.last = lastWords(failed.Stderr, 300).shown(opt.Redact)
	if failed.format != "" {
		args := slices.Clone(failed.args)
		for i := range args {
			if w, ok := args[i].(words); ok {
				args[i] = w.shown(opt.Redact)
			}
		}
		failed.Detail = fmt.Sprintf(failed.format, args...)
	}
	return err
}

// words are what a program said. They are cut and quoted when they are shown: by then a secret in them must be gone, since nobody
// recognizes a part of it.
type words struct {
	text string
	most int  // bytes that are shown
	line bool // shown as one line without a full stop
}

// lastWords are the last line that says anything.
func lastWords(text string, most int) words { return words{text: lastLine(text), most: most} }

func (w words) String() string { return w.shown(nil) }

func (w words) shown(redact func(string) string) string {
	text := w.text[:min(len(w.text), tailLimit)]
	if redact != nil && text != "" {
		text = redact(text)
	}
	if w.line {
		text = strings.TrimRight(strings.Join(strings.Fields(text), " "), ".")
	}
	return excerpt(text, w.most)
}

// lastLine is the last line that says anything, as it is.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// forkless are the words of dash, bash, git and the C library for a process or thread that the limit on them does not let begin.
var forkless = []string{"cannot fork", "unable to fork", "fork: resource temporarily unavailable", "fork: retry", "unable to create thread", "unable to create native thread"}

// noFork says whether a program printed that it could not start another.
func noFork(stderr string) bool {
	said := strings.ToLower(stderr)
	return slices.ContainsFunc(forkless, func(words string) bool { return strings.Contains(said, words) })
}

// excerpt is the first n bytes of something that is not ours, with control characters and what is not UTF-8 escaped.
func excerpt(text string, n int) string {
	more := ""
	if len(text) > n {
		text, more = text[:n], "..."
	}
	quoted := strconv.Quote(text)
	return quoted[1:len(quoted)-1] + more
}
