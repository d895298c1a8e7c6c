package turns

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// maxLandings bounds how often the commits of an attempt are brought onto a head that somebody moved meanwhile.
const maxLandings = 3

// ErrAnew ends an attempt whose commits were published but are not on the head that an operator has accepted. Another attempt
// handles its feedback.
var ErrAnew = errors.New("the turn begins again")

// Finish takes a claimed attempt from wherever its record stands to its receipt. It continues the record of a dead run in the
// same way.
func Finish(ctx context.Context, p *Attempt) error {
	for round := 1; ; round++ {
		if p.Marker.Phase != model.PhaseStarted && !p.Phase.Writes() {
			return needless(p)
		}
		if p.Marker.Phase == model.PhaseStarted {
			if err := Perform(ctx, p); err != nil {
				return err
			}
		}
		landed, err := land(ctx, p)
		if err != nil {
			return err
		}
		switch last := round >= maxLandings; {
		case landed:
			if again, err := p.Subject.Answer(ctx, last); err != nil || !again {
				return err
			}
		case last:
			return p.Subject.Stuck(ctx)
		}
	}
}

// land looks where the planned commits go, and takes them there. It says false when another look has to tell; the marker then says how
// far they are.
func land(ctx context.Context, p *Attempt) (landed bool, err error) {
	head, err := p.Subject.Look(ctx)
	if err != nil {
		return false, err
	}
	m := &p.Marker
	if m.Moved != "" && m.Planned == work.Base(p.Work) { // nothing to push, so that it fits anywhere
		m.Onto, m.Planned = head, head
	}
	result := lineage.Commits{Head: head, Base: work.Base(p.Work), Planned: m.Planned, Moved: m.Moved, Foreign: p.Issue != nil && p.Issue.Tip == "", Own: p.Issue != nil}
	place := result.Place(func(earlier string) (r model.Relation) {
		if err == nil {
			r, err = p.Relation(ctx, earlier, head)
		}
		return r
	})
	if err != nil {
		return false, err
	}
	switch place {
	case lineage.Push:
		return push(ctx, p, head)
	case lineage.Replay:
		return false, replay(ctx, p, head)
	case lineage.Rename:
		return false, p.Flow.Rename(ctx)
	case lineage.Rewritten:
		return false, p.Subject.Rewritten(ctx, head)
	case lineage.Retry:
		return false, thread.End(model.ResultRetry, "it is not known yet how %s relates to %s", markdown.Short(head), markdown.Short(m.Planned))
	}
	if m.Planned != work.Base(p.Work) { // where the server takes one ref in a push, or its answer was lost, what held them may be there still
		at := git.Ref{Name: StagedAt(p.Event.Number, *m)}
		if m.Stage != "" {
			at.SHA = m.Planned // what somebody else added there stays
		}
		p.Inherited = append(p.Inherited, at)
	}
	return true, nil
}

// push moves the branch from its head to the planned commits, and deletes what held them until then.
func push(ctx context.Context, p *Attempt, head string) (landed bool, err error) {
	if here, err := Unstage(ctx, p); err != nil || !here { // the branch has them; an issue has to know where it is
		return err == nil && p.Issue == nil, err
	}
	if err := thread.Alive(p.Thread); err != nil {
		return false, err
	}
	m, branch := p.Marker, p.Snap.Pull.HeadRef
	move := transport.Update{Branch: branch, Start: head, SHA: m.Planned, Stage: stageRef(p.Event.Number, m.Key), Drop: work.Droppable(p.Work)}
	if m.Stage != "" {
		move.Stage, move.Drop = "", append(move.Drop, git.Ref{Name: m.Stage, SHA: m.Planned}) // what somebody else added there stays
	}
	as, rejected := model.Effect{Kind: "push", Target: branch, Token: journal.Token("push", m.Key)}, (*git.ErrRejected)(nil)
	switch _, err = p.Apply(ctx, effect.Push(effect.Move{Update: move, As: as})); {
	case err == nil:
		p.Tip = m.Planned
		work.Saved(p.Work)
		p.Say(model.Saying{Where: "push to " + branch, Text: work.PushedText(work.Base(p.Work), m.Planned, p.Commits)})
	case git.Unsure(err):
		p.Log.Warn("answer_unclear", "kind", "push", "target", branch, "error", err)
		return false, nil
	case errors.As(err, &rejected):
		return false, p.Subject.Refused(ctx, rejected)
	}
	return err == nil, err
}

// replay brings the planned commits onto a head that somebody fast-forwarded meanwhile.
func replay(ctx context.Context, p *Attempt, head string) error {
	here, err := Unstage(ctx, p)
	if err == nil && !here && p.Marker.Moved != "" {
		err = errors.Join(ErrAnew, p.Remove(ctx, p.ClaimID, TurnToken(p.Marker.Key)))
	}
	if err != nil || !here {
		return err
	}
	err = checkout.Restore(ctx, p.Checkout, p.Snap.Pull.HeadRef, p.Snap.Pull.BaseRef, head)
	if moved := (*git.ErrHeadMoved)(nil); errors.As(err, &moved) || p.Issue != nil && git.IsNoRef(err) {
		return nil // the next look sees the newer head, or that there is none
	}
	fits := false
	if err == nil && Retests(p) {
		fits, err = rebaseOnto(ctx, p, head)
	}
	if err == nil && !fits {
		err = p.Subject.Unfit(ctx, head)
	}
	return err
}

// Unstage fetches the planned commits. The push that publishes them deletes the stage. So if the stage is gone, the commits are
// on the branch, or somebody removed them from there, and here is false. Only the recorded commits are the turn's: a run that
// died while it replayed the turn may have moved the stage.
func Unstage(ctx context.Context, p *Attempt) (here bool, err error) {
	if err := p.Open(ctx); err != nil || len(p.Commits) > 0 { // this run has recorded them
		return err == nil, err
	}
	if p.Issue != nil { // whose base is known from a checkout
		if err := restore(ctx, p, p.Tip); err != nil {
			return false, err
		}
	}
	_, err = history.FetchRef(ctx, p.Checkout, StagedAt(p.Event.Number, p.Marker))
	var none *git.ErrNoRef
	if errors.As(err, &none) {
		if nowhere, err := published(ctx, p); err != nil || !nowhere {
			return false, err
		}
		err = history.FetchCommits(ctx, p.Checkout, p.Marker.Planned) // which the server may keep without any name
	}
	if git.IsNoRef(err) {
		return false, Failed(ctx, p, fmt.Errorf("the planned commits are gone with branch %q: %w", p.Branch, err))
	}
	if err != nil {
		return false, err
	}
	err = history.Deepen(ctx, p.Checkout, work.Base(p.Work), p.Marker.Planned)
	if errors.As(err, &none) {
		return false, Failed(ctx, p, fmt.Errorf("the planned commits cannot be fetched: %w", err))
	}
	if err != nil {
		return false, err
	}
	p.Commits, err = history.List(ctx, p.Checkout, work.Base(p.Work), p.Marker.Planned)
	return true, err
}

// published asks the server itself whether the planned commits are on the branch; an answer of the API may be old. Of an issue's
// work it may say that they are nowhere, since somebody deleted the branch before it had a pull request.
func published(ctx context.Context, p *Attempt) (nowhere bool, err error) {
	ref := "refs/heads/" + p.Snap.Pull.HeadRef
	heads, err := history.RemoteRefs(ctx, p.Checkout, ref)
	switch {
	case err != nil || heads[ref] == p.Marker.Planned:
		return false, err
	case heads[ref] == "" && p.Issue != nil:
		return true, nil
	case heads[ref] == "":
		return false, thread.End(model.ResultRetry, "the head branch %q was deleted", p.Snap.Pull.HeadRef)
	}
	relation, err := p.Relation(ctx, p.Marker.Planned, heads[ref])
	if err != nil || relation == model.Ahead || p.Marker.Moved != "" {
		return false, err
	}
	return false, p.Subject.Block(ctx, thread.Rewritten(p.Marker.Planned, heads[ref], model.GuardRemote),
		"the recorded work was published and then removed from the branch, or its hidden ref was deleted before it could be published")
}

// Retests reports whether the required tests can run here on another base. They run where the agent does, and nowhere else.
func Retests(p *Attempt) bool { return p.Phase.RunsAgent() || len(p.Settings.RequiredTests()) == 0 }

// rebaseOnto records the turn's commits on top of a head. They do not fit when it takes the agent: they conflict, their tests fail there,
// or what they would publish there must not be. A merge among them is kept by merging the head.
func rebaseOnto(ctx context.Context, p *Attempt, head string) (fits bool, err error) {
	replayed, err := rebased(ctx, p, head)
	if err != nil || replayed == "" {
		return false, err
	}
	p.Log.Info("turn_replayed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "from", work.Base(p.Work), "onto", head)
	if p.Commits, err = history.List(ctx, p.Checkout, head, replayed); err != nil {
		return false, err
	}
	m, o := p.Marker, *p.Marker.Outbox
	m.Onto, m.Planned, m.Moved, o.Commits = head, replayed, "", turn.Listed(p.Commits)
	return true, Record(ctx, p, m, o)
}

// rebased replays the commits on top of a head and returns the new tip; "" when they do not fit there.
func rebased(ctx context.Context, p *Attempt, head string) (string, error) {
	var conflict *merging.ErrConflict
	var broken *git.Error
	replayed, err := checkout.ReplayOrMerge(ctx, p.Checkout, work.Base(p.Work), p.Marker.Planned, head, fmt.Sprintf("Merge branch '%s'", p.Snap.Pull.HeadRef))
	if errors.As(err, &conflict) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	found, _, err := work.Inspect(ctx, p.Work, head, replayed)
	if err != nil || found.Reason != "" {
		return "", err
	}
	var output string
	err = work.InTime(ctx, p.Work, func(ctx context.Context) (err error) {
		output, _, err = work.RequiredTests(ctx, p.Work, testBase(p, head), replayed)
		return err
	})
	switch late := (*work.Ending)(nil); {
	case errors.As(err, &late) && errors.Is(late.Cause, thread.ErrRunTime): // the plan stands: the next run, which has more time, goes on from it
		return "", thread.OutOfTime(p.Thread)
	case errors.As(err, &late):
		return "", late.Cause
	case errors.As(err, &broken) && broken.Failure == "": // the tests left a checkout that git cannot work with
		return "", nil
	case err != nil || output != "":
		return "", err
	}
	return replayed, nil
}
