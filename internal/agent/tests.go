package agent

import (
	"context"
	"errors"
)

// RunTests runs argv in dir behind the same isolator as an agent: an environment of its own, limits, a user, a process group
// that is gone afterwards, a timeout. Tests that fail are an *Error whose Stderr is the end of all that they printed.
func RunTests(ctx context.Context, dir string, argv []string, opt Options) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("required tests: the command is empty")
	}
	// Both streams as one, in the order of printing, and none of it in memory beyond the tail.
	merged := append([]string{"/bin/sh", "-c", `exec "$@" >&2`, "sh"}, argv...)
	_, err := Filter(ctx, dir, merged, nil, opt)
	return err
}

// Filter runs argv in dir as RunTests does, with stdin on its standard input, and gives what it printed on its standard
// output. One that fails is an *Error whose Stderr is the end of its standard error.
func Filter(ctx context.Context, dir string, argv []string, stdin []byte, opt Options) ([]byte, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("the command is empty")
	}
	opt, leave, err := opt.defaults().enter(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := opt.execute(ctx, dir, argv, stdin)
	return out, leave(err)
}
