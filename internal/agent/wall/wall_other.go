//go:build !linux

package wall

import "errors"

// Settle is for Linux only, as all of the wall is.
func Settle(Estate, []string) ([]File, error) { return nil, errors.ErrUnsupported }
