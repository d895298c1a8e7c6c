package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// stageRef is the private ref that holds a turn's commits before the branch does.
func stageRef(number int, key string) string {
	return fmt.Sprintf("refs/mergexo/turn/%d/%s", number, key)
}

// StagedAt returns the ref that holds the planned commits of a turn.
func StagedAt(number int, m model.TurnMarker) string { return cmp.Or(m.Stage, stageRef(number, m.Key)) }

// stage brings the planned commits to safety: to the private ref of the turn, else to a checkpoint's branch, which the
// marker then names. The next run finds them at either and needs no agent.
func stage(ctx context.Context, p *Attempt, m *model.TurnMarker) error {
	earlier, ref := m.Stage, stageRef(p.Event.Number, m.Key)
	err := error(nil)
	if earlier == "" {
		if err = stageHidden(ctx, p, ref, m); err == nil { // it may be left over from what the branch has
			if m.Planned != turn.Base(*m) {
				p.Inherited = without(p.Inherited, ref)
			}
			return nil
		}
		p.Log.Warn("stage_refused", p.NumberKey(), p.Event.Number, "turn_key", m.Key, "error", err)
	}
	said := len(p.Notes)
	k := work.KeepAside(ctx, p.Work, m.Planned)
	p.Notes = p.Notes[:said]
	if k.Branch == "" || k.Bundled() {
		return cmp.Or(err, fmt.Errorf("branch %s was refused", work.CheckpointBranch(p.Event.Number, m.Planned)))
	}
	m.Stage, m.Transcript = k.Ref(), ""
	if earlier != "" && earlier != m.Stage { // until the new one is recorded, the old one is what is
		p.Inherited = append(without(p.Inherited, earlier), git.Ref{Name: earlier})
	}
	return nil
}

// without leaves a ref out: git takes each only once in a push.
func without(refs []git.Ref, name string) []git.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r git.Ref) bool { return r.Name == name })
}

// stageHidden pushes the planned commits to the stage, and the sealed transcript along with them. Both refs are ours alone,
// so a push whose answer is lost does no harm when it is made again.
func stageHidden(ctx context.Context, p *Attempt, ref string, m *model.TurnMarker) error {
	var more []transport.PrivateRef
	if p.Sealed != nil {
		more = append(more, transport.PrivateRef{Ref: sessionRef(p.Event.Number, m.Key), Content: p.Sealed})
	}
	sha := m.Planned
	if sha == turn.Base(*m) { // nothing but talk
		if sha = ""; len(more) == 0 {
			return nil
		}
	}
	staged := effect.Stage(ref, sha, more...)
	_, err := p.Apply(ctx, staged)
	if work.Unanswered(err) {
		_, err = p.Apply(ctx, staged)
	}
	if kept := (*transport.ErrNotKept)(nil); errors.As(err, &kept) {
		p.Log.Warn("transcript_not_kept", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
		m.Transcript = ""
		return nil
	}
	return err
}
