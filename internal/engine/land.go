package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/mergetree"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// land brings the planned commits onto the branch. It says false when the branch moved and the turn has to be brought
// onto its new head first; the marker then says how far it is.
func (p *pass) land(ctx context.Context) (landed bool, err error) {
	if err := p.Read(ctx); err != nil {
		return false, err
	}
	if err := p.stillOurs(ctx); err != nil {
		return false, err
	}
	head, planned := p.Snap.Pull.HeadSHA, p.Marker.Planned
	if planned == p.base() || head == planned {
		return p.unmoved(ctx, head)
	}
	if head == p.base() {
		return p.publish(ctx)
	}
	done, err := p.Relation(ctx, planned, head)
	if err != nil {
		return false, err
	}
	if done == model.Ahead { // published by a run that died, and somebody went on from there
		return true, nil
	}
	return false, p.rebase(ctx, head)
}

// unmoved is for a turn that has nothing to push, or whose push is done: only a rewrite stands in the way of its answers.
func (p *pass) unmoved(ctx context.Context, head string) (bool, error) {
	relation, err := p.Relation(ctx, p.Marker.Planned, head)
	if err != nil {
		return false, err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return false, p.block(ctx, thread.Rewritten(p.Marker.Planned, head, model.GuardRemote), "")
	case lineage.Resolve:
		return false, thread.End(model.ResultRetry, "the relation of %s to %s is not known yet", markdown.Short(head), markdown.Short(p.Marker.Planned))
	}
	return true, nil
}

// stillOurs holds a fresh snapshot against all that may have changed while the agent was at work.
func (p *pass) stillOurs(ctx context.Context) error {
	mine := false
	for _, t := range p.State.Turns {
		mine = mine || t.CommentID == p.ClaimID
	}
	g, unmet := turn.Unmet(turn.Gates(p.Snap, p.State, p.Policy))
	switch {
	case unmet && g.Name == turn.GateOpen && p.Snap.Pull.HeadSHA == p.Marker.Planned && p.Marker.Planned != p.base():
		return nil // it was published before it was merged or closed: only the answers are missing
	case unmet && g.Name == turn.GateOpen:
		return p.abandon(ctx, g.Evidence, "When the pull request is open again")
	case unmet && (g.Name == turn.GateBlock || g.Name == turn.GateMarkers):
		return p.gates(ctx)
	case unmet:
		return p.abandon(ctx, g.Evidence, "When that has changed")
	case !mine:
		return thread.End(model.ResultRetry, "the claim of this run on pull request %d was deleted meanwhile; nothing was pushed", p.Event.Number)
	}
	return nil
}

// abandon leaves a turn whose pull request was closed, merged, or taken over by a person while the agent was at work, and
// says so. The work stays recorded: once that is over, it is published.
func (p *pass) abandon(ctx context.Context, why, until string) error {
	p.Marker.Reason = why
	if err := p.park(ctx, "Nothing was pushed. "+until+", the next event goes on from here."); err != nil {
		return err
	}
	return thread.End(model.ResultNothing, "%s", why)
}

// publish moves the branch from the start head to the planned one and deletes the stage in the same push.
func (p *pass) publish(ctx context.Context) (bool, error) {
	if err := p.Open(ctx); err != nil {
		return false, err
	}
	branch := p.Snap.Pull.HeadRef
	if len(p.commits) == 0 { // recorded by a run that died: the commits are on the stage only
		if here, err := p.unstage(ctx, stagedAt(p.Event.Number, p.Marker)); err != nil || !here {
			return err == nil, err
		}
	}
	if err := p.Alive(); err != nil {
		return false, err
	}
	_, err := p.Apply(ctx, p.publication(branch, p.base()))
	var rejected *git.ErrRejected
	var unclear *git.ErrUnclear
	switch {
	case err == nil:
		p.wip = wip{}
		p.Say(model.Saying{Where: "push to " + branch, Text: p.pushed()})
		return true, nil
	case errors.As(err, &unclear):
		p.Log.Warn("answer_unclear", "kind", "push", "target", branch, "error", err)
		return false, nil // the next look at the branch tells
	case !errors.As(err, &rejected):
		return false, err
	case rejected.Reason == git.Stale:
		return false, nil
	}
	return false, p.block(ctx, model.BlockMarker{Reason: model.ReasonPush, Observed: p.base()}, rejected.Error())
}

func (p *pass) pushed() string { return pushedText(p.base(), p.Marker.Planned, p.commits) }

// pushedText tells a push in a few lines.
func pushedText(from, to string, commits []model.Commit) string {
	text := fmt.Sprintf("%s..%s", markdown.Short(from), markdown.Short(to))
	for _, c := range commits {
		text += fmt.Sprintf("\n%s %s", markdown.Short(c.SHA), c.Subject)
	}
	return text
}

// unstage fetches the planned commits. The push that publishes them deletes the stage, so where it is gone they are on
// the branch (false), or they were and somebody took them off again. What the stage points to is not asked: a run that died
// while it replayed the turn may have moved it on, and only the recorded commits are the turn's.
func (p *pass) unstage(ctx context.Context, stage string) (here bool, err error) {
	_, err = fetch.Ref(ctx, p.Checkout, stage)
	var none *git.ErrNoRef
	if errors.As(err, &none) {
		return false, p.published(ctx)
	}
	if err != nil {
		return false, err
	}
	err = history.Deepen(ctx, p.Checkout, p.base(), p.Marker.Planned)
	if errors.As(err, &none) {
		return false, p.failed(ctx, fmt.Errorf("the planned commits cannot be fetched: %w", err))
	}
	if err != nil {
		return false, err
	}
	p.commits, err = p.list(ctx, p.base(), p.Marker.Planned)
	return true, err
}

// published asks the server itself whether the planned commits are on the branch; an answer of the API may be old.
func (p *pass) published(ctx context.Context) error {
	ref := "refs/heads/" + p.Snap.Pull.HeadRef
	heads, err := fetch.Remote(ctx, p.Checkout, ref)
	if err != nil || heads[ref] == p.Marker.Planned {
		return err
	}
	if heads[ref] == "" {
		return thread.End(model.ResultRetry, "the head branch %q was deleted meanwhile", p.Snap.Pull.HeadRef)
	}
	relation, err := p.Relation(ctx, p.Marker.Planned, heads[ref])
	if err != nil || relation == model.Ahead {
		return err
	}
	return p.block(ctx, thread.Rewritten(p.Marker.Planned, heads[ref], model.GuardRemote),
		"the recorded work was published and then taken off the branch, or its hidden ref was deleted before it could be published")
}

// restart sends the turn back to the agent on this head.
func (p *pass) restart(ctx context.Context, head string) error {
	p.Marker.Phase, p.Marker.Onto, p.Marker.Planned = model.PhaseStarted, head, ""
	p.Marker.Outbox, p.commits = nil, nil
	if err := p.edit(ctx, p.claimText()); err != nil || p.Phase != thread.ApplyPhase {
		return err
	}
	return thread.End(model.ResultRetry, "the head of pull request %d moved to %s meanwhile; the next event's agent phase takes the turn up there", p.Event.Number, markdown.Short(head))
}

// rebase replays the turn's own commits on a head that somebody fast-forwarded meanwhile. Only a conflict costs another
// round of the agent.
func (p *pass) rebase(ctx context.Context, head string) error {
	relation, err := p.Relation(ctx, p.base(), head)
	if err != nil {
		return err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return p.block(ctx, thread.Rewritten(p.base(), head, model.GuardRemote), "")
	case lineage.Resolve:
		return thread.End(model.ResultRetry, "the relation of %s to %s is not known yet", markdown.Short(head), markdown.Short(p.base()))
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	if len(p.commits) == 0 {
		if here, err := p.unstage(ctx, stagedAt(p.Event.Number, p.Marker)); err != nil || !here {
			return err
		}
	}
	if err := checkpoint.Restore(ctx, p.Checkout, p.Snap.Pull.HeadRef, p.Snap.Pull.BaseRef, head); err != nil {
		var moved *git.ErrHeadMoved
		if errors.As(err, &moved) {
			return nil // the next look sees the newer head
		}
		return err
	}
	if p.Phase == thread.ApplyPhase && len(p.Settings.Repo.RequiredTests) > 0 { // which run where the agent does, and nowhere else
		return p.restart(ctx, head)
	}
	replayed, err := p.bring(ctx, head)
	if err != nil {
		return err
	}
	if replayed == "" {
		return p.restart(ctx, head)
	}
	p.Log.Info("turn_replayed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "from", p.base(), "onto", head)
	if p.commits, err = p.list(ctx, head, replayed); err != nil {
		return err
	}
	m, o := p.Marker, *p.Marker.Outbox
	m.Onto, m.Planned, o.Commits = head, replayed, turn.Listed(p.commits)
	return p.record(ctx, m, o)
}

// bring puts the turn's commits on top of a head, and gives where that leads; "" when it takes the agent: they conflict,
// their tests fail there, or what they would publish there must not be. A merge among them is kept by merging the head.
func (p *pass) bring(ctx context.Context, head string) (string, error) {
	var conflict *mergetree.ErrConflict
	var broken *git.Error
	replayed, err := commits.ReplayOrMerge(ctx, p.Checkout, p.base(), p.Marker.Planned, head, fmt.Sprintf("Merge branch '%s'", p.Snap.Pull.HeadRef))
	if errors.As(err, &conflict) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	found, err := p.inspect(ctx, head, replayed)
	if err != nil || found.reason != "" {
		return "", err
	}
	var output string
	err = p.inTime(ctx, func(ctx context.Context) (err error) {
		output, _, err = p.requiredTests(ctx, head, replayed)
		return err
	})
	switch late := (*ending)(nil); {
	case errors.As(err, &late): // the plan stands: the next run, which has more time, goes on from it
		return "", p.outOfTime()
	case errors.As(err, &broken) && broken.Failure == "": // the tests left a checkout that git cannot work with
		return "", nil
	case err != nil || output != "":
		return "", err
	}
	return replayed, nil
}

// answer posts what the outbox still owes, then the receipt.
func (p *pass) answer(ctx context.Context) error {
	o := *p.Marker.Outbox
	answers := make([]turn.Answer, 0, len(p.Marker.Events))
	tokens := []string{turnToken(p.Marker.Key)}
	for _, c := range p.feedback {
		answers = append(answers, turn.Answer{Feedback: c})
	}
	for _, r := range o.Replies {
		a, err := p.reply(ctx, r)
		if err != nil {
			return err
		}
		for i := range answers {
			if answers[i].Feedback.Kind == model.KindReview && answers[i].Feedback.ID == r.ReviewCommentID {
				answers[i].ReplyURL, answers[i].Gone = a.ReplyURL, a.Gone
			}
		}
		if !a.Gone {
			tokens = append(tokens, replyToken(p.Marker.Key, r.ReviewCommentID))
		}
	}
	before, _ := p.sealedIn()
	planned := p.Marker
	if o.Flaky != nil {
		mark, err := p.incident(ctx, o)
		if err != nil {
			return err
		}
		p.Marker.Flaky = mark
	}
	p.dropDoubles(ctx, p.Marker.Planned)
	p.Marker.Phase, p.Marker.Head, p.Marker.Tokens = model.PhaseDone, p.Marker.Planned, tokens
	p.Marker.Outbox = nil
	text := turn.ReceiptText(p.Snap.Pull, answers, o, p.Marker)
	p.Marker.Tries = nil                                      // the text tells
	p.Marker = turn.Carry(p.Marker, p.State, p.Snap.Failures) // behind the text, which is of this turn's own answers
	if err := p.edit(ctx, text); err != nil {
		p.Marker = planned
		return err
	}
	p.Report.HeadSHA = p.Marker.Head
	p.outlive(ctx, before)
	p.unsave(ctx)
	return nil
}

// reply answers one review comment, unless the answer is there already or the comment is gone.
func (p *pass) reply(ctx context.Context, r model.ReviewReply) (turn.Answer, error) {
	token := replyToken(p.Marker.Key, r.ReviewCommentID)
	if url, found := p.Replied(token); found {
		p.Applied("reply", strconv.FormatInt(r.ReviewCommentID, 10), token, effect.Present)
		return turn.Answer{ReplyURL: url}, nil
	}
	body, err := p.Codec.Encode(journal.Body{Text: r.Body, Tokens: []string{token}, Kind: journal.KindAnswer, Marker: p.trace()})
	if err != nil {
		return turn.Answer{}, err
	}
	// The comment may be too old to have been read: GitHub knows whether it is still there. Where only the first comment of
	// its thread was deleted, the comment itself takes replies.
	var made effect.Result
	for _, thread := range []int64{p.Marker.Outbox.Threads[r.ReviewCommentID], r.ReviewCommentID} {
		if thread == 0 {
			continue
		}
		made, err = p.Apply(ctx, effect.Reply{Number: p.Event.Number, To: r.ReviewCommentID, Thread: thread, Token: token, Body: body})
		if k := github.KindOf(err); k != github.NotFound && k != github.Gone {
			break
		}
	}
	switch k := github.KindOf(err); {
	case k == github.NotFound || k == github.Gone:
		return turn.Answer{Gone: true}, nil
	case err == nil:
		p.Say(model.Saying{Where: fmt.Sprintf("reply to review comment %d", r.ReviewCommentID), Text: r.Body})
	}
	return turn.Answer{ReplyURL: made.URL}, err
}
