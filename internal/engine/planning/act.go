package planning

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// GitHub's limits on what creates content are about 80 a minute and 500 an hour, which others use, too:
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	perMinute = 60
	perHour   = 400
)

// act does what is to be done, in its order. Nothing here has to be remembered: what was done is found again on GitHub.
func (p *Issue) act(ctx context.Context, v *view) error {
	for _, a := range v.step.Acts {
		writes := 1
		switch {
		case a.Kind == roadmap.Finish, a.Kind == roadmap.Link && p.noSubs:
			continue
		case a.Kind == roadmap.Drop:
			writes = 2 // a comment, and the end of the issue
		}
		if err := pace(ctx, p, writes); err != nil {
			return err
		}
		if p.stopped {
			v.undo()
			return nil
		}
		if err := p.do(ctx, v, a); err != nil {
			return err
		}
	}
	return nil
}

// undo takes back what the step has assumed to be done and is not: it is left for the next run, or for a file that holds.
func (v *view) undo() {
	for i := range v.step.Rows {
		if r := &v.step.Rows[i]; r.State == model.ItemRunning && !r.Fact.Labelled {
			r.State = model.ItemQueued
		}
	}
}

// pace waits until the last minute has room for some more writes, and stops for this run where an hour has had its share.
func pace(ctx context.Context, p *Issue, more int) error {
	if len(p.writes)+more > perHour {
		p.stopped = true
		return nil
	}
	for range more {
		if n := len(p.writes); n >= perMinute {
			if rest := time.Minute - p.Now().Sub(p.writes[n-perMinute]); rest > 0 {
				if err := p.GitHub.Pause(ctx, rest); err != nil {
					return err
				}
			}
		}
		p.writes = append(p.writes, p.Now())
	}
	return nil
}

func (p *Issue) do(ctx context.Context, v *view, a roadmap.Act) error {
	switch r := a.Row; a.Kind {
	case roadmap.Create:
		return p.create(ctx, v, r)
	case roadmap.Link:
		return link(ctx, p, v, r)
	case roadmap.Drop:
		return p.drop(ctx, v, r)
	case roadmap.Label:
		if _, err := p.Apply(ctx, effect.AddLabel(r.Fact.Issue, labelOf(p, r.Flow), token(p, "label", r.Key))); err != nil {
			return err
		}
		r.Fact.Labelled = true
		p.summons = append(p.summons, r.Fact.Issue)
	case roadmap.Ask:
		return thread.SayOnce(ctx, p.Thread, asks(p, r.Fact), journal.Body{Text: roadmap.Question(v.step, *r)})
	}
	return nil
}

// create opens the issue of an item, under the lock, as long as that holds.
func (p *Issue) create(ctx context.Context, v *view, r *roadmap.Row) error {
	if p.lock != nil && !p.ServerNow().Before(p.lock.Until) {
		return thread.End(model.ResultRetry, "the lock of the roadmap of issue %d expired; the next run continues", p.Event.Number)
	}
	m := model.ItemMarker{Repo: p.Event.Repo.String(), Number: p.Event.Number, Key: r.Key}
	body, err := p.Codec.ItemBody(roadmap.Body(v.plan, r.Item, v.file), m, p.Event.Repo)
	if err != nil {
		return err
	}
	made, err := p.Apply(ctx, effect.OpenItem(p.Event.Number, journal.ItemToken(p.Event.Repo, p.Event.Number, r.Key), r.Title, body, since(p)))
	if err != nil {
		return err
	}
	r.Fact.Issue, r.Fact.Title = made.Number, r.Title
	v.ids[made.Number] = made.ID
	return nil
}

// link makes the issue of an item a sub-issue. Where the server has none, or the issue has as many as it may, the list in the comment
// has to do.
func link(ctx context.Context, p *Issue, v *view, r *roadmap.Row) error {
	_, err := p.Apply(ctx, effect.LinkSub(p.Event.Number, r.Fact.Issue, v.ids[r.Fact.Issue], token(p, "link", r.Key)))
	switch github.KindOf(err) {
	case "":
		if err == nil {
			r.Fact.Linked = true
			state, reason := "OPEN", ""
			if r.Fact.Closed {
				state, reason = "CLOSED", "NOT_PLANNED"
			}
			if r.Fact.Completed {
				reason = "COMPLETED"
			}
			v.subs = append(v.subs, roadmap.Sub{Number: r.Fact.Issue, State: state, Reason: reason})
		}
	case github.NotFound:
		p.noSubs = true
		p.Log.Warn("no_sub_issues", "issue_number", p.Event.Number, "error", err)
		return nil
	case github.Invalid:
		p.Log.Warn("sub_issue_not_added", "issue_number", p.Event.Number, "sub_issue", r.Fact.Issue, "error", err)
		return nil
	}
	return err
}

// drop closes the issue of an item that the plan no longer has, with a word on why.
func (p *Issue) drop(ctx context.Context, v *view, r *roadmap.Row) error {
	other, err := item(ctx, p, r.Fact.Issue)
	if err != nil {
		return err
	}
	token := token(p, "drop", r.Key)
	if v.lost && other.State.Tokens[token] != 0 { // it may be open because somebody wants it
		r.Fact.Kept = true
		return nil
	}
	if err := thread.SayOnce(ctx, other, token, journal.Body{Text: roadmap.DropText(v.plan, v.file)}); err != nil {
		return err
	}
	if _, err := p.Apply(ctx, effect.CloseIssue(r.Fact.Issue, false, token)); err != nil {
		return err
	}
	r.Fact.Closed, r.State = true, model.ItemFailed
	if i := slices.IndexFunc(v.subs, func(s roadmap.Sub) bool { return s.Number == r.Fact.Issue }); i >= 0 { // for looked
		v.subs[i].State, v.subs[i].Reason = "CLOSED", "NOT_PLANNED"
	}
	return nil
}
