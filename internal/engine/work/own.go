package work

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Own makes the commits between base and head ours, whoever their agent said made them: those that the server does not have
// on a branch that was fetched. What was taken out of their messages is said.
func Own(ctx context.Context, w *Work, base, head string) (checkout.Recommitted, error) {
	done, taken, err := recommit(ctx, w, w.Checkout, base, head)
	if err == nil {
		tellTaken(w, taken)
	}
	return done, err
}

// recommit is Own in a view of the checkout; it tells people nothing.
func recommit(ctx context.Context, w *Work, c *git.Checkout, base, head string) (done checkout.Recommitted, taken []string, err error) {
	done, err = checkout.Recommit(ctx, c, base, head, history.FetchedTips(c), func(message string) string {
		if shown := redact.Message(context.WithoutCancel(ctx), w.Thread, message); shown != markdown.Printable(message) {
			message, taken = shown, append(taken, "secrets")
		}
		if text := redact.Unaddressed(w.Thread, message); text != message {
			message, taken = text, append(taken, "links to what the agent may not reach")
		}
		text, out := flow.Message(message, closedBy(w))
		taken = append(taken, out...)
		return text
	})
	if sprawl, forged := (*git.ErrTreeLimits)(nil), (*history.ErrUnverified)(nil); errors.As(err, &sprawl) || errors.As(err, &forged) {
		return done, nil, Blocked(w, model.ReasonForbidden, err.Error())
	}
	if err == nil && done.Head != head {
		slices.Sort(taken)
		taken = slices.Compact(taken)
		w.Log.Info("commits_made_ours", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "was", head, "head", done.Head, "taken_out", strings.Join(taken, ", "))
	}
	return done, taken, err
}

// OwnHere is own for what the checkout is at, which moves along.
func OwnHere(ctx context.Context, w *Work, base, head string) (string, error) {
	done, err := Own(ctx, w, base, head)
	if w.Made = done; err == nil {
		err = checkout.Follow(ctx, w.Checkout, done)
	}
	return done.Head, err
}

const takenOut = "removed from the agent's commit messages: "

// tellTaken tells people in one note what was taken out of the messages of an agent's commits.
func tellTaken(w *Work, taken []string) {
	if len(taken) == 0 {
		return
	}
	at := slices.IndexFunc(w.Notes, func(n string) bool { return strings.HasPrefix(n, takenOut) })
	if at < 0 {
		Note(w, takenOut+strings.Join(taken, ", "))
		return
	}
	all := append(strings.Split(strings.TrimPrefix(w.Notes[at], takenOut), ", "), taken...)
	slices.Sort(all)
	w.Notes[at] = takenOut + strings.Join(slices.Compact(all), ", ")
}

// closedBy is the number that commits may close: what they are for, unless they only design what is to be done, or are those of a branch
// of this repository, which has a pull request of its own.
func closedBy(w *Work) int {
	if w.Issue != nil && w.Issue.Flow.Document() || w.Snap.IsPull() && !w.Snap.Pull.CrossRepo {
		return 0
	}
	return w.Event.Number
}
