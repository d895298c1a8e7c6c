package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
}

func (e *Error) Error() string {
	switch e.Kind {
	case Start, Exit, Timeout, Canceled, Flood:
		if said := lastLine(e.Stderr); said != "" {
			return "agent: " + e.Detail + "; it said last: " + said
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

// lastLine is the last line that says anything, made safe to print.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		text = text[at+1:]
	}
	return excerpt(text, 300)
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

func wrong(format string, args ...any) *Error {
	return &Error{Kind: Output, Detail: fmt.Sprintf(format, args...)}
}

// span prints a duration as settings write it: 30m, 1h30m, 50ms.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
