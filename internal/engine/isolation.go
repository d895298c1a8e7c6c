package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// isolateTurn is isolate for a turn, where it runs anything that is not ours.
func (p *pass) isolateTurn(ctx context.Context) error {
	agentRuns := p.Phase != thread.ApplyPhase && p.Marker.Phase == model.PhaseStarted
	if !agentRuns {
		return nil
	}
	if err := p.needAgent(); err != nil {
		return err
	}
	if agent.BuiltIn(p.Settings.Agent.Adapter) && len(p.Settings.Repo.RequiredTests) == 0 {
		return nil
	}
	return p.Isolate(ctx, p.Settings)
}

// Close ends what the engine has made on this machine for its run.
func (e *Engine) Close() error {
	var all error
	for _, i := range e.Isolated {
		all = errors.Join(all, i.Close())
	}
	e.Isolated = nil
	return all
}

// outlived is outlived with what was done so far left on the runner, as a bundle.
func (p *pass) outlived(ctx context.Context, err error) error {
	if !thread.IsAlive(err) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	work, gerr := p.gather(ctx)
	switch {
	case gerr == nil && work.head == "":
		return thread.StillAlive(err, "")
	case gerr == nil:
		file := filepath.Join(p.Git.Temp, fmt.Sprintf("mergexo-kept-%d-%.12s.bundle", p.Event.Number, work.head))
		if gerr = transport.WriteBundleForPerson(ctx, p.Checkout, file, markdown.Unbundled, p.base(), work.head); gerr == nil {
			return thread.StillAlive(err, fmt.Sprintf("; its work is on this runner, in %s: git fetch %s %s gets it", file, file, markdown.Unbundled))
		}
	}
	return thread.StillAlive(err, "; its work could not be kept: "+gerr.Error())
}
