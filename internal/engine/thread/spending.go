package thread

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Overspent returns why the agent may not start work on this number today, and when it may again. why is empty if it may. With
// together, it also checks the repository's own limit, if one is set and no operator has lifted a block about it today. That
// costs calls, as many as the repository's log of today.
func Overspent(ctx context.Context, t *Thread, together bool) (why string, opens time.Time, err error) {
	now := t.ServerNow().UTC()
	budget := Budget(t)
	if _, why, opens = budget.Spend(t.State.Spent, now); why != "" || budget.RepositoryUSD == 0 || !together || t.State.Excused == now.Format(time.DateOnly) {
		return why, opens, nil
	}
	today, err := History(ctx, t.World, t.Event.Repo, 0, now.Truncate(24*time.Hour))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("find out what agents cost today: %w", err)
	}
	why, opens = budget.Together(model.CostOf(today), now)
	return why, opens, nil
}

// History lists what MergeXO did in a repository since a time, newest first. If number is not 0, it lists only that number. It
// reads markers only, so it covers closed pull requests and issues, too.
func History(ctx context.Context, w *World, repo model.Repo, number int, since time.Time) ([]model.LogEntry, error) {
	said, err := w.GitHub.Threads.Said(ctx, github.LogQuery{Repo: repo, Number: number, Since: since, Want: journal.LooksMarked})
	if err != nil {
		return nil, err
	}
	var bots []string
	if said.SettingsFound {
		settings, err := config.ParseWithoutAgent(said.Settings, SettingsPath)
		if err != nil {
			return nil, fmt.Errorf("find out which accounts are ours: %w", err)
		}
		bots = settings.Repo.Bots
	}
	entries := []model.LogEntry{}
	for number, comments := range said.Comments {
		scope := journal.Scope{Repo: repo, Number: number, Bots: OnlookersTrust(bots, comments)}
		if slices.ContainsFunc(comments, func(c model.Comment) bool { return c.Ours }) { // else it is a person who looks, and whose edits count like anybody's
			scope.Viewer = said.Viewer.Login
		}
		if _, err := Learn(ctx, w, repo, w.Codec.Fold(comments, scope).Elsewhere); err != nil {
			return nil, err
		}
		scope.Formerly = Formerly(w, repo)
		entries = append(entries, w.Codec.Log(comments, scope)...)
	}
	journal.SortLog(entries)
	return entries, nil
}
