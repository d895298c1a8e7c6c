package thread

import (
	"slices"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// ActionsBot is the login that writes the markers when the workflow's own token does the work.
const ActionsBot = "github-actions[bot]"

// Opened reports whether MergeXO opened a pull request, with this account or another one of ours.
func Opened(t *Thread, r model.PullRef) bool {
	return r.Ours || IsTrusted(t, r.Author)
}

// Trusted lists the logins beside our own whose markers count. A caller that only reads also trusts every bot that wrote a
// marker, and accounts that have worked here. That is safe because it writes nothing.
func Trusted(t *Thread) []string {
	bots := t.Settings.Repo.Bots
	if !t.Onlooks {
		return bots
	}
	return OnlookersTrust(slices.Concat(bots, t.Beside), t.Snap.Comments)
}

// OnlookersTrust adds to bots the logins that a caller trusts that only reads: every bot that wrote a marker.
func OnlookersTrust(bots []string, comments []model.Comment) []string {
	bots = append(slices.Clone(bots), ActionsBot)
	for _, c := range comments {
		if c.Author.Bot && journal.LooksMarked(c.Body) && !slices.Contains(bots, c.Author.Login) {
			bots = append(bots, c.Author.Login)
		}
	}
	return bots
}
