package engine

import (
	"context"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// reading is the world for who only looks: what a run would clean up as it reads stays.
func (e *Engine) reading() *thread.World {
	w := e.World
	w.Effects = effect.ReadOnly{}
	return &w
}

// onlooker are the topics of a number, for a token that need not be the one that runs work with.
func onlooker(w *thread.World, repo model.Repo, number int, rep *model.Report) *topics {
	p := topicsOf(thread.New(w, model.Event{Repo: repo, Number: number}, rep, nil))
	p.Onlooks = true
	return p
}

// Look tells how one pull request stands, and every condition of a turn with its evidence.
func (e *Engine) Look(ctx context.Context, repo model.Repo, number int) (model.Status, []model.Gate, error) {
	p := onlooker(e.reading(), repo, number, &model.Report{})
	defer p.Close()
	if err := thread.BeginPull(ctx, p.Thread); err != nil {
		return model.Status{}, nil, err
	}
	return p.desk.Look(ctx)
}

// Explanation is why something happens with a number, or does not.
type Explanation struct {
	Pull   model.Status
	Turns  []model.Gate // the conditions of a turn
	Merges []model.Gate // and of a merge; none where the pull request is not open
	// Issue is set in place of all that where the number is an issue's, and Step says what is done about it next.
	Issue *model.BoardIssue
	Step  string
}

// Why is Look with the conditions of a merge as well, and for issues too.
func (e *Engine) Why(ctx context.Context, repo model.Repo, number int) (why Explanation, err error) {
	p := onlooker(e.reading(), repo, number, &model.Report{})
	defer p.Close()
	if err := p.Begin(ctx); err != nil {
		return why, err
	}
	if !p.Snap.IsPull() {
		row, step := sweeping.OfIssue(p.Thread)
		return Explanation{Issue: &row, Step: step}, nil
	}
	if why.Pull, why.Turns, err = p.desk.Explain(ctx); err == nil {
		why.Merges, why.Pull.Train, err = landing.GatesInTrain(ctx, p.merging)
	}
	return why, err
}

// Standings tells how every open pull request stands that is tracked or asked to be merged, the oldest first, and all that
// waits for a person.
func (e *Engine) Standings(ctx context.Context, repo model.Repo) ([]model.Status, []model.Need, error) {
	b, err := e.Board(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	all := []model.Status{}
	for _, p := range b.Pulls {
		if p.State != model.StatusUntracked || p.Need != nil {
			all = append(all, p.Status)
		}
	}
	return all, b.Needs(), nil
}

// Trains are the merge trains of a repository, or that of one base, as they are now.
func (e *Engine) Trains(ctx context.Context, repo model.Repo, base string) ([]model.Train, error) {
	return landing.ShowTrains(ctx, e.reading(), repo, base)
}

// History lists what MergeXO did in a repository, or on one number of it, since a time: the newest first.
func (e *Engine) History(ctx context.Context, repo model.Repo, number int, since time.Time) ([]model.LogEntry, error) {
	return thread.History(ctx, &e.World, repo, number, since)
}
