package engine

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// leads is the issue at which the work continues now that the pull request is merged or closed; 0 for none.
func (p *topics) leads(ctx context.Context) (int, error) {
	pull := p.Snap.Pull
	merged := pull.State == model.PullMerged || p.merging.Landed
	if p.Event.Name != "pull_request" && !p.merging.Landed || pull.State == model.PullOpen && !merged {
		return 0, nil
	}
	if merged {
		// What landed in a run gives the agent of that run work. An agent's own job has looked before.
		if issue := p.designed(); issue != 0 && (p.Event.Name == "pull_request" || p.Phase.IsWhole()) {
			return issue, nil
		}
		if number := p.planned(); number != 0 {
			return number, nil
		}
	}
	return p.itemOf(ctx)
}

// designed is the issue whose design or roadmap this pull request has; 0 for none.
func (p *topics) designed() int {
	t := p.State.Tracked
	if t == nil {
		return 0
	}
	if t.Marker.Flow == string(model.FlowDesign) {
		return t.Marker.Issue
	}
	if t.Marker.Flow == "" { // tracked before the flow's own run could say so; the issue tells whether it is true
		return flow.DesignOf(p.Snap.Pull.HeadRef)
	}
	return 0
}

// planned is the issue of the roadmap whose file the pull request changes, as the file's name says it; 0 for none. The issue tells
// whether it is true.
func (p *topics) planned() int {
	if t := p.State.Tracked; t != nil && t.Marker.Flow == string(model.FlowRoadmap) {
		return t.Marker.Issue
	}
	for _, f := range p.Snap.Pull.Files {
		if n := roadmap.FileOf(p.Settings.Roadmap.Dir, f.Path); n != 0 {
			return n
		}
	}
	return 0
}

// itemOf is the issue of the roadmap that the pull request is for an item of; 0 for none.
func (p *topics) itemOf(ctx context.Context) (int, error) {
	t := p.State.Tracked
	if t == nil || t.Marker.Issue == 0 {
		return 0, nil
	}
	if t.Marker.Flow == string(model.FlowDesign) {
		if err := thread.ReadSource(ctx, p.Thread); err != nil {
			return 0, err
		}
		if i := p.Snap.Pull.Issue; i != nil {
			thread.MarkItem(p.Thread, i, i.Body)
		}
	}
	if i := p.Snap.Pull.Issue; i != nil && i.Number == t.Marker.Issue && i.Item != "" {
		return i.Roadmap, nil
	}
	return 0, nil
}
