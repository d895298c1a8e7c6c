package engine_test

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// trouble is how an agent goes wrong, and what GitHub then shows.
type trouble struct {
	how     string
	result  model.Result
	blocked string // the reason of a block; "" for an attempt that failed
	says    string // in the one comment about it
	kept    []string
	beside  bool // what is kept was on another branch than the agent's
}

// shown holds that this trouble is all that GitHub shows: one comment that says it, nothing pushed or replied.
func (w *world) shown(c trouble, rep model.Report, before string) {
	w.t.Helper()
	assert.Equal(w.t, c.result, rep.Result, rep.Reason)
	assert.Equal(w.t, c.blocked, rep.BlockedReason)
	assert.Contains(w.t, rep.Reason, c.says)
	assert.Equal(w.t, before, w.tip(), "the branch")
	assert.Empty(w.t, w.replies())
	assert.Empty(w.t, w.stages())
	assert.Empty(w.t, w.marked("turn", "started"))
	said := w.marked("turn", "failed")
	require.Len(w.t, said, 1, "one comment for the turn")
	blocks := w.marked("block", "")
	if c.blocked != "" {
		require.Len(w.t, blocks, 1)
		said = blocks
	} else {
		assert.Empty(w.t, blocks)
	}
	body := said[0]["body"].(string)
	assert.Contains(w.t, body, c.says)
	assert.True(w.t, utf8.ValidString(body))
	assert.NotContains(w.t, body, "\x1b")
	if c.kept == nil {
		assert.Empty(w.t, w.checkpoints())
		return
	}
	branch, subjects := w.kept()
	assert.Equal(w.t, c.kept, subjects)
	if c.beside {
		assert.Contains(w.t, body, "which was not its branch; they were not pushed, but kept on branch "+branch)
		return
	}
	assert.Contains(w.t, body, w.linkOf(branch))
}

// recovers lets a good agent run, after an operator's unblock where one is needed, and holds that everything was answered
// exactly once.
func (w *world) recovers(ev model.Event, blocked bool) {
	w.t.Helper()
	w.agent = "answer"
	if blocked {
		ev = w.say("carol", "/mergexo unblock")
	}
	w.done(w.handle(ev))
	commits := len(w.commits()) - 1 // what an attempt had left is taken up
	w.settled(1, 1, commits)
	if !blocked {
		assert.Empty(w.t, w.marked("turn", "failed"), "the comment has become the receipt")
	}
	assert.Regexp(w.t, "^hello\nworld\n((changed|mine)\n)*answered\n$", w.file("greeting.txt"))
	assert.Contains(w.t, w.handle(ev).Reason, "nothing is pending")
	w.settled(1, 1, commits)
}

func TestWordsInAnotherEncodingAreStillAnAnswer(t *testing.T) {
	w := newWorld(t).whoseAgent("latin1")
	w.done(w.handle(w.remark("alice", "Answer me.")))
	w.settled(1, 1, 0)
	assert.Contains(t, w.replies()[0]["body"], "\uFFFD la carte")
	assert.Contains(t, w.receipt(), "Un caf\uFFFD, please")
}

// allocated is how many bytes this process has ever asked for.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestAFloodIsNotHeldInMemory(t *testing.T) {
	w := newWorld(t).whoseAgent("flood100")
	before := w.tip()
	ev := w.remark("alice", "Answer me.")
	used := allocated()
	rep := w.handle(ev)
	assert.Less(t, allocated()-used, uint64(96<<20), "less than was said, and all of the rest of the run is counted with it")
	w.shown(trouble{result: model.ResultFailed, says: "it wrote more than 8388608 bytes on stdout"}, rep, before)
	w.recovers(ev, false)
}

func TestNoiseIsNotHeldInMemory(t *testing.T) {
	w, ev := commented(t, "noise100+answer")
	used := allocated()
	rep := w.handle(ev)
	assert.Less(t, allocated()-used, uint64(96<<20), "less than was said, and all of the rest of the run is counted with it")
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.settled(1, 1, 1)
}

func TestAnAnswerForAnotherPullRequest(t *testing.T) {
	w := newWorld(t)
	mine, number, head := w.review("alice", "Answer me."), w.number, w.head
	ev := w.delivery("pull_request_review_comment")
	unheard := w.review("eve", "And me.")

	// Another pull request, with a comment of its own.
	w.number, w.head = w.openBeside("agent/other", "hello\nother\n"), "agent/other"
	other := w.review("alice", "Answer me there.")
	later, otherHead := w.delivery("pull_request_review_comment"), w.tip()

	w.number, w.head = number, head
	talk := w.talk("alice", "And me, in the conversation.")
	require.NoError(t, os.WriteFile(w.log+".foreign", fmt.Appendf(nil, "%d %d %d %d", mine, other, unheard, talk), 0o600))
	w.agent = "foreign"
	w.done(w.handle(ev))
	w.settled(1, 1, 0)
	assert.EqualValues(t, mine, w.replies()[0]["in_reply_to_id"], "the one that was right")
	for _, id := range []int64{other, unheard, talk} {
		assert.Contains(t, w.receipt(), fmt.Sprintf("> `%d is not a review comment of this turn", id))
	}
	w.number, w.head = int(later.Number), "agent/other"
	assert.Empty(t, w.replies(), "nobody was answered there")
	assert.Equal(t, otherHead, w.tip())
	w.agent = "answer"
	require.Equal(t, model.ResultDone, w.handle(later).Result)
	w.settled(1, 1, 1)
}

func TestARepliesLengthLosesNoTurn(t *testing.T) {
	w := newWorld(t).whoseAgent("answer+lengthy")
	w.done(w.handle(w.remark("alice", "Answer me.")))
	w.settled(1, 1, 1)
	body := w.replies()[0]["body"].(string)
	assert.LessOrEqual(t, len(body), 65536)
	assert.Contains(t, body, "The beginning. Long is the way.")
	assert.Contains(t, body, "cut")
	assert.Contains(t, body, "<!-- mergexo-action:", "the token is never cut")
}

func TestAProcessThatIsLeftBehindIsGone(t *testing.T) {
	w := newWorld(t).whoseAgent("answer+behind")
	gate := w.log + ".gate"
	for _, name := range []string{gate, gate + ".seen"} {
		require.NoError(t, syscall.Mkfifo(name, 0o600))
	}
	seen := make(chan *os.File, 1)
	go func() {
		f, err := os.Open(gate)
		assert.NoError(t, err)
		_, err = f.Read(make([]byte, 5))
		assert.NoError(t, err)
		assert.NoError(t, os.WriteFile(gate+".seen", nil, 0))
		seen <- f
	}()
	w.done(w.handle(w.remark("alice", "Answer me.")))
	f := <-seen
	defer f.Close()
	n, _ := f.Read(make([]byte, 1)) // as long as anybody has the other end open, this does not return
	assert.Zero(t, n)
	w.settled(1, 1, 1)
}
