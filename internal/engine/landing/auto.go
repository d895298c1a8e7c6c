package landing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// asking is a request to merge that nobody has given a command for.
type asking struct {
	key, by string
	at      time.Time
	heading string
}

// askByItself asks for the merge where the settings let a label or an approval do so, once for each label and head.
func askByItself(ctx context.Context, p *Request) error {
	pull, mode := p.Snap.Pull, p.Settings.Merge.Auto
	if mode == config.AutoNever || pull.State != model.PullOpen || pull.CrossRepo || pull.Draft || p.State.Block != nil {
		return nil
	}
	if newest := p.State.Merge(); newest != nil && (newest.Marker.Open() || newest.Marker.Head == pull.HeadSHA && mode == config.AutoApproval) {
		return nil
	}
	if mode == config.AutoLabel {
		return askByLabel(ctx, p)
	}
	return askByApproval(ctx, p)
}

// askByLabel asks in the name of the operator who has put the label on.
func askByLabel(ctx context.Context, p *Request) error {
	change, key, asks := thread.AskedByLabel(p.Thread)
	if !asks {
		return nil
	}
	login := strings.ToLower(change.By.Login)
	if err := p.Ask(ctx, []string{login}); err != nil {
		return err
	}
	if p.Operators.Role(login, p.Memory.Rights[login]) != command.Operator {
		p.Log.Info("label_by_no_operator", "pr_number", p.Event.Number, "login", login)
		return nil
	}
	ask := asking{key: key, by: change.By.Login, at: change.At, heading: fmt.Sprintf("**Merge** requested by the label `%s`, which %s added", markdown.Code(change.Label), markdown.Plain(change.By.Login))}
	m := ask.marker(p)
	v, err := p.Ready(ctx, m)
	if err != nil {
		return err
	}
	return ask.post(ctx, p, m, v)
}

// askByApproval asks once all conditions hold, in the name of who approved last.
func askByApproval(ctx context.Context, p *Request) error {
	key := journal.Token("auto", "approval", p.Snap.Pull.HeadSHA)
	m := asking{key: key, at: p.ServerNow()}.marker(p)
	v, err := p.Ready(ctx, m)
	if err != nil || !v.Go {
		return err
	}
	for _, r := range p.MergeFacts.Reviews {
		if r.State == "APPROVED" && (m.By == "" || r.At.After(m.At)) {
			m.By, m.At = r.Login, r.At
		}
	}
	return asking{key: key, heading: "**Merge** requested by the approval of " + markdown.Plain(m.By)}.post(ctx, p, m, v)
}

func (a asking) marker(p *Request) model.MergeMarker {
	pull := p.Snap.Pull
	return model.MergeMarker{Repo: p.Event.Repo.String(), Number: p.Event.Number, Head: pull.HeadSHA, Base: pull.BaseRef, By: a.by, Command: a.key, At: a.at}
}

// ask posts the request, or why it cannot be.
func (a asking) post(ctx context.Context, p *Request, m model.MergeMarker, v merge.Verdict) error {
	body := journal.Body{Kind: journal.KindMerge}
	if v.Go || v.Wait {
		var text string
		m, text = p.Opening(m, v)
		body.Text, body.Marker = a.heading+"\n\n"+text, m
	} else {
		m.State, m.Reason, m.Detail = model.MergeFailed, v.Code, thread.Clip(v.Reason)
		body.Text, body.Marker = a.heading+"\n\n"+merge.RefuseText(p.Snap.Pull, v), m
	}
	if _, err := p.Comment(ctx, thread.CommandToken(a.key), body, effect.Mark{}); err != nil {
		return err
	}
	return p.Read(ctx)
}
