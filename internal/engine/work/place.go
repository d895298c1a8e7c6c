package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/model"
)

// place is where an agent's work is in one phase of a run, and what can be done with it there.
type place interface {
	// saves is the branch that work in progress is saved on; "" where it is not.
	saves() string
	// orphans are those of the refs that are on GitHub, with saved work of claims whose runs died.
	orphans(ctx context.Context, refs []string) (map[string]string, error)
	// overtime ends a run that has no time left to begin what takes an agent; nil as long as there is some.
	overtime() error
	// gather commits what is in the checkout and finds where it may go.
	gather(ctx context.Context) (Held, error)
	// setAside brings what is in the checkout to a branch of its own.
	setAside(ctx context.Context) model.Kept
	// keepBranch keeps what the agent has committed on another branch than its own, and says where.
	keepBranch(ctx context.Context, ref git.Ref) string
	// strand leaves work on the runner that no push got through.
	strand(ctx context.Context, head string) model.Kept
}

// place is the one of the run's phase.
func (w *Work) place() place {
	here := checkout{w}
	return thread.ByPhase[place]{Whole: here, Agent: agentsCheckout{here}, Apply: handedOver{here}}.Of(w.Phase)
}

// checkout is the place of a run that has the agent and the credential.
type checkout struct{ w *Work }

func (c checkout) saves() string {
	if c.w.Settings.Agent.CheckpointEvery <= 0 {
		return ""
	}
	return WipBranch(c.w.Event.Number, c.w.Marker.Claim)
}

func (c checkout) orphans(ctx context.Context, refs []string) (map[string]string, error) {
	if err := c.w.Open(ctx); err != nil {
		return nil, err
	}
	return fetch.Remote(ctx, c.w.Checkout, refs...)
}

func (c checkout) overtime() error {
	if c.w.RunLeft(c.w.Settings) > 0 {
		return nil
	}
	return thread.OutOfTime(c.w.Thread)
}

func (c checkout) gather(ctx context.Context) (Held, error) { return gather(ctx, c.w) }

func (c checkout) setAside(ctx context.Context) model.Kept {
	return aside(ctx, c.w, gathered(ctx, c.w))
}

func (c checkout) keepBranch(ctx context.Context, ref git.Ref) string {
	left := leftOn(ref)
	work, err := fit(ctx, c.w, Held{Head: ref.SHA}, nil)
	if err != nil {
		return left + ", and could not be kept: " + err.Error()
	}
	if k := aside(ctx, c.w, work); k.Branch != "" {
		left += ", but kept on " + k.Named()
	}
	return left
}

func leftOn(ref git.Ref) string {
	if ref.Name == checkpoint.Stash {
		return "the agent left changes in git stash; they were not pushed"
	}
	return fmt.Sprintf("the agent left commits on branch %q, which was not its branch; they were not pushed", ref.Name)
}

func (c checkout) strand(ctx context.Context, head string) model.Kept {
	return leaveOnRunner(ctx, c.w, head)
}

// agentsCheckout is the checkout in the job of an agent, which pushes nothing: what it hands over are the commits of one branch, on top of
// the head that the agent started from.
type agentsCheckout struct{ checkout }

func (agentsCheckout) saves() string { return "" }

func (agentsCheckout) orphans(context.Context, []string) (map[string]string, error) { return nil, nil }

func (a agentsCheckout) gather(ctx context.Context) (Held, error) {
	work, err := a.checkout.gather(ctx)
	if err == nil && work.Aside {
		return Held{}, errors.New("it does not descend from the head that it started from")
	}
	return work, err
}

func (agentsCheckout) setAside(context.Context) model.Kept { return model.Kept{} }

func (agentsCheckout) keepBranch(_ context.Context, ref git.Ref) string { return leftOn(ref) }

func (agentsCheckout) strand(context.Context, string) model.Kept { return model.Kept{} }

// handedOver is what the job of an agent handed over, in the one that has no agent.
type handedOver struct{ checkout }

func (handedOver) saves() string { return "" }

func (handedOver) orphans(context.Context, []string) (map[string]string, error) { return nil, nil }

func (handedOver) overtime() error { return nil }

func (handedOver) keepBranch(_ context.Context, ref git.Ref) string { return leftOn(ref) }

func (h handedOver) gather(ctx context.Context) (Held, error) {
	if h.w.Admitted == "" {
		return Held{}, nil
	}
	return fit(ctx, h.w, Held{Head: h.w.Admitted}, nil)
}
