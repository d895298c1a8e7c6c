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

// Posted is all that was ever said on the lines of a pull request, and the tokens of ours there.
type Posted struct {
	Comments []model.Comment
	Tokens   map[string]int64
	State    model.PullState
	Reviews  []model.Posted[model.ReviewMarker] // that were asked for, as far as the conversation was read
}

// ReadReviews reads all reviews of a pull request, however long ago they were settled: by what is known already where that is
// all, else by requests of their own.
func ReadReviews(ctx context.Context, t *Thread) (Posted, error) {
	if t.Snap.ReviewsComplete {
		return Posted{t.Snap.Comments, t.State.Tokens, t.Snap.Pull.State, t.State.Reviews}, nil
	}
	return ReadReviewsAgain(ctx, t, t.Snap.ReadAt)
}

// ReadReviewsAgain reads all reviews of a pull request as they are now, and what was said in its conversation since a time.
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

// Settler says whose word settles a finding on the pull request: that of who may give the agent feedback or commands.
func Settler(t *Thread) review.Settler {
	s := review.Settler{May: func(login string) bool {
		return model.Named(t.Policy.AllowedUsers, login) || t.Operators.Listed(login) || t.Memory.Rights[strings.ToLower(login)] >= model.PermissionWrite
	}}
	if t.Snap.Pull.CrossRepo {
		s.Author = t.Snap.Pull.Author.Login
	}
	return s
}

// AskSettlers asks for the rights of those who say of findings of ours that they are settled, and whose rights are not known yet.
func AskSettlers(ctx context.Context, t *Thread, comments []model.Comment) error {
	return t.Ask(ctx, Settler(t).Settlers(comments))
}

// ReadyToken names the review that a pull request gets when it is ready.
func ReadyToken(number int) string {
	return journal.Token("review_auto", "ready", strconv.Itoa(number))
}

// ReadyLately says that the event that would have asked for a review of a pull request may have been lost. Older ones were there
// before the setting, or were a draft for long: a sweep does not begin to review them all.
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

// ReviewURL is where a review of the pull request is.
func ReviewURL(t *Thread, id int64) string {
	return fmt.Sprintf("%s#pullrequestreview-%d", t.Snap.Pull.URL, id)
}

// ReviewerSettings are the settings by which the agent runs that reviews.
func ReviewerSettings(s config.Settings) config.Settings {
	s.Agent = s.Reviewer()
	return s
}
