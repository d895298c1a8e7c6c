package turns

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/checkout"
)

// newAgent makes the agent of the turn at hand and the places where it keeps its things: nothing of them is in the checkout.
func newAgent(ctx context.Context, p *Attempt) (agent.Agent, error) {
	opt := thread.AgentOptions(p.World, p.Settings, p.Checkout.AgentEnv()...)
	opt.Files = checkout.Files{C: p.Checkout}
	opt.Redact = redact.Words(ctx, p.Thread)
	if err := thread.MakePlaces(p.Thread); err != nil {
		return nil, err
	}
	opt.Temp, opt.Sessions = p.Memory.Temp, p.Memory.Sessions
	if p.Sessions != "" { // one pull request's agent does not read another one's
		opt.Sessions = filepath.Join(p.Sessions, p.Event.Repo.Owner, p.Event.Repo.Name, fmt.Sprint(p.Event.Number))
	}
	where, err := opt.Exposed(slices.Concat(thread.Hidden(p.World), thread.ModelKeys(p.World, p.Settings))...)
	if err != nil {
		return nil, err
	}
	if where != "" {
		p.Log.Warn("token_exposed", "process", where, "fix", "start MergeXO from the action, or with exec, so that no parent process keeps the token or the model's key in its environment")
	}
	p.AgentHome = opt.Sessions
	unseal(ctx, p, opt.Sessions)
	return agent.New(opt)
}
