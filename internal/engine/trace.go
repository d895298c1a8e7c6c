package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// trace is what the turn at hand leaves beside its receipt.
func (p *pass) trace() model.AnswerMarker {
	m := p.marker
	return model.AnswerMarker{Repo: m.Repo, Number: m.Number, Key: m.Key, Events: m.Events, Start: m.Start, Head: m.Planned, Since: m.Since, Seen: m.Seen, Session: m.Session}
}

// trail has the last commit of the turn at hand say which turn it is of, and gives the head that it is then.
func (p *pass) trail(ctx context.Context, head string) (string, error) {
	if p.issue != nil || head == p.base() {
		return head, nil
	}
	done, err := p.checkout.Reword(ctx, p.base(), head, p.checkout.Tips(), func(message string) string { return p.Codec.Trail(message, p.trace()) })
	if err == nil {
		err = p.checkout.Follow(ctx, done)
	}
	return done.Head, err
}

// trails are the traces in commits of the pull request: those that are known to be ours, and the others.
func (p *pass) trails() (ours, others []model.Trace) {
	mine := func(a model.Actor) bool {
		return a.ID != 0 && a.ID == p.snap.Viewer.ID || slices.ContainsFunc(p.trusted(), func(l string) bool { return strings.EqualFold(l, a.Login) })
	}
	for _, c := range p.snap.Pull.Commits {
		t, ok := p.Codec.ReadTrail(c, p.scope())
		if !ok {
			continue
		}
		key := func(start string) string { return journal.TurnKey(p.event.Number, start, t.Marker.Events) }
		push, pushed := turn.Pushed(t, p.memory.pushes, mine, key)
		switch {
		case t.Attested:
			ours = append(ours, t)
		case pushed:
			t.At, t.Marker.Start = push.At, push.Before
			ours = append(ours, t)
		default:
			others = append(others, t)
		}
	}
	return ours, others
}

// findLost looks for turns whose receipts were deleted. What they answered is answered, also before that is said again.
func (p *pass) findLost() {
	for _, t := range p.lost {
		for _, e := range t.Marker.Events {
			delete(p.state.Answered, e)
		}
	}
	ours, _ := p.trails()
	p.lost = turn.Lost(p.snap, p.state, slices.Concat(p.state.Traces, ours))
	for _, t := range p.lost {
		for _, e := range t.Marker.Events {
			p.state.Answered[e] = true
		}
	}
}

// attest asks GitHub who pushed the commits that say of what is pending that they answer it; once a run, and not at all where
// none does.
func (p *pass) attest(ctx context.Context, pending []model.Comment) error {
	_, others := p.trails()
	keys := turn.Keys(p.event.Number, pending)
	if p.memory.pushesAsked || !slices.ContainsFunc(others, func(t model.Trace) bool {
		return !p.state.Keys[t.Marker.Key] && slices.ContainsFunc(t.Marker.Events, func(e string) bool { return slices.Contains(keys, e) })
	}) {
		return nil
	}
	pushes, err := p.GitHub.Pushes(ctx, p.event.Repo, p.snap.Pull.HeadRef)
	if k := github.KindOf(err); k == github.Forbidden || k == github.NotFound {
		p.Log.Warn("pushes_unknown", p.numberKey(), p.event.Number, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	p.memory.pushes, p.memory.pushesAsked = pushes, true
	return nil
}

// restoreReceipts writes the receipts of turns that lost theirs, each once, so that nothing is done twice.
func (p *pass) restoreReceipts(ctx context.Context) error {
	if len(p.lost) == 0 || p.Phase == AgentPhase {
		return nil
	}
	for _, t := range p.lost {
		if p.DryRun {
			p.planned("comment", p.subject(), turnToken(t.Marker.Key))
			continue
		}
		p.Log.Warn("receipt_lost", p.numberKey(), p.event.Number, "turn_key", t.Marker.Key, "head", t.Marker.Head)
		if err := p.restoreReceipt(ctx, t); err != nil {
			return err
		}
	}
	if p.DryRun {
		return nil
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	p.report.Result = model.ResultDone
	return p.tidy(ctx)
}

func (p *pass) restoreReceipt(ctx context.Context, t model.Trace) error {
	m := turn.Restored(t, p.state)
	m.Tokens = []string{turnToken(m.Key)}
	found, missing := turn.Find(p.snap, m.Events)
	found = append(found, turn.Recall(p.event.Number, missing, p.memory.runs)...)
	answers := make([]turn.Answer, len(found))
	for i, c := range found {
		token := replyToken(m.Key, c.ID)
		answers[i] = turn.Answer{Feedback: c, ReplyURL: p.replyURL(token)}
		if answers[i].ReplyURL != "" {
			m.Tokens = append(m.Tokens, token)
		}
	}
	body := journal.Body{Text: turn.RestoredText(p.snap.Pull, answers, t), Kind: journal.KindTurn, Marker: m}
	_, err := p.comment(ctx, turnToken(m.Key), body, func() int64 {
		for _, s := range p.state.Turns {
			if s.Marker.Key == m.Key && s.Marker.Phase == model.PhaseDone {
				return s.CommentID
			}
		}
		return 0
	})
	return err
}

// replyURL is where the reply with this token is; "" where it is not there.
func (p *pass) replyURL(token string) string {
	id, ok := p.state.Tokens[token]
	i := slices.IndexFunc(p.snap.Comments, func(c model.Comment) bool { return ok && c.Kind == model.KindReview && c.ID == id })
	if i < 0 {
		return ""
	}
	return p.snap.Comments[i].URL
}
