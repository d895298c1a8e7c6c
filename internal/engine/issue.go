package engine

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
)

// issueTopics are the topics of an issue.
type issueTopics struct{ *topics }

// takeTurn takes the work on the issue as far as one attempt goes. The items of a roadmap begin one after the other where they have
// no runs of their own: how one of them ended keeps no other from its turn.
func (p issueTopics) takeTurn(ctx context.Context) (again bool, err error) {
	ended := p.task.ended()
	if ended != nil && (p.State.Roadmap == nil || thread.Outlives(ended)) {
		return false, ended
	}
	again, err = p.issue.Continue(ctx)
	next := (*thread.FollowUp)(nil)
	if ended != nil && !errors.As(err, &next) {
		return false, errors.Join(ended, unlessOver(err))
	}
	i, s := p.Snap.Issue(), (*thread.Stop)(nil)
	changed := p.Event.Name == "issues" && (p.Event.Action == "closed" || p.Event.Action == "reopened")
	if changed && i.Item != "" && p.Phase.Writes() && errors.As(err, &s) && s.Result == model.ResultNothing {
		return false, p.instead(i.Roadmap)
	}
	return again, err
}

// unlessOver is an error, but for the word that there is nothing to be done.
func unlessOver(err error) error {
	if s := (*thread.Stop)(nil); errors.As(err, &s) && s.Result == model.ResultNothing {
		return nil
	}
	return err
}

func (p issueTopics) tellWaiting() {
	if n := len(p.State.Flows); n > 0 && p.State.Flows[n-1].Marker.Status == model.PhaseWaiting {
		p.Report.Need = needs.OfIssue(p.Snap.Issue().Title, p.State.Flows[n-1])
	}
}

func (p issueTopics) explain(context.Context) (Explanation, error) {
	row, step := sweeping.OfIssue(p.Thread)
	return Explanation{Issue: &row, Step: step}, nil
}
