package git

import (
	"errors"
	"slices"
	"strings"
	"syscall"
)

// transientErrors are why a process temporarily cannot start: too many processes, no memory or descriptor left, or the
// program is just being replaced by another version.
var transientErrors = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY, syscall.ENOENT}

// exhausted are git's own messages for that, in the C locale: it starts processes and threads, too.
var exhausted = []string{
	"cannot fork", "unable to fork", "unable to create thread", "out of memory", "cannot allocate memory", "resource temporarily unavailable", "too many open files",
}

// Exhausts reports whether an error is due to exhausted resources, so that another try may succeed.
func Exhausts(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && failed.Failure == Exhausted
}

// exhaustion classifies a command that did not start, or that reported what it lacked.
func exhaustion(started bool, err error, stderr string) Failure {
	said := strings.ToLower(stderr)
	if !started && slices.ContainsFunc(transientErrors, func(one error) bool { return errors.Is(err, one) }) ||
		started && slices.ContainsFunc(exhausted, func(words string) bool { return strings.Contains(said, words) }) {
		return Exhausted
	}
	return ""
}
