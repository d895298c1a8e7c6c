//go:build !linux

package agent

import (
	"errors"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock"
)

func expect()                     {}
func born(int)                    {}
func reap(int, clock.Clock) error { return nil }
func disown()                     {}
func ancestors() []int            { return nil }

type process struct {
	pid     int
	started uint64
}

func readProcess(int) (process, bool) { return process{}, false }

func (opt Options) within(*isolate.Spec, string, string) {}

type handover struct{}

func (opt Options) receiveListeners(string) (*handover, error) { return nil, errors.ErrUnsupported }

func (*handover) network() *isolate.Network { return nil }

func (*handover) end() (int64, error) { return 0, nil }

func (opt Options) tryView(*account) error { return errors.ErrUnsupported }
