package turns

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Nothing is withheld for a slip of the agent: what is good of an answer is posted with a note, and where nothing is, the agent is
// asked once more.

// tidied is an answer without what would end the attempt though it says nothing.
func tidied(d *dialogue, out model.Outcome) model.Outcome {
	out.CommitMessage, out.BlockedReason = strings.TrimSpace(out.CommitMessage), strings.TrimSpace(out.BlockedReason)
	if n := len(out.Session); n > turn.MaxSession {
		work.Note(d.Work, fmt.Sprintf("the agent's session handle has %d bytes, but a receipt holds %d; the next turn starts a new session", n, turn.MaxSession))
		out.Session = ""
	}
	return out
}

// sift leaves of the answers what can be posted, and notes what was wrong with the rest.
func sift(p *Attempt, out model.Outcome, head string) model.Outcome {
	if p.Issue != nil {
		return out
	}
	good, slips := turn.Good(out, p.Feedback, head != work.Base(p.Work))
	p.Notes = append(p.Notes, slips...)
	return good
}

// tooLong asks once for shorter answers where those of all rounds do not fit into the turn's record, without which nothing is
// pushed.
func (d *dialogue) tooLong(ctx context.Context, head string) (again bool, err error) {
	if d.Issue != nil {
		return false, nil
	}
	commits, err := history.List(ctx, d.Checkout, work.Base(d.Work), head)
	if err != nil {
		return false, err
	}
	d.commits = commits
	m, o := d.Marker, turn.Outbox(d.all, d.Feedback, 0, commits, d.Notes)
	m.Phase, m.Planned, m.Outbox = model.PhasePlanned, head, &o
	if _, err := encode(d.Attempt, m); err == nil {
		return false, nil
	}
	d.Log.Info("answers_too_long", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "replies", len(d.all.ReviewReplies))
	return onceMore(d, "answers", turn.Shorter(d.all), nil)
}

// unusable asks once more where nothing of an answer can be posted, though it meant to say or to do something.
func unusable(d *dialogue, head string) (again bool, err error) {
	good, slips := turn.Good(d.all, d.Feedback, head != work.Base(d.Work))
	if !d.slipped { // what is in there for want of a better place may find one
		good.GeneralComment = d.all.GeneralComment
	}
	if d.Issue != nil || head != work.Base(d.Work) || !turn.Silent(good) || len(slips) == 0 && !d.slipped {
		return false, nil
	}
	d.all.ReviewReplies, d.all.FlakyTestReport = nil, nil
	why := cmp.Or(strings.Join(slips, "; "), "it was empty")
	return onceMore(d, "answer", fmt.Sprintf(turn.Unusable, why), work.Failing(fmt.Errorf("nothing of the agent's answer could be posted: %s", why)))
}

// onceMore asks for another round because of a slip. It does so once in an attempt, and then gives the end.
func onceMore(d *dialogue, name, said string, end error) (again bool, err error) {
	if d.slipped {
		return false, end
	}
	d.slipped = true
	d.ask.Kind, d.ask.CI = model.AskRepair, []model.CIFailure{{Name: name, Log: said}}
	return true, nil
}
