package planning

import (
	"context"
	"slices"
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
	for _, e := range entries(p) {
		ran[e.Key] = e.State == model.ItemRunning
	}
	var numbers []int
	for i := range v.facts {
		f := &v.facts[i]
		settled := f.Closed && !ran[f.Key] && (f.Completed || f.Pull == 0)
		if f.Gone || !v.lost && (!f.Labelled || settled) {
			continue
		}
		s, err := p.readItem(ctx, v, f)
		if err != nil {
			return err
		}
		if s.number != 0 {
			v.pulls[f.Issue] = s
			numbers = append(numbers, s.number)
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
		if s.state == model.PullOpen {
			one, err := item(ctx, p, s.number)
			if err != nil {
				return err
			}
			if one.State.Block != nil && one.State.Block.Marker.Until.IsZero() {
				f.Asks = s.number
			}
		}
	}
	return nil
}

// readItem reads how far an item has come, and where the comment is lost that knew it, whether it has begun: by the label that it has
// or had.
func (p *Issue) readItem(ctx context.Context, v *view, f *roadmap.Fact) (s standing, err error) {
	one, err := item(ctx, p, f.Issue)
	if err != nil {
		return s, err
	}
	n := len(one.State.Flows)
	v.began[f.Issue] = n > 0
	if i := one.Snap.Issue(); v.lost && i != nil {
		had := slices.ContainsFunc(i.LabelChanges, func(c model.LabelChange) bool { return c.On && asked(p, []string{c.Label}) })
		f.Labelled = f.Labelled || n > 0 || had
	}
	if f.Labelled {
		if err := untouched(ctx, p, v, one); err != nil {
			return s, err
		}
	}
	if n > 0 && one.State.Flows[n-1].Marker.Asks() {
		f.Asks = f.Issue
	}
	if n > 0 && one.State.Flows[n-1].Marker.Status == model.PhaseDone {
		m := one.State.Flows[n-1].Marker
		return standing{number: m.Pull, design: m.Flow == model.FlowDesign}, nil
	}
	if f.Closed { // the comment knows a pull request whose receipt is gone, and not whether more was to come
		s = standing{number: f.Pull, design: true}
	}
	return s, nil
}

// item reads the issue of an item.
func item(ctx context.Context, p *Issue, number int) (*thread.Thread, error) {
	one := thread.Another(p.Thread, model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: number}, thread.NewMemory(p.Memory.Rights))
	one.Settings, one.Policy = p.Settings, p.Policy
	return one, one.Read(ctx)
}

// untouched notes whether an item may begin that has only our label: nobody looked at its issue before that.
func untouched(ctx context.Context, p *Issue, v *view, one *thread.Thread) error {
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

// hold looks at the issues that would be labeled and that somebody changed. again says that one of them must not begin.
func hold(ctx context.Context, p *Issue, v *view) (again bool, err error) {
	for _, a := range v.step.Acts {
		if a.Kind != roadmap.Label || a.Row.Fact.Issue == 0 || !v.edited[a.Row.Fact.Issue] && a.Row.Fact.Title == a.Row.Title {
			continue
		}
		issue := a.Row.Fact.Issue
		if _, looked := v.held[issue]; looked {
			continue
		}
		one, err := item(ctx, p, issue)
		if err == nil {
			err = untouched(ctx, p, v, one)
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
func asks(p *Issue, f roadmap.Fact) string {
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
