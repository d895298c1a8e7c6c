package thread

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
)

// Asking is a request that a label makes in place of a command.
type Asking struct {
	Key, By string
	At      time.Time
	Heading string
}

// LabelAsks returns what a label on the pull request asks for, in the name of the person who added it. on reports whether a
// person did. what names the work in one word.
func LabelAsks(t *Thread, label, prefix, what string) (a Asking, on bool) {
	change, on := t.Snap.Pull.LabelledBy(label)
	return Asking{
		Key: journal.Token(prefix, change.Label, change.By.Login, change.At.UTC().Format(time.RFC3339)), By: change.By.Login, At: change.At,
		Heading: fmt.Sprintf("**%s** requested by the label `%s`, which %s added", what, markdown.Code(change.Label), markdown.Plain(change.By.Login)),
	}, on && !change.By.Bot && change.By.Login != ""
}

// MayAsk reports whether the person who added a label may give commands here.
func MayAsk(ctx context.Context, t *Thread, a Asking) (may bool, err error) {
	if err = t.Ask(ctx, []string{strings.ToLower(a.By)}); err == nil {
		if may = t.MayLetIn(a.By); !may {
			t.Log.Info("label_by_no_operator", "pr_number", t.Event.Number, "login", a.By)
		}
	}
	return may, err
}
