package landing

import (
	"context"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// askByItself asks for the merge where the settings let a label or an approval do so: in the name of the operator who has put the
// label on, or, once all conditions hold, in that of who approved last.
func askByItself(ctx context.Context, p *Request) error {
	a, asks := thread.AsksByItself(p.Thread)
	if !asks {
		return nil
	}
	pull, byApproval := p.Snap.Pull, p.Settings.Merge.Auto == config.AutoApproval
	m := model.MergeMarker{Repo: p.Event.Repo.String(), Number: p.Event.Number, Head: pull.HeadSHA, Base: pull.BaseRef, By: a.By, Command: a.Key, ByApproval: byApproval}
	if !byApproval {
		if may, err := thread.MayAsk(ctx, p.Thread, a); !may {
			return err
		}
		m.Label, m.At = p.Settings.Merge.AutoLabel, a.At
	}
	v, err := p.Ready(ctx, m)
	if err != nil || byApproval && !v.Go {
		return err
	}
	if byApproval {
		m.At = a.At
		for _, r := range v.Counted {
			if r.At.After(m.At) {
				m.By, m.At = r.Login, r.At
			}
		}
		if m.By == "" { // no approval since counts
			return nil
		}
		a.Heading = "**Merge** requested by the approval of " + markdown.Plain(m.By)
	}
	text := merge.RefuseText(pull, v)
	if v.Go || v.Wait {
		m, text = p.Opening(m, v)
	} else {
		m.State, m.Reason, m.Detail = model.MergeFailed, v.Code, thread.Clip(v.Reason)
	}
	body := journal.Body{Text: a.Heading + "\n\n" + text, Kind: journal.KindMerge, Marker: m}
	if _, err := p.Comment(ctx, thread.CommandToken(a.Key), body, nil); err != nil {
		return err
	}
	return p.Read(ctx)
}
