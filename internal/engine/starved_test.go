package engine_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/work"
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

// Another round of the agent changes nothing about tests that did not run.
func TestTestsThatCannotBeStartedAreNotTheAgentsToRepair(t *testing.T) {
	w := newWorld(t, `required_tests = ["true", "`+strings.Repeat("x", 200<<10)+`"]`) // more than Linux takes in an argument
	rep := w.ended(model.ResultFailed, "attempt 1 of 3: the required tests could not be run: start /bin/sh: ", w.handle(w.remark("alice", "Answer me.")))
	assert.Contains(t, rep.Reason, "argument list too long")
	assert.Equal(t, 1, w.calls())
	_, subjects := w.kept()
	assert.Equal(t, []string{"Answer, in words of call 1"}, subjects)
}

// Only what passes by itself is waited for.
func TestAMachineThatHasNothingLeftCostsNoAttempt(t *testing.T) {
	t.Parallel()
	for waits, errno := range map[bool]syscall.Errno{true: syscall.EAGAIN, false: syscall.E2BIG} {
		e := work.Hindered("the tests could not be run", &agent.Error{Kind: agent.Start, Detail: "start true: " + errno.Error(), Err: errno})
		assert.Equal(t, waits, e.Waits)
		assert.EqualError(t, e, "the tests could not be run: start true: "+errno.Error())
	}
}
