package thread

import (
	"slices"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// ActionsBot writes the markers where the workflow's own token does the work.
const ActionsBot = "github-actions[bot]"

// Opened says that a pull request was opened by us, with this account or another one of ours.
func Opened(t *Thread, r model.PullRef) bool {
	return r.Ours || IsTrusted(t, r.Author)
}

// Trusted are the logins beside our own whose markers count. Who only looks sees what any bot has said as MergeXO, and what
// people have who may write: nothing is written by it.
func Trusted(t *Thread) []string {
	bots := t.Settings.Repo.Bots
	if !t.Onlooks {
		return bots
	}
	return OnlookersTrust(slices.Concat(bots, t.Beside), t.Snap.Comments)
}

// OnlookersTrust adds to the logins in bots those that count for somebody who only looks: every bot that wrote a marker.
func OnlookersTrust(bots []string, comments []model.Comment) []string {
	bots = append(slices.Clone(bots), ActionsBot)
	for _, c := range comments {
		if c.Author.Bot && journal.LooksMarked(c.Body) && !slices.Contains(bots, c.Author.Login) {
			bots = append(bots, c.Author.Login)
		}
	}
	return bots
}
