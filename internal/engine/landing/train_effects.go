package landing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// record writes the manifest where it is not what is recorded; false: another run was faster.
func (l *line) record(ctx context.Context, m train.Manifest) (fresh bool, err error) {
	raw, err := m.Encode()
	if err != nil || bytes.Equal(raw, l.stored) || l.at == "" && len(m.Queue)+len(m.Cars) == 0 {
		return err == nil, err
	}
	if err := l.home.Open(ctx); err != nil {
		return false, err
	}
	m.Writer, m.Count = l.home.Random(), l.count+1
	if raw, err = train.Stored(m); err != nil {
		return false, fmt.Errorf("the merge train of %s would have a record that nobody can read, so that nothing was written: %w", l.Base, err)
	}
	raw = l.home.Codec.Seal(journal.KindTrain, l.Repo, raw)
	ref := transport.TrainRef(l.Base)
	done, err := l.home.Apply(ctx, effect.Swap(ref, l.at, raw))
	if git.Unsure(err) {
		return false, nil // which the next look tells
	}
	if err != nil {
		return false, err
	}
	l.at, l.count, l.Seen = done.SHA, m.Count, m.Count
	m.Writer, m.Count = "", 0
	l.stored, err = m.Encode()
	return true, err
}

// build makes the commits of a car, member by member.
func (l *line) build(ctx context.Context, b train.Build) error {
	on := b.Onto
	if has, err := l.has(ctx, on); !has {
		return err
	}
	var members []train.Member
	for _, r := range b.Members {
		a, err := l.open(ctx, r.Number)
		if err != nil {
			return err
		}
		if a == nil || a.g.marker.Command != r.Token {
			l.ended(r)
			return nil
		}
		tip, err := a.build(ctx, l.home, on)
		failure := (*Failure)(nil)
		switch {
		case errors.As(err, &failure):
			l.refuse(b, r, on, failure)
			return nil
		case err != nil:
			return err
		}
		if a.byGitHub() != r.ByGitHub { // the settings are others by now
			l.learn(train.Merges{Number: r.Number, ByGitHub: a.byGitHub()})
		}
		m := a.built()
		m.Number, m.Head, m.Tip = r.Number, r.Head, tip
		members, on = append(members, m), tip
	}
	why, err := unheard(ctx, l, on)
	if err != nil {
		return err
	}
	if why != "" {
		return l.deafened(ctx, b, members, why)
	}
	if why, err = silenced(ctx, l, on); err != nil {
		return err
	}
	if why != "" {
		l.learn(train.Unfit{Car: b.Car, Numbers: []int{members[len(members)-1].Number}, Code: model.CodeChecksFailed, Why: why})
		return nil
	}
	l.learn(train.Built{Car: b.Car, On: b.Onto, Members: members})
	return nil
}

// deafened says which member takes the branches of the train out of CI; where none does, no car can be tested, and why.
func (l *line) deafened(ctx context.Context, b train.Build, members []train.Member, why string) error {
	before, err := unheard(ctx, l, b.Onto)
	if err != nil {
		return err
	}
	if before != "" {
		l.facts.Trouble = why // which the record keeps for who only looks
		return nil
	}
	for _, m := range members {
		of, err := unheard(ctx, l, m.Tip)
		if err != nil {
			return err
		}
		if of != "" {
			l.learn(train.Unfit{Car: b.Car, Numbers: []int{m.Number}, Code: model.CodeChecksFailed, Why: "with this change " + of})
			return nil
		}
	}
	return nil
}

// has gets a commit into the checkout; false: it is nowhere, as the train learns of the car that had it, or there is an error.
func (l *line) has(ctx context.Context, tip string) (bool, error) {
	if err := l.home.Open(ctx); err != nil {
		return false, err
	}
	err := history.FetchCommits(ctx, l.home.Checkout, tip)
	if !git.IsNoRef(err) {
		return err == nil, err
	}
	for _, c := range l.now.Cars {
		if c.Tip == tip {
			l.learn(train.Stale{Car: c.Number, Tip: tip, Why: train.WhyLost})
		}
	}
	return false, nil
}

// refuse says why a member cannot be built.
func (l *line) refuse(b train.Build, r train.Request, on string, f *Failure) {
	if paths := f.Paths(); len(paths) > 0 {
		l.learn(train.Conflict{Car: b.Car, Number: r.Number, On: b.Onto, Paths: paths})
		return
	}
	l.learn(train.Unfit{Car: b.Car, Numbers: []int{r.Number}, Code: f.Code, Why: f.Detail})
}

// ended notes that the request of a pull request is over.
func (l *line) ended(r train.Request) {
	s := l.facts.Requests[r.Number]
	s.State, s.Ended = cmp.Or(s.State, model.PullOpen), r.Token
	l.facts.Requests[r.Number] = s
}

// carryOut carries one effect out, and learns the result.
func (l *line) carryOut(ctx context.Context, e train.Effect) error {
	switch e := e.(type) {
	case train.Push:
		return l.push(ctx, e)
	case train.DeleteBranch:
		return l.drop(ctx, e)
	case train.Rerun:
		return l.rerun(ctx, e)
	case train.Land:
		return l.land(ctx, e)
	case train.Finish:
		return l.finish(ctx, e.Request)
	case train.Tell:
		return l.tell(ctx, e)
	case train.TellLoss:
		return tellLoss(ctx, l, e)
	}
	return fmt.Errorf("the train planned %T, which is not implemented", e)
}

// push sets a train branch to the tip of its car.
func (l *line) push(ctx context.Context, e train.Push) error {
	if has, err := l.has(ctx, e.Tip); !has {
		return err
	}
	as := model.Effect{Kind: "push", Target: e.Branch, Token: journal.Token("train", e.Branch, e.Tip)}
	_, err := thread.Move(ctx, l.home, effect.Move{Update: transport.Update{Branch: e.Branch, Start: e.From, SHA: e.Tip}, By: effect.Car, As: as})
	rejected := (*git.ErrRejected)(nil)
	switch {
	case err == nil:
		l.learn(train.Pushed{Car: e.Car, Tip: e.Tip})
	case git.Unsure(err): // it is elsewhere, as the next look tells
	case errors.As(err, &rejected):
		return branchRefused(ctx, l, e, rejected)
	default:
		return err
	}
	return nil
}

// drop deletes a train branch. That it stays is no failure: the next run sees it.
func (l *line) drop(ctx context.Context, e train.DeleteBranch) error {
	if err := l.home.Open(ctx); err != nil {
		return err
	}
	if err := l.stop(ctx, e); err != nil {
		return err
	}
	ref := git.Ref{Name: "refs/heads/" + e.Branch, SHA: e.From}
	if _, err := l.home.Apply(ctx, effect.DeleteBranch(ref, e.Branch, journal.Token("delete", e.Branch, e.From))); err != nil {
		l.home.Log.Warn("train_branch_kept", "branch", e.Branch, "error", err)
		return nil
	}
	l.learn(train.Deleted{Car: e.Car})
	return nil
}

// finish ends a request as the train has decided.
func (l *line) finish(ctx context.Context, r train.Request) error {
	return l.close(ctx, r, func(a *aboard) (*thread.Stop, error) {
		stop, end := thread.End(model.ResultNothing, "the request to merge pull request %d is over", r.Number), r.End
		switch end.Outcome {
		case train.Landed:
			return stop, a.finish(ctx)
		case train.Failed:
			f := merge.Failure{Code: end.Code, Detail: end.Why, How: end.How, Checks: checks(end.Checks), Job: failedJob(ctx, l, end.Checks)}
			if end.Code == model.CodeConflict { // where, the record has no room for
				f.Conflicts = a.conflicts(ctx, l.home, l.now.SHA)
			}
			return a.fail(ctx, f)
		}
		text := merge.TriedText(a.g.Snap.Pull, a.g.marker, end.SHA, end.Why, checks(end.Checks))
		if end.Outcome == train.Refuted && end.SHA == "" { // it was not built
			if c := a.conflicts(ctx, l.home, l.now.SHA); c != nil {
				text += "\n\n" + merge.ConflictText(a.g.Snap.Pull, *c)
			}
		}
		a.g.marker.Reason, a.g.marker.Detail = model.CodeTried, ""
		return stop, bury(ctx, a.g, &Failure{Failure: merge.Failure{Code: model.CodeTried}}, text)
	})
}

// failedJob is a job behind a failed check, with the end of its log; nil: none is known.
func failedJob(ctx context.Context, l *line, list []train.Check) *model.CIJob {
	for _, c := range list {
		if c.ID == 0 {
			continue
		}
		jobs, err := redact.FailedJobs(ctx, l.home, c.ID)
		if err != nil {
			l.home.Log.Warn("train_log_unknown", "base", l.Base, "run", c.ID, "error", err)
			continue
		}
		if at := slices.IndexFunc(jobs, func(j model.CIJob) bool { return j.Name == c.Name && j.Log != "" }); at >= 0 {
			return &jobs[at]
		}
	}
	return nil
}

// close ends a request, where it has not ended already, and notes that.
func (l *line) close(ctx context.Context, r train.Request, how func(*aboard) (*thread.Stop, error)) error {
	a, err := l.open(ctx, r.Number)
	if err != nil {
		return err
	}
	if a != nil && a.g.marker.Command == r.Token {
		end, err := how(a)
		if err != nil {
			return err
		}
		if l.opened[r.Number] = nil; l.Self != nil && l.Self.Event.Number == r.Number {
			l.end = end
		}
	}
	l.ended(r)
	l.learn(train.Finished{Number: r.Number, Token: r.Token})
	return nil
}

// tell has the comment of a request say how it stands.
func (l *line) tell(ctx context.Context, e train.Tell) error {
	a, err := l.open(ctx, e.Request.Number)
	if err != nil {
		return err
	}
	if a != nil && a.g.marker.Command == e.Request.Token && a.held() == "" { // else it says so itself
		at := placeOf(l, e)
		detail := strings.TrimSpace(fmt.Sprintf("number %d in the merge train of %s %s", e.Position, l.Base, e.Why))
		a.g.tried, a.g.marker.Record = false, l.count
		if _, err := a.g.wait(ctx, model.CodeTrain, detail, merge.TrainText(a.g.Snap.Pull, a.g.marker, at)); told(err) != nil {
			return err
		}
	}
	l.learn(train.Told{Number: e.Request.Number, Key: e.Key})
	return nil
}

// placeOf is where a request is, as its comment says it.
func placeOf(l *line, t train.Tell) merge.Place {
	at := merge.Place{
		Position: t.Position, Car: t.Car, Tip: t.Tip, With: t.With, Ahead: t.Ahead, State: states[t.State], Why: t.Why, Back: t.Back, Required: t.Required, Checks: checks(t.Checks),
		At: l.time(), Try: t.Request.Try,
	}
	if t.Car != 0 && t.State != train.Building {
		at.Branch = train.Root + l.Base + fmt.Sprintf("/%d", t.Car)
	}
	if t.ETA != 0 {
		at.ETA = time.Unix(t.ETA, 0)
	}
	return at
}

// states are those of cars as people read them.
var states = map[train.State]string{
	train.Building: "is being built", train.Pushing: "is being tested", train.Testing: "is being tested", train.Green: "has passed",
	train.Red: "has failed", train.Moving: "is landing",
}

func checks(list []train.Check) []model.Check {
	var out []model.Check
	for _, c := range list {
		out = append(out, model.Check{Name: c.Name, URL: c.URL, RunID: c.ID, State: model.CheckFailed})
	}
	return out
}
