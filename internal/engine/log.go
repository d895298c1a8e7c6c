package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// History lists what MergeXO did in a repository, or on one number of it, since a time: the newest first. It reads markers only, so
// closed pull requests and issues are part of it.
func (e *Engine) History(ctx context.Context, repo model.Repo, number int, since time.Time) ([]model.LogEntry, error) {
	said, err := e.GitHub.Threads.Said(ctx, github.LogQuery{Repo: repo, Number: number, Since: since, Want: journal.LooksMarked})
	if err != nil {
		return nil, err
	}
	var bots []string
	if said.SettingsFound {
		settings, err := config.ParseWithoutAgent(said.Settings, thread.SettingsPath)
		if err != nil {
			return nil, fmt.Errorf("find out which accounts are ours: %w", err)
		}
		bots = settings.Repo.Bots
	}
	entries := []model.LogEntry{}
	for number, comments := range said.Comments {
		scope := journal.Scope{Repo: repo, Number: number, Bots: thread.OnlookersTrust(bots, comments)}
		if slices.ContainsFunc(comments, func(c model.Comment) bool { return c.Ours }) { // else it is a person who looks, and whose edits count like anybody's
			scope.Viewer = said.Viewer.Login
		}
		if _, err := thread.Learn(ctx, &e.World, repo, e.Codec.Fold(comments, scope).Elsewhere); err != nil {
			return nil, err
		}
		scope.Formerly = thread.Formerly(&e.World, repo)
		entries = append(entries, e.Codec.Log(comments, scope)...)
	}
	journal.SortLog(entries)
	return entries, nil
}
