package engine_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// A machine that has nothing left to start a process with may have it later; a program that is not there is not there then.
func TestWhatCannotBeStartedForNowIsTriedAgain(t *testing.T) {
	t.Parallel()
	start := func(err error) error {
		return fmt.Errorf("test: %w", &agent.Error{Kind: agent.Start, Err: &os.PathError{Op: "fork/exec", Path: "/bin/true", Err: err}})
	}
	for want, all := range map[model.Result][]error{
		model.ResultRetry:  {start(syscall.EAGAIN), start(syscall.ENOMEM), start(syscall.EMFILE), fmt.Errorf("fetch: %w", &git.Error{Failure: git.Exhausted, Err: syscall.ENOENT})},
		model.ResultFailed: {start(syscall.ENOENT), start(syscall.EACCES), &git.Error{Err: syscall.EACCES}},
	} {
		for _, err := range all {
			rep := model.Report{}
			require.NoError(t, (&engine.Engine{}).Conclude(err, &rep))
			assert.Equal(t, want, rep.Result, err)
		}
	}
}
