//go:build !linux

package isolate

import "errors"

// Chown is for Linux only, as the whole isolator is.
func Chown(Owners, []string) ([]File, error) { return nil, errors.ErrUnsupported }

// ProcessesOf is for Linux only, too.
func ProcessesOf(int) (n int, threads uint64) { return 0, 0 }
