package landing

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

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
	a, asks := asksByItself(p.Thread)
	pull, byApproval := p.Snap.Pull, p.Settings.Merge.Auto == config.AutoApproval
	if !asks {
		return nil
	}
	p.Due(model.DueMerge, a.At)
	if p.Survey != nil && byApproval { // else each sweep would ask GitHub again
		if enough, err := approved(ctx, p, a.At); !enough {
			return err
		}
	}
	m := model.MergeMarker{Repo: p.Event.Repo.String(), Number: p.Event.Number, Head: pull.HeadSHA, Base: pull.BaseRef, By: a.By, Command: a.Key, ByApproval: byApproval}
	if !byApproval {
		if may, err := thread.MayAsk(ctx, p.Thread, a); !may {
			return err
		}
		m.Label, m.At = p.Settings.Merge.AutoLabel, a.At
	}
	v, err := Ready(ctx, p, m)
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
		m, text = Opening(p, m, v)
	} else {
		m.State, m.Reason, m.Detail = model.MergeFailed, v.Code, thread.Clip(v.Reason)
	}
	body := journal.Body{Text: a.Heading + "\n\n" + text, Kind: journal.KindMerge, Marker: m}
	if _, err := p.Comment(ctx, thread.CommandToken(a.Key), body, nil); err != nil {
		return err
	}
	return p.Read(ctx)
}

// approved reports whether as many people approve as the settings want, and one of them since a time. Only those count who may write.
func approved(ctx context.Context, p *Request, since time.Time) (bool, error) {
	newest := map[string]time.Time{} // of each, by lower-case login
	for _, r := range p.Snap.Pull.Approvals {
		newest[strings.ToLower(r.Login)] = r.At
	}
	if err := p.Ask(ctx, slices.Collect(maps.Keys(newest))); err != nil {
		return false, err
	}
	count, fresh := 0, false
	for login, at := range newest {
		if p.Memory.Rights[login] >= model.PermissionWrite {
			count, fresh = count+1, fresh || at.After(since)
		}
	}
	return fresh && count >= p.Settings.Merge.Approvals, nil
}

// asksByItself is what the settings have ask for the merge, by what was read: a label once each time that it is put on, and an approval
// once for each head, and again where somebody has approved it after At, when that request ended. A try is no request, but it comes to
// its end first.
func asksByItself(t *thread.Thread) (a thread.Asking, asks bool) {
	pull := t.Snap.Pull
	open := slices.ContainsFunc(t.State.Merges, func(said model.Posted[model.MergeMarker]) bool { return said.Marker.Open() })
	switch mode := t.Settings.Merge.Auto; {
	case open, pull.State != model.PullOpen, pull.CrossRepo, pull.Draft, t.State.Block != nil:
	case mode == config.AutoLabel:
		a, on := thread.LabelAsks(t, t.Settings.Merge.AutoLabel, "auto", "Merge")
		return a, on && !slices.ContainsFunc(t.State.Merges, func(said model.Posted[model.MergeMarker]) bool { return said.Marker.Command == a.Key })
	case mode == config.AutoApproval:
		var ended model.Posted[model.MergeMarker]
		for _, said := range t.State.Merges {
			if m := said.Marker; slices.Contains(append(m.Tips(), m.Head), pull.HeadSHA) && !m.Tries() {
				ended = said
			}
		}
		a.Key, a.At = journal.Token("auto", "approval", pull.HeadSHA, ended.Marker.Command), ended.UpdatedAt
		since := func(r model.Review) bool { return r.At.After(a.At) }
		return a, ended.CommentID == 0 || slices.ContainsFunc(pull.Approvals, since)
	}
	return a, false
}
