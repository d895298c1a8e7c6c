package thread

import (
	"context"
	"fmt"
	"maps"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Posted is all that was ever said on the lines of a pull request, and the tokens of ours there.
type Posted struct {
	Comments []model.Comment
	Tokens   map[string]int64
}

// ReadReviews reads all reviews of a pull request, however long ago they were settled: by what is known already where that is
// all, else by requests of their own.
func ReadReviews(ctx context.Context, t *Thread) (Posted, error) {
	if t.Snap.CommentsComplete {
		return Posted{t.Snap.Comments, t.State.Tokens}, nil
	}
	settled := func(s model.Snapshot, _ []model.Comment) (model.Mark, bool) { return model.Mark{At: s.ReadAt}, true }
	snap, err := t.GitHub.Threads.Snapshot(ctx, github.Query{Repo: t.Event.Repo, Number: t.Event.Number, Reviews: true, Settled: settled})
	if err != nil {
		return Posted{}, err
	}
	comments := journal.Attribute(snap.Comments, t.Scope())
	tokens := maps.Clone(t.Codec.Fold(comments, t.Scope()).Tokens)
	maps.Copy(tokens, t.State.Tokens)
	return Posted{comments, tokens}, nil
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
