package turns

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Track posts the marker that makes the pull request tracked, with the baseline of the history guard. issue and flow say where it
// comes from. With 0, what was read with the pull request decides.
func Track(ctx context.Context, p *thread.Thread, issue int, flow string) error {
	if p.State.Tracked != nil || len(p.State.Turns) > 0 {
		return nil
	}
	pull := p.Snap.Pull
	m := model.PRMarker{
		Repo: p.Event.Repo.String(), Number: pull.Number, Branch: pull.HeadRef, Agent: p.Settings.Agent.Adapter,
		Base: pull.BaseRef, Head: pull.HeadSHA,
	}
	if pull.Issue != nil {
		m.Issue = pull.Issue.Number
	}
	if issue != 0 {
		m.Issue, m.Flow = issue, flow
	}
	token := trackToken(p.Event)
	_, err := p.Comment(ctx, token, journal.Body{Text: turn.TrackText(p.Settings.Labels.Ignore), Kind: journal.KindPR, Marker: m}, nil)
	if err == nil {
		p.State.Accepted = pull.HeadSHA
	}
	return err
}
