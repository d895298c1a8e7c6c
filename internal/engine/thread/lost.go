package thread

import (
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/sweep"
)

// LostReplies lists replies that receipts name and that are gone.
func LostReplies(t *Thread) []sweep.Lost {
	return sweep.Missing(t.State, t.Snap.CommentsComplete, func(token string) bool { return t.State.Tokens[DriftToken(token)] != 0 })
}

// DriftToken returns the token of the report that an effect is gone.
func DriftToken(token string) string { return journal.Token("drift", token) }
