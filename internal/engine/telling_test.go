package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What people read where something stands still says why, in words.

func TestATurnThatAPersonTakesOverSaysSoAndWaits(t *testing.T) {
	w, ev := commented(t)
	w.meanwhile(deed{"carol", "POST", w.thread("/labels"), `{"labels": ["agent:ignore"]}`})
	w.gives(model.ResultNothing, w.handle(ev))
	parked := w.saidOnce("turn", "planned")
	assert.Contains(t, parked, "label \"agent:ignore\" is on the pull request: a person has taken over")
	assert.Contains(t, parked, "Nothing was pushed. Once that has changed, the next event continues from here.")
	w.later(time.Minute)
	w.takesOff("carol", "agent:ignore")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.settled(1, 1, 1)
	assert.Equal(t, 1, w.calls(), "its work was recorded")
}

func TestAnAgentIsToldOfGuidelinesThatThereAre(t *testing.T) {
	w := newWorld(t, `coding_guidelines = "docs/rules.md"`).whoseAgent("rules")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Say your rules.")).Result)
	assert.NotContains(t, w.marked("turn", "done")[0]["body"], "coding guidelines")
	assert.Contains(t, w.logged.String(), "guidelines_missing")

	w.write("alice", w.head, "docs/rules.md", "Be kind.\n")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Say your rules again.")).Result)
	assert.Contains(t, w.marked("turn", "done")[1]["body"], "Follow the coding guidelines in docs/rules.md.")
}

// told are the comments that say that the settings cannot be used.
func (w *world) told() []object { w.t.Helper(); return w.marked("settings", "") }

// refused lets a new process take an event that ends with wrong settings.
func (w *world) refused(ev model.Event) {
	w.t.Helper()
	_, err := w.engine().Handle(context.Background(), ev)
	w.over(w.runs)
	require.ErrorIs(w.t, err, config.ErrInvalid)
}

func TestSettingsThatDoNotHoldAreSaidOnce(t *testing.T) {
	w := newWorld(t)
	good := w.fileOf("main", ".github/mergexo.toml")
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(good, "[repo]\n", "[repo]\ntracks = 1\n", 1))
	w.refused(w.say("eve", "Hello."))
	assert.Empty(t, w.told(), "a stranger cannot mend them")

	ev := w.remark("alice", "Answer me.")
	for range 2 {
		w.refused(ev)
		require.Len(t, w.told(), 1)
	}
	assert.Contains(t, w.told()[0]["body"], "main:.github/mergexo.toml:2: repo.tracks: ")

	w.write("octo", "main", ".github/mergexo.toml", "[repo]\ntrack = 1\n")
	w.refused(ev)
	require.Len(t, w.told(), 2, "something else is wrong now")

	w.write("octo", "main", ".github/mergexo.toml", good)
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.settled(1, 1, 1)
	assert.Equal(t, 1, w.calls())
}

func TestSettingsAreSaidOnceWhateverHappensMeanwhile(t *testing.T) {
	broken := func(t *testing.T) (*world, model.Event) {
		w, ev := commented(t)
		w.write("octo", "main", ".github/mergexo.toml", "[")
		return w, ev
	}
	each(t, map[string]fate{"before": diesFirst, "after": diesAfter, "unclear": unclear, "lost": lost}, func(t *testing.T, _ string, f fate) {
		t.Parallel()
		w, ev := broken(t)
		w.gate.only(1, f)
		_, _ = w.engine().Handle(context.Background(), ev)
		w.gate.revive()
		w.refused(ev)
		assert.Len(t, w.told(), 1)
	})
	t.Run("two at once", func(t *testing.T) {
		t.Parallel()
		w, ev := broken(t)
		w.beforeWriting(func() { w.refused(ev) })
		w.refused(ev)
		assert.Len(t, w.told(), 1)
	})
	t.Run("under another token", func(t *testing.T) {
		w := newWorld(t)
		w.handle(w.delivery("pull_request"))
		w.review("alice", "Answer me.")
		w.write("octo", "main", ".github/mergexo.toml", "[")
		require.ErrorIs(t, must.Err(w.engineAs("sandbox-octo").Handle(context.Background(), w.delivery("pull_request_review_comment"))), config.ErrInvalid)
		assert.Empty(t, w.told())
	})
	t.Run("on a branch that is nobody's", func(t *testing.T) {
		w := newWorld(t)
		w.number = w.another("feature")
		w.write("octo", "main", ".github/mergexo.toml", "[")
		w.refused(w.say("alice", "Nice."))
		assert.Empty(t, w.told())
		w.refused(w.say("alice", "/mergexo status"))
		assert.Len(t, w.told(), 1, "whoever gives a command waits for an answer")
	})
}
