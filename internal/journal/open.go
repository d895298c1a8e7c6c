package journal

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// empty makes an empty marker of a kind; nil for an unknown kind.
func empty(kind string) any {
	switch kind {
	case KindPR:
		return &model.PRMarker{}
	case KindTurn:
		return &model.TurnMarker{}
	case KindBlock:
		return &model.BlockMarker{}
	case KindUnblock:
		return &model.UnblockMarker{}
	case KindCommand:
		return &model.CommandMarker{}
	case KindIssue:
		return &model.IssueMarker{}
	case KindMerge:
		return &model.MergeMarker{}
	case KindExternal:
		return &model.ExternalMarker{}
	case KindConflicts:
		return &model.ConflictMarker{}
	case KindSettings:
		return &model.SettingsMarker{}
	case KindReview:
		return &model.ReviewMarker{}
	case KindAnswer:
		return &model.AnswerMarker{}
	case KindRoadmap:
		return &model.RoadmapMarker{}
	}
	return nil
}

// open decodes and validates a marker, including its repository and number.
func (c Codec) open(kind, text string, scope Scope) (any, error) {
	v := empty(kind)
	if v == nil {
		return nil, fmt.Errorf("mergexo-%s marker: unknown kind", kind)
	}
	if err := c.decodeMarker(kind, text, v); err != nil {
		return nil, err
	}
	repo, number, err := "", 0, error(nil)
	switch m := v.(type) {
	case *model.PRMarker:
		repo, number = m.Repo, m.Number
	case *model.TurnMarker:
		repo, number, err = m.Repo, m.Number, checkTurn(kind, m)
	case *model.IssueMarker:
		m.TurnMarker.Phase = m.Status
		repo, number, err = m.Repo, m.Number, checkTurn(kind, &m.TurnMarker)
	case *model.BlockMarker:
		repo, number = m.Repo, m.Number
	case *model.UnblockMarker:
		repo, number = m.Repo, m.Number
	case *model.CommandMarker:
		repo, number = m.Repo, m.Number
	case *model.MergeMarker:
		repo, number, err = m.Repo, m.Number, checkMerge(m)
	case *model.ExternalMarker:
		repo, number, err = m.Repo, m.Number, checkExternal(m)
	case *model.ConflictMarker:
		repo, number, err = m.Repo, m.Number, checkConflicts(m)
	case *model.SettingsMarker:
		repo, number = m.Repo, m.Number
	case *model.ReviewMarker:
		repo, number, err = m.Repo, m.Number, checkReview(m)
	case *model.AnswerMarker:
		repo, number, err = m.Repo, m.Number, checkAnswer(m)
	case *model.RoadmapMarker:
		repo, number, err = m.Repo, m.Number, checkRoadmap(m)
	}
	if err != nil {
		return nil, err
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
	if (m.Mirror != "" || m.MirrorSHA != "") && (m.Mirror == "" || !isSHA(m.MirrorSHA)) {
		return fmt.Errorf("mergexo-merge marker: mirror %q with mirror_sha %q, which has to be a commit's", m.Mirror, m.MirrorSHA)
	}
	return nil
}

func checkReview(m *model.ReviewMarker) error {
	switch m.State {
	case model.ReviewRunning, model.ReviewDone, model.ReviewFailed:
	default:
		return fmt.Errorf("mergexo-review marker: state %q is unknown", m.State)
	}
	if !isSHA(m.Head) || m.Command == "" {
		return fmt.Errorf("mergexo-review marker: it names no head or nothing that asked for it")
	}
	return nil
}

// isSHA reports whether s is a full object ID, SHA-1 or SHA-256.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
