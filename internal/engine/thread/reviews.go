package thread

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// Posted holds everything that was ever posted on the lines of a pull request, and our tokens there.
type Posted struct {
	Comments []model.Comment
	Tokens   map[string]int64
	State    model.PullState
	Reviews  []model.Posted[model.ReviewMarker] // that were asked for, as far as the conversation was read
}

// ReadReviews returns all reviews of a pull request, however old. If the snapshot has only some of them, it reads them again.
func ReadReviews(ctx context.Context, t *Thread) (Posted, error) {
	if t.Snap.ReviewsComplete {
		return Posted{t.Snap.Comments, t.State.Tokens, t.Snap.Pull.State, t.State.Reviews}, nil
	}
	return ReadReviewsAgain(ctx, t, t.Snap.ReadAt)
}

// ReadReviewsAgain reads all reviews of a pull request, and its conversation since a time.
func ReadReviewsAgain(ctx context.Context, t *Thread, since time.Time) (Posted, error) {
	settled := func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: since}, true }
	snap, err := t.GitHub.Threads.Snapshot(ctx, github.Query{Repo: t.Event.Repo, Number: t.Event.Number, Reviews: true, Settled: settled})
	if err != nil {
		return Posted{}, err
	}
	snap = t.Applier().Overlay(snap, t.Event.Repo, t.Event.Number)
	comments := journal.Attribute(snap.Comments, Scope(t))
	st := t.Codec.Fold(comments, Scope(t))
	tokens := maps.Clone(st.Tokens)
	maps.Copy(tokens, t.State.Tokens)
	return Posted{comments, tokens, snap.Pull.State, st.Reviews}, nil
}

// Settler returns the rule for who may settle a finding on the pull request: people who may give the agent feedback or commands.
func Settler(t *Thread) review.Settler {
	s := review.Settler{May: func(login string) bool {
		return model.Named(t.Policy.AllowedUsers, login) || t.Operators.Listed(login) || t.Memory.Rights[strings.ToLower(login)] >= model.PermissionWrite
	}}
	if t.Snap.Pull.CrossRepo {
		s.Author = t.Snap.Pull.Author.Login
	}
	return s
}

// AskSettlers asks for unknown rights of people who say that one of our findings is settled.
func AskSettlers(ctx context.Context, t *Thread, comments []model.Comment) error {
	return t.Ask(ctx, Settler(t).Settlers(comments))
}

// ReadyToken returns the token of the review that a pull request gets when it is ready.
func ReadyToken(number int) string {
	return journal.Token("review_auto", "ready", strconv.Itoa(number))
}

// ReadyLately reports whether a pull request is so young that the event that asks for its review may have been lost. A sweep does
// not begin to review older ones, which were there before the setting or were drafts for long.
func ReadyLately(p model.Pull, now time.Time) bool {
	return p.State == model.PullOpen && !p.Draft && !p.Author.Bot && now.Sub(p.CreatedAt) < 24*time.Hour
}

// askAlong has a reading ask for the rights of those who say of findings that they are settled, as far as there is room: in place of
// the author of the event, too, once that one's are known.
func askAlong(t *Thread, q *github.Query) {
	_, known := t.Memory.Rights[strings.ToLower(q.Author)]
	for _, login := range Settler(t).Settlers(t.Snap.Comments) {
		if _, asked := t.Memory.Rights[login]; asked {
			continue
		}
		switch {
		case q.Sender == "":
			q.Sender = login
		case known:
			q.Author, known = login, false
		}
	}
}

// ReviewURL returns the address of a review of the pull request.
func ReviewURL(t *Thread, id int64) string {
	return fmt.Sprintf("%s#pullrequestreview-%d", t.Snap.Pull.URL, id)
}

// ReviewerSettings returns the settings with the reviewer in place of the agent.
func ReviewerSettings(s config.Settings) config.Settings {
	s.Agent = s.Reviewer()
	return s
}
