package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// staged makes a hidden ref for a turn on a number.
func (w *world) staged(number int, key string) {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": fmt.Sprintf("refs/mergexo/turn/%d/%s", number, key), "sha": w.at("main")})
}

func TestTheStageOfAnIssueThatIsClosedGoesOnceItsTurnHasAReceipt(t *testing.T) {
	w := newIssue(t)
	require.Equal(t, model.ResultDone, w.handle(w.label("alice", smallJob)).Result)
	done := w.marked("issue", "done")
	require.NotEmpty(t, done)
	key := regexp.MustCompile(`"key":"(\w+)"`).FindStringSubmatch(done[0]["body"].(string))[1]
	w.staged(w.number, key)
	w.staged(w.number, "of-another-turn")
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/%d", w.number)), object{"state": "closed"})
	w.sweep()
	stages := strings.Join(w.stages(), " ")
	assert.NotContains(t, stages, key)
	assert.Contains(t, stages, "of-another-turn", "nobody has said that it may go")
}

// People talk on, so that what MergeXO said is on no page that a sweep reads of all pull requests.
func TestAnAdoptedPullRequestIsFoundBehindALongTalk(t *testing.T) {
	w := newWorld(t)
	w.number, w.head = w.second("human/b", "b.txt"), "human/b"
	w.orders("carol", "/mergexo adopt")
	w.chatter(40)
	w.talk("alice", "Do this.") // whose event gets lost
	swept := w.sweep()
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Len(t, swept.Board.Pulls, 2)
	assert.Zero(t, swept.Board.Untracked)
	w.rests()
}
