// Package reviewing has a second agent review commits, and posts its findings as a review on GitHub, once for each head. The
// reviewer works in a tree of its own, isolated like any agent. Its changes are thrown away and never pushed.
package reviewing

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// Pull is a pull request that may have to be reviewed.
type Pull struct {
	*work.Work
	posted *thread.Posted   // once it was read
	handed *thread.Received // from the agent's job
}

// NewPull is the pull request that a thread is about.
func NewPull(t *thread.Thread) *Pull { return &Pull{Work: &work.Work{Thread: t}} }

// Find decides about a command that asks for a review, and makes the claim that the reply begins it with.
func (p *Pull) Find(ctx context.Context, c command.Case) (*command.Found, error) {
	why, err := refuse(ctx, p)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &command.Found{Verdict: model.Rejected, Text: why}, nil
	}
	m := opening(p, c.Key, c.By, c.At)
	return &command.Found{Verdict: model.Applied, Text: review.RunningText(p.Snap.Pull, m, adapter(p)), Review: &m}, nil
}

// refuse says why the pull request is not reviewed now; "" where it is.
func refuse(ctx context.Context, p *Pull) (string, error) {
	a := p.Settings.Reviewer()
	if a.None() || agent.BuiltIn(a.Adapter) {
		return "No agent is configured for reviews. Set `adapter` under `[review]` or `[agent]` in the settings.", nil
	}
	if why := Unsafe(p.Thread); why != "" {
		return why, nil
	}
	if said := p.State.Review(); said != nil && said.Marker.Open() {
		if live, err := p.Busy(ctx, said.CommentID, said.Marker.Lease); err != nil || live {
			return fmt.Sprintf("A review is already [in progress](%s).", said.URL), err
		}
	}
	if why, _, err := thread.Overspent(ctx, p.Thread, true); err != nil {
		return "", err
	} else if why != "" {
		return "The budget is used up: " + why + ".", nil
	}
	head := p.Snap.Pull.HeadSHA
	if url, err := reviewed(ctx, p, head); err != nil {
		return "", err
	} else if url != "" {
		return fmt.Sprintf("%s has already been [reviewed](%s). After a new commit, you can request another review.", markdown.Commit(p.Snap.Pull.URL, head), url), nil
	}
	if !p.Phase.RunsAgent() {
		return "", nil
	}
	s := Settings(p.Thread)
	if wrong := thread.NeedKey(p.Thread, s); wrong != nil {
		return "", wrong
	}
	return "", thread.Isolate(ctx, p.World, s)
}

// adapter is what people know the reviewer by.
func adapter(p *Pull) string { return p.Settings.Reviewer().Adapter }

// read is all that stands on the lines of the pull request, asked once.
func read(ctx context.Context, p *Pull) (thread.Posted, error) {
	if p.posted == nil {
		posted, err := thread.ReadReviews(ctx, p.Thread)
		if err != nil {
			return posted, err
		}
		p.posted = &posted
	}
	return *p.posted, nil
}

// reviewed returns the address of the review of one of these heads; "" for none.
func reviewed(ctx context.Context, p *Pull, heads ...string) (string, error) {
	find := func(tokens map[string]int64) string {
		for _, head := range heads {
			if id := tokens[Token(p.Event.Number, head)]; id != 0 {
				return thread.ReviewURL(p.Thread, id)
			}
		}
		return ""
	}
	if url := find(p.State.Tokens); url != "" {
		return url, nil
	}
	posted, err := read(ctx, p)
	return find(posted.Tokens), err
}

// opening claims a review of the head for this process, if this one runs the reviewer. Else the claim is left to whoever brings the
// answer. key is what asked for it.
func opening(p *Pull, key, by string, at time.Time) model.ReviewMarker {
	m := model.ReviewMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, State: model.ReviewRunning, Command: key, By: by, At: at.UTC(), Head: p.Snap.Pull.HeadSHA,
	}
	if !p.Phase.RunsAgent() {
		m.RunURL, m.Expires = p.Run.URL, p.ServerNow().Add(-time.Second).UTC().Truncate(time.Second)
	} else {
		sign(p, &m)
	}
	return m
}

// sign makes another attempt this process's own.
func sign(p *Pull, m *model.ReviewMarker) {
	if spent, _, _ := thread.Budget(p.Thread).Spend(p.State.Spent, p.ServerNow()); m.Spent == nil || m.Spent.Day != spent.Day {
		m.Spent, m.Own = &spent, &model.Spent{Day: spent.Day, Turns: 1}
	} else { // what others have spent since counts by their own markers
		m.Charge(1, 0)
	}
	m.Repo, m.Number = p.Event.Repo.String(), p.Event.Number
	m.Attempt++
	thread.Record{Thread: p.Thread, Marker: m, Term: term(p)}.Sign()
}

// about is what a run works on that holds a review.
func about(p *Pull) string { return fmt.Sprintf("the review of pull request %d", p.Event.Number) }

// term is how long a reviewer may take.
func term(p *Pull) time.Duration { return p.Settings.Agent.Timeout + thread.ClaimMargin }
