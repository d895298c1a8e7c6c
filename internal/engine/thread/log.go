package thread

import (
	"context"
	"log/slog"
	"strings"
)

// named is the log of a thread: a line about a pull request also names the issue that it is for, 0 for none, and a line about a turn
// the events that the turn answers.
type named struct {
	slog.Handler
	t *Thread
}

// Handle writes a line behind these names.
func (n named) Handle(ctx context.Context, r slog.Record) error {
	var names []slog.Attr
	if t := n.t; t.Snap.IsPull() {
		issue := sourceOf(t)
		if i := t.Snap.Pull.Issue; i != nil {
			issue = i.Number
		}
		names = append(names, slog.Int("issue_number", issue))
	}
	if events := n.t.Marker.Events; len(events) > 0 {
		names = append(names, slog.String("event_key", strings.Join(events, ",")))
	}
	return n.Handler.WithAttrs(names).Handle(ctx, r)
}
