package thread

import (
	"context"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// MergeAtWork reports whether the process behind a merge is still working.
func MergeAtWork(ctx context.Context, t *Thread, m model.Posted[model.MergeMarker]) (bool, error) {
	repo := t.Event.Repo
	if leader, _, led := strings.Cut(m.Marker.Leader, "#"); led { // whose repository has the run
		var err error
		if repo, err = model.ParseRepo(leader); err != nil {
			return false, err
		}
	}
	return busyIn(ctx, t, repo, m.CommentID, m.Marker.Lease)
}
