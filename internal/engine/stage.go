package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// stageRef is the hidden ref that holds a turn's commits before the branch does.
func stageRef(number int, key string) string {
	return fmt.Sprintf("refs/mergexo/turn/%d/%s", number, key)
}

// stagedAt is the ref that holds the planned commits of a turn.
func stagedAt(number int, m model.TurnMarker) string { return cmp.Or(m.Stage, stageRef(number, m.Key)) }

// stage brings the planned commits to safety: to the hidden ref of the turn, else to a checkpoint's branch, which the
// marker then names. The next run finds them at either and needs no agent.
func (p *pass) stage(ctx context.Context, m *model.TurnMarker) error {
	earlier := m.Stage
	err := error(nil)
	if earlier == "" {
		if err = p.stageHidden(ctx, stageRef(p.event.Number, m.Key), m); err == nil {
			return nil
		}
		p.Log.Warn("stage_refused", p.numberKey(), p.event.Number, "turn_key", m.Key, "error", err)
	}
	said := len(p.notes)
	k := p.keepAside(ctx, m.Planned)
	p.notes = p.notes[:said]
	if k.Branch == "" {
		return cmp.Or(err, fmt.Errorf("branch %s was refused", checkpointBranch(p.event.Number, m.Planned)))
	}
	m.Stage, m.Transcript = "refs/heads/"+k.Branch, ""
	if earlier != "" && earlier != m.Stage { // until the new one is recorded, the old one is what is
		p.inherited = append(p.inherited, git.Ref{Name: earlier})
	}
	return nil
}

// stageHidden pushes the planned commits to the stage, and the sealed transcript along with them. Both refs are ours alone,
// so a push whose answer is lost does no harm when it is made again.
func (p *pass) stageHidden(ctx context.Context, ref string, m *model.TurnMarker) error {
	var more []git.Hidden
	if p.sealed != nil {
		more = append(more, git.Hidden{Ref: sessionRef(p.event.Number, m.Key), Content: p.sealed})
	}
	push := func() error {
		if m.Planned == turn.Base(*m) { // nothing but talk
			if len(more) == 0 {
				return nil
			}
			if err := p.checkout.Keep(ctx, more[0]); err != nil {
				return &git.ErrNotKept{Err: err}
			}
			return nil
		}
		return p.checkout.StageWith(ctx, ref, m.Planned, more...)
	}
	err := push()
	if unanswered(err) {
		err = push()
	}
	if kept := (*git.ErrNotKept)(nil); errors.As(err, &kept) {
		p.Log.Warn("transcript_not_kept", p.numberKey(), p.event.Number, "turn_key", p.marker.Key, "error", err)
		m.Transcript = ""
		return nil
	}
	return err
}

// unanswered says that git's server could not be asked, or did not say what became of a push.
func unanswered(err error) bool {
	unclear, failed := (*git.ErrUnclear)(nil), (*git.Error)(nil)
	return errors.As(err, &unclear) && !denied(err) || errors.As(err, &failed) && failed.Failure == git.Unreachable
}

// denied says that git's server did not take the token for this.
func denied(err error) bool {
	failed := (*git.Error)(nil)
	return errors.As(err, &failed) && failed.Failure == git.Denied
}

// publication is the move of a branch to the planned commits, which deletes what held them until then.
func (p *pass) publication(branch, start string) git.Publish {
	move := git.Publish{Branch: branch, Start: start, SHA: p.marker.Planned, Stage: stageRef(p.event.Number, p.marker.Key), Drop: p.droppable()}
	if at := p.marker.Stage; at != "" {
		move.Stage, move.Drop = "", append(move.Drop, git.Ref{Name: at, SHA: p.marker.Planned}) // what somebody else added there stays
	}
	return move
}
