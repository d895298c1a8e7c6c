package turn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestWhatAnOperatorAbandonedIsATraceWhileItsWorkIsOnTheBranch(t *testing.T) {
	trace := model.Trace{Marker: model.AnswerMarker{Key: "k", Head: "2222", Events: []string{"e"}}}
	for name, c := range map[string]struct {
		abandoned bool
		commits   []string
		want      int
	}{
		"another head was named, and the work is gone":        {abandoned: true, commits: []string{"1111"}, want: 0},
		"another head was named, and the work is on the way":  {abandoned: true, commits: []string{"1111", "2222", "3333"}, want: 1},
		"no other head was named, and the commit is too old":  {commits: []string{"3333"}, want: 1},
		"another head was named, and no commit could be read": {abandoned: true, want: 0},
	} {
		trace.Abandoned = c.abandoned
		var snap model.Snapshot
		for _, sha := range c.commits {
			snap.Pull.Commits = append(snap.Pull.Commits, model.CommitText{SHA: sha})
		}
		assert.Len(t, turn.Lost(snap, model.State{}, []model.Trace{trace}), c.want, name)
	}
}
