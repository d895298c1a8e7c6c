package journal

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// open decodes a marker and holds it to the repository and number that it names.
func (c Codec) open(kind, text string, scope Scope) (any, error) {
	var v any
	switch kind {
	case KindPR:
		v = &model.PRMarker{}
	case KindTurn:
		v = &model.TurnMarker{}
	case KindBlock:
		v = &model.BlockMarker{}
	case KindUnblock:
		v = &model.UnblockMarker{}
	case KindCommand:
		v = &model.CommandMarker{}
	case KindIssue:
		v = &model.IssueMarker{}
	case KindMerge:
		v = &model.MergeMarker{}
	default:
		return nil, fmt.Errorf("mergexo-%s marker: unknown kind", kind)
	}
	if err := c.decodeMarker(kind, text, v); err != nil {
		return nil, err
	}
	repo, number := "", 0
	switch m := v.(type) {
	case *model.PRMarker:
		repo, number = m.Repo, m.Number
	case *model.TurnMarker:
		repo, number = m.Repo, m.Number
		if err := checkTurn(kind, m); err != nil {
			return nil, err
		}
	case *model.IssueMarker:
		repo, number = m.Repo, m.Number
		m.TurnMarker.Phase = m.Status
		if err := checkTurn(kind, &m.TurnMarker); err != nil {
			return nil, err
		}
	case *model.BlockMarker:
		repo, number = m.Repo, m.Number
	case *model.UnblockMarker:
		repo, number = m.Repo, m.Number
	case *model.CommandMarker:
		repo, number = m.Repo, m.Number
	case *model.MergeMarker:
		repo, number = m.Repo, m.Number
		if err := checkMerge(m); err != nil {
			return nil, err
		}
	}
	if !strings.EqualFold(repo, scope.Repo.String()) || number != scope.Number {
		return nil, fmt.Errorf("mergexo-%s marker: it is about %s#%d", kind, repo, number)
	}
	return v, nil
}

func checkTurn(kind string, m *model.TurnMarker) error {
	switch m.Phase {
	case model.PhaseStarted, model.PhasePlanned, model.PhaseDone, model.PhaseFailed:
	case model.PhaseWaiting:
		if kind == KindTurn {
			return fmt.Errorf("mergexo-turn marker: phase %q is an issue's", m.Phase)
		}
	default:
		return fmt.Errorf("mergexo-%s marker: phase %q is unknown", kind, m.Phase)
	}
	if err := unpackOutbox(kind, m); err != nil {
		return err
	}
	if m.Phase == model.PhasePlanned && m.Outbox == nil {
		return fmt.Errorf("mergexo-%s marker: phase planned without an outbox", kind)
	}
	return nil
}

func checkMerge(m *model.MergeMarker) error {
	switch m.State {
	case model.MergeWaiting, model.MergeRunning, model.MergeFailed:
	case model.MergeDone:
		if m.Landed == "" {
			return fmt.Errorf("mergexo-merge marker: state done without a landed commit")
		}
	default:
		return fmt.Errorf("mergexo-merge marker: state %q is unknown", m.State)
	}
	if m.Head == "" || m.Base == "" {
		return fmt.Errorf("mergexo-merge marker: it names no head or no base")
	}
	return nil
}
