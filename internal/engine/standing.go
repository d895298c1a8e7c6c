package engine

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// actionsBot writes the markers where the workflow's own token does the work.
const actionsBot = "github-actions[bot]"

// onlooker is a pass that looks at what the runs with another token have written.
func (e *Engine) onlooker(repo model.Repo, number int, rep *model.Report) *pass {
	return &pass{
		Engine: e, event: model.Event{Repo: repo, Number: number, IsPull: true}, report: rep, onlooks: true,
		memory: &memory{rights: map[string]model.Permission{}},
	}
}

// Look tells how one pull request stands, and every condition of a turn with its evidence.
func (e *Engine) Look(ctx context.Context, repo model.Repo, number int) (model.Standing, []model.Gate, error) {
	p := e.onlooker(repo, number, &model.Report{})
	defer p.close()
	if err := p.begin(ctx); err != nil {
		return model.Standing{}, nil, err
	}
	if !p.snap.IsPull {
		return model.Standing{}, nil, wrongNumber(number)
	}
	return p.look(ctx)
}

// Explanation is why something happens with a number, or does not.
type Explanation struct {
	Pull   model.Standing
	Turns  []model.Gate // the conditions of a turn
	Merges []model.Gate // and of a merge; none where the pull request is not open
	// Issue is set in place of all that where the number is an issue's, and Step says what is done about it next.
	Issue *model.BoardIssue
	Step  string
}

// Why is Look with the conditions of a merge as well, and for issues too.
func (e *Engine) Why(ctx context.Context, repo model.Repo, number int) (why Explanation, err error) {
	p := e.onlooker(repo, number, &model.Report{})
	defer p.close()
	if err := p.begin(ctx); err != nil {
		return why, err
	}
	if !p.snap.IsPull {
		step := p.dueIssue().step
		row, _ := p.boardIssue(step)
		why.Issue, why.Step = &row, step.Why
		return why, nil
	}
	if why.Pull, why.Turns, err = p.look(ctx); err == nil {
		why.Merges, err = p.mergeGates(ctx)
	}
	return why, err
}

// Standings tells how every open pull request stands that is tracked, the oldest first, and all that waits for a person.
func (e *Engine) Standings(ctx context.Context, repo model.Repo) ([]model.Standing, []model.Need, error) {
	b, err := e.Board(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	all := []model.Standing{}
	for _, p := range b.Pulls {
		if p.State != model.StandUntracked {
			all = append(all, p.Standing)
		}
	}
	return all, b.Needs(), nil
}

// trusted are the logins beside our own whose markers count. A person who only looks sees what any bot has said as MergeXO:
// nothing is written by it.
func (p *pass) trusted() []string {
	bots := p.settings.Repo.Bots
	if !p.onlooks || p.snap.Viewer.Bot {
		return bots
	}
	bots = append(slices.Clone(bots), actionsBot)
	for _, c := range p.snap.Comments {
		if c.Author.Bot && journal.LooksMarked(c.Body) && !slices.Contains(bots, c.Author.Login) {
			bots = append(bots, c.Author.Login)
		}
	}
	return bots
}
