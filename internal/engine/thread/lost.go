package thread

import (
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/sweep"
)

// LostReplies are what receipts list and nobody can read.
func LostReplies(t *Thread) []sweep.Lost {
	return sweep.Missing(t.State, t.Snap.CommentsComplete, func(token string) bool { return t.State.Tokens[DriftToken(token)] != 0 })
}

// DriftToken names the report that an effect is no longer there.
func DriftToken(token string) string { return journal.Token("drift", token) }
