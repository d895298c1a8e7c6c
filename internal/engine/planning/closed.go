package planning

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// TellClosed tells people, once for the same items, that the plan has new ones and that its issue is closed.
func (p *Issue) TellClosed(ctx context.Context) error {
	f, _, _ := flow.Of(p.Snap.Issue().Labels, thread.LabelsOf(p.Settings.Labels))
	if p.State.Roadmap == nil || f != model.FlowRoadmap {
		return nil
	}
	v, err := p.look(ctx)
	if err != nil || v.problem != "" || !v.creates() {
		return err
	}
	var created []roadmap.Row
	token := []string{"roadmap_closed"}
	for _, a := range v.step.Acts {
		if a.Kind == roadmap.Create {
			created, token = append(created, *a.Row), append(token, a.Row.Key)
		}
	}
	said := journal.Token(token...)
	if p.State.Tokens[said] != 0 {
		return nil
	}
	err = thread.SayOnce(ctx, p.Thread, said, journal.Body{Text: roadmap.ClosedText(v.file, created)})
	if err == nil && thread.Changed(p.Report.Effects) {
		p.Report.Result, p.Report.Reason = model.ResultDone, ""
	}
	return err
}
