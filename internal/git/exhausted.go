package git

import (
	"errors"
	"strings"
	"syscall"
)

// transientErrors are why a process cannot be started for now: too many are there, no memory or descriptor is left, or the program is
// just being replaced by another version.
var transientErrors = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY, syscall.ENOENT}

// exhausted are git's own words for the same, in C's language: it starts processes and threads, too.
var exhausted = []string{
	"cannot fork", "unable to fork", "unable to create thread", "out of memory", "cannot allocate memory", "resource temporarily unavailable", "too many open files",
}

// Exhausts says that an error comes of what the machine lacks at the moment, so that another try may do better.
func Exhausts(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && failed.Failure == Exhausted
}

// exhaustion classifies a command that did not start, or that said what it lacked.
func exhaustion(started bool, err error, stderr string) Failure {
	if !started {
		for _, one := range transientErrors {
			if errors.Is(err, one) {
				return Exhausted
			}
		}
		return ""
	}
	said := strings.ToLower(stderr)
	for _, words := range exhausted {
		if strings.Contains(said, words) {
			return Exhausted
		}
	}
	return ""
}
