package turns

import (
	"context"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// headLimit is how long GitHub may take to show a head that was pushed.
const headLimit = 10 * time.Second

// postReview posts what the reviewer of the turn has left to say. GitHub takes no comment on a commit before it shows that commit as
// the head. As a rule it does by now, and nothing is asked; where that takes long, all of it stands in the text.
func postReview(ctx context.Context, p *Pull) (note string, err error) {
	shown := func(ctx context.Context) error {
		_, _, err := p.GitHub.Pulls.Await(ctx, p.Event.Repo, p.Event.Number, headLimit, func(now model.PullNow) bool { return now.HeadSHA == p.Marker.Planned })
		return err
	}
	if p.Snap.Pull.HeadSHA == p.Marker.Planned {
		shown = nil
	}
	return PostReview(ctx, p.Thread, p.Marker, true, shown)
}

// resolve resolves the threads that the turn has answered, but for those in which somebody has gone on talking. It is a courtesy:
// what GitHub refuses is told in the receipt, and holds nothing up.
func resolve(ctx context.Context, p *Pull, answers []turn.Answer) (notes []string) {
	done := map[string]bool{}
	for _, a := range answers {
		c := a.Feedback
		node := p.Marker.Outbox.Resolves[c.ID]
		if c.Kind != model.KindReview || a.Gone || node == "" || done[node] {
			continue
		}
		open, resolved := turn.Resolvable(c.ID, p.Feedback, p.Snap.Comments)
		if !open {
			continue
		}
		done[node] = true
		token := journal.Token("resolve", p.Marker.Key, strconv.FormatInt(c.ID, 10))
		if resolved {
			thread.Applied(p.Thread, "resolve", strconv.FormatInt(c.ID, 10), token, effect.Present)
			continue
		}
		if _, err := p.Apply(ctx, effect.Resolve(c.ID, node, token)); err != nil {
			p.Log.Warn("thread_not_resolved", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "comment", c.ID, "error", err)
			if github.KindOf(err) == github.Forbidden { // so are all others
				return append(notes, "the threads could not be resolved: "+err.Error())
			}
		}
	}
	return notes
}
