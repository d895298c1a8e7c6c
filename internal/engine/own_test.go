package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
)

const (
	ourName   = "github-actions[bot]"
	takenNote = "> `removed from the agent's commit messages: closing keywords, control characters, mentions, trailers of MergeXO's own, trailers that name people, words that skip checks`"
)

func TestCommitsOfAnAgentAreOursAndSayNothingElse(t *testing.T) {
	w := newWorld(t)
	before := w.tip()
	w.agent = "posing"
	w.done(w.handle(w.remark("alice", "Pose.")))
	said, _, _ := strings.Cut(w.bare("log", "-1", "--format=%B", w.head), "\n\nMergeXO-Turn: ") // on a pull request it says which turn it is of
	assert.Equal(t, "Go on", said)
	assert.Equal(t, "Pose (skip ci)\n\nFixes\u200b #\u200b1, thanks to @\u200bocto/team", w.bare("log", "-1", "--format=%B", w.head+"~1"))
	for _, rev := range []string{w.head, w.head + "~1"} {
		assert.Equal(t, ourName+"|"+ourName, w.bare("log", "-1", "--format=%an|%cn", rev))
	}
	assert.Equal(t, "posing\nmore\n", w.file("posing.txt"))
	assert.Equal(t, before, w.bare("rev-parse", w.head+"~2"))
	assert.Contains(t, w.saidOnce("turn", "done"), takenNote)
}

// What another job hands over is not believed: it may have put anybody's name there.
func TestCommitsThatAreHandedOverAreMadeOurs(t *testing.T) {
	w, ev, dir := answerOver(t)
	start := w.tip()
	forged(func(w *world) { w.write("alice", "forged", "forged.txt", "x\n") })(t, w, dir)
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	assert.Equal(t, ourName+"|"+ourName+"|Write forged.txt", w.bare("log", "-1", "--format=%an|%cn|%s", w.head))
	assert.Equal(t, start, w.bare("rev-parse", w.head+"~1"))
}

func TestCommitsOfAnAgentThatStoppedHalfWayAreOursToo(t *testing.T) {
	w := newWorld(t).whoseAgent("posing+fail")
	w.handle(w.remark("alice", "Pose."))
	kept := w.checkpoints()
	require.Len(t, kept, 1)
	assert.Equal(t, ourName+"|"+ourName+"|Pose (skip ci)", w.bare("log", "-1", "--format=%an|%cn|%s", kept[0]+"~1"))
}

func TestWhatAnAgentSaysHidesNothingAndCallsNobody(t *testing.T) {
	w := newWorld(t).whoseAgent("answer+shouting")
	w.done(w.handle(w.remark("alice", "Shout.")))
	assert.Contains(t, w.receipt(), "\n\nAsk @alice, @\u200bocto/team and @\u200beveryone. &lt;details>\n\n| feedback | answer |\n| --- | --- |\n| all | done |\n\n```\n@Override\n```\n\n| feedback | answer |\n| --- | --- |\n| [`greeting.txt` line 2]")
	require.Len(t, w.replies(), 1)
	assert.Contains(t, w.replies()[0]["body"], "&lt;!-- @\u200bmallory\n~~~\n~~~\n")
}

func TestLinesOfACommitMessageEndAsGitEndsThem(t *testing.T) {
	w := newWorld(t).whoseAgent("windows")
	w.done(w.handle(w.remark("alice", "Write.")))
	log := w.bare("log", "--format=%B", "main.."+w.head)
	assert.NotContains(t, log, "\r")
	for _, subject := range []string{"Own", "Asked"} {
		assert.Contains(t, log, subject+"\n\nMore\nand more\n")
	}
}
