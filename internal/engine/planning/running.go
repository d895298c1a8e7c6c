package planning

import (
	"context"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// readRunning reads how far those items have come that run, or ran when the comment was written.
func (p *Issue) readRunning(ctx context.Context, v *view) error {
	ran := map[string]bool{}
	if s := p.State.Roadmap; s != nil {
		for _, e := range s.Marker.Items {
			ran[e.Key] = e.State == model.ItemRunning
		}
	}
	var numbers []int
	for _, f := range v.facts {
		if f.Gone || !f.Labelled || f.Closed && !ran[f.Key] {
			continue
		}
		one, err := p.item(ctx, f.Issue)
		if err != nil {
			return err
		}
		v.began[f.Issue] = len(one.State.Flows) > 0
		if err := p.untouched(ctx, v, one); err != nil {
			return err
		}
		if n := len(one.State.Flows); n > 0 && one.State.Flows[n-1].Marker.Status == model.PhaseDone {
			m := one.State.Flows[n-1].Marker
			v.pulls[f.Issue] = standing{number: m.Pull, design: m.Flow == model.FlowDesign}
			numbers = append(numbers, m.Pull)
		}
	}
	for i := range v.facts {
		v.facts[i].Held = v.held[v.facts[i].Issue]
	}
	p.Report.IsIssue = true
	if len(numbers) == 0 {
		return nil
	}
	states, err := p.GitHub.Threads.States(ctx, p.Event.Repo, numbers)
	if err != nil {
		return err
	}
	for i := range v.facts {
		f := &v.facts[i]
		s, known := v.pulls[f.Issue]
		if !known {
			continue
		}
		s.state = states[s.number].State
		v.pulls[f.Issue] = s
		f.Pull, f.Design, f.Merged, f.Rejected = s.number, s.design, s.state == model.PullMerged, s.state == model.PullClosed
	}
	return nil
}

// item reads the issue of an item.
func (p *Issue) item(ctx context.Context, number int) (*thread.Thread, error) {
	one := p.Another(model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: number}, thread.NewMemory(p.Memory.Rights))
	one.Settings, one.Policy = p.Settings, p.Policy
	return one, one.Read(ctx)
}

// untouched notes whether an item may begin that has only our label: nobody looked at its issue before that.
func (p *Issue) untouched(ctx context.Context, v *view, one *thread.Thread) error {
	i := one.Snap.Issue()
	if i == nil || v.began[i.Number] {
		return nil
	}
	if _, label, is := flow.Of(i.Labels, thread.LabelsOf(p.Settings.Labels)); is && !flow.ByItself(*i, label) {
		return nil
	}
	ok, err := thread.Untouched(ctx, one)
	v.held[i.Number] = !ok
	return err
}

// hold looks at the issues that would be labelled and that somebody changed. again says that one of them must not begin.
func (p *Issue) hold(ctx context.Context, v *view) (again bool, err error) {
	for _, a := range v.step.Acts {
		if a.Kind != roadmap.Label || a.Row.Fact.Issue == 0 || !v.edited[a.Row.Fact.Issue] && a.Row.Fact.Title == a.Row.Title {
			continue
		}
		issue := a.Row.Fact.Issue
		if _, looked := v.held[issue]; looked {
			continue
		}
		one, err := p.item(ctx, issue)
		if err == nil {
			err = p.untouched(ctx, v, one)
		}
		if err != nil {
			return false, err
		}
		for i := range v.facts {
			if f := &v.facts[i]; f.Issue == issue {
				f.Held = v.held[issue]
				again = again || f.Held
			}
		}
	}
	return again, nil
}

// asks names the question about an item that failed as it did.
func (p *Issue) asks(f roadmap.Fact) string {
	how := "closed"
	if f.Gone {
		how = "gone"
	} else if f.Held {
		how = "changed"
	} else if !f.Closed {
		how = "pull " + strconv.Itoa(f.Pull)
	}
	return journal.Token("roadmap_ask", strconv.Itoa(p.Event.Number), f.Key, strconv.Itoa(f.Issue), how)
}
