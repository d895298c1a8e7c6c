package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
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

// Why is Look with the conditions of a merge as well; none where the pull request is not open.
func (e *Engine) Why(ctx context.Context, repo model.Repo, number int) (s model.Standing, turns, merges []model.Gate, err error) {
	p := e.onlooker(repo, number, &model.Report{})
	defer p.close()
	if err := p.begin(ctx); err != nil {
		return s, nil, nil, err
	}
	if !p.snap.IsPull {
		return s, nil, nil, wrongNumber(number)
	}
	if s, turns, err = p.look(ctx); err == nil {
		merges, err = p.mergeGates(ctx)
	}
	return s, turns, merges, err
}

// overlooked is what is kept of one pull request of many until everybody's rights are known.
type overlooked struct {
	standing   model.Standing
	candidates []model.Comment // without their texts
	settled    model.Mark
	policy     turn.Policy
}

// Standings tells how every open pull request stands that is tracked, the oldest first, in one request for 50 of them and
// one for the rights of 50 people.
func (e *Engine) Standings(ctx context.Context, repo model.Repo) ([]model.Standing, error) {
	var all []overlooked
	rights := map[string]model.Permission{}
	var ask []string
	err := e.survey(ctx, repo, func(p *pass) error {
		standing := turn.Stand(p.snap, p.state, p.policy, nil)
		if standing.State == model.StandUntracked {
			return nil
		}
		candidates := turn.Candidates(p.snap, p.state, p.policy)
		for _, login := range turn.Unasked(candidates, rights, p.state.Settled, p.policy) {
			rights[login] = model.PermissionNone
			ask = append(ask, login)
		}
		for i, c := range candidates {
			candidates[i] = model.Comment{Kind: c.Kind, ID: c.ID, Author: c.Author, Association: c.Association, EditedByOther: c.EditedByOther, Editor: c.Editor}
		}
		all = append(all, overlooked{standing, candidates, p.state.Settled, p.policy})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(ask) > 0 {
		got, err := e.GitHub.Permissions(ctx, repo, ask)
		if err != nil {
			return nil, err
		}
		maps.Copy(rights, got)
	}
	out := []model.Standing{}
	for _, o := range all {
		o.standing.Pending = len(turn.Allowed(o.candidates, rights, o.policy))
		if (o.standing.State == model.StandIdle || o.standing.State == model.StandQueued) && o.standing.Pending > 0 {
			o.standing.State = model.StandPending
		}
		out = append(out, o.standing)
	}
	return out, nil
}

// Blocked lists every open pull request that is blocked, the oldest first.
func (e *Engine) Blocked(ctx context.Context, repo model.Repo) ([]model.Blocked, error) {
	out := []model.Blocked{}
	err := e.survey(ctx, repo, func(p *pass) error {
		if p.state.Block != nil {
			out = append(out, *turn.Stand(p.snap, p.state, p.policy, nil).Block)
		}
		return nil
	})
	return out, err
}

// survey looks at every open pull request whose base branch has settings.
func (e *Engine) survey(ctx context.Context, repo model.Repo, look func(*pass) error) error {
	q := github.SurveyQuery{Repo: repo, Settled: func(s model.Snapshot, read []model.Comment) (model.Mark, bool) {
		p := e.onlooker(repo, s.Pull.Number, nil)
		p.snap = s
		_ = p.configure() // for the bots that it names; settings that do not hold are told of below
		return e.Codec.Settled(read, p.scope())
	}}
	return e.GitHub.Survey(ctx, q, func(s model.Snapshot) error {
		p := e.onlooker(repo, s.Pull.Number, &model.Report{})
		p.snap, p.readAt = s, e.Now()
		p.fold()
		if !s.SettingsFound { // a base branch of its own, where MergeXO does nothing
			return nil
		}
		if err := p.configure(); errors.Is(err, config.ErrInvalid) { // that base branch's own affair
			e.Log.Warn("pull_request_left_out", "pr_number", s.Pull.Number, "error", err)
			return nil
		} else if leaves := (*Stop)(nil); errors.As(err, &leaves) {
			return nil
		} else if err != nil {
			return err
		}
		return look(p)
	})
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
