package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// mergedBy sets the strategy of the other repository.
func (g *grouped) mergedBy(strategy string) {
	g.t.Helper()
	g.put("main", ".github/mergexo.toml", fmt.Sprintf("[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\nstrategy = %q\n", strategy))
}

// diesAt lets the process die at the first write that is the one, before or after it.
func (g *grouped) diesAt(f fate, is func(*http.Request) bool) model.Event {
	g.t.Helper()
	g.gate.when(f, is)
	ev, _ := g.request()
	require.True(g.t, g.gate.died())
	g.gate.revive()
	return ev
}

// What GitHub has merged of a group in a run that died is recognized by the strategy that was recorded, whatever the settings say
// by now, and so is what we have landed ourselves.
func TestMergeGroupKnowsALandingWhoseStrategyIsAnotherByNow(t *testing.T) {
	landedThere := func(r *http.Request) bool {
		there := strings.Contains(r.URL.Path, "octo/client")
		return there && (strings.HasSuffix(r.URL.Path, "/merge") || strings.HasSuffix(r.URL.Path, "git-receive-pack"))
	}
	type row struct{ was, now string }
	every(t, []row{{"api", "rebase"}, {"no-ff", "squash"}}, func(t *testing.T, c row) {
		g := newGroup(t)
		g.mergedBy(c.was)
		seen := false
		ev := g.diesAt(diesAfter, func(r *http.Request) bool {
			if landedThere(r) && (c.was == "api" || seen) { // the lock is a push before the landing
				return true
			}
			seen = seen || landedThere(r)
			return false
		})
		landed := g.main()
		g.mergedBy(c.now)
		g.recover(ev)
		g.together()
		g.toldThere("into `main` "+byWay(c.was), landed[:7])
	})
}

// words are what the comment of the request says.
func (g *grouped) words() string { return g.world.request() }

// What is recorded as landed keeps the strategy that it landed by, in the last words on either pull request.
func TestMergeGroupTellsHowAMemberLandedThatWasRecorded(t *testing.T) {
	g := newGroup(t)
	g.mergedBy("no-ff")
	words := requests(http.MethodPatch, "octo/client/issues/comments") // the last ones there come once all has been recorded
	ev := g.diesAt(diesFirst, func(r *http.Request) bool { return words(r) && strings.HasSuffix(g.badges(), " merged") })
	require.Contains(t, g.words(), fmt.Sprintf("octo/client#%d", g.theirs))
	g.mergedBy("rebase")
	g.recover(ev)
	g.together()
	assert.Contains(t, g.said()[0]["body"], "into `main` with a merge commit")
	assert.Contains(t, g.words(), "into `main` by rebase")
}

// GitHub's merge queue lands one pull request at a time, and what it protects is not landed past it.
func TestMergeGroupWithAMemberThatTheMergeQueueMerges(t *testing.T) {
	g := newGroup(t)
	g.mergedBy("github-queue")
	g.world.put("/_sandbox/protection", object{"repository": "octo/client", "branch": "main", "ruleset": 42, "queue": "SQUASH"})
	_, rep := g.landsNothing().request()
	assert.NotEqual(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, "open open", g.badges())
	assert.Contains(t, g.words(), "merge queue")
	assert.Contains(t, g.words(), "octo/client#1")
}

// The part that has landed is not forgotten where another one cannot be read by now: the request stays open, and the rest lands once
// it can be read again.
func TestMergeGroupKeepsAPartThatLandedWhereAnotherCannotBeRead(t *testing.T) {
	type row struct {
		landed string
		dies   func(g *grouped) model.Event
		rights bool // they are what is missing, and not the settings
	}
	each(t, map[string]row{
		"the first has landed":                   {"merged open", (*grouped).landsInPart, true},
		"the one that cannot be read has landed": {"open merged", (*grouped).landsInPart, false},
		"nobody has said yet that it has landed": {"open merged", (*grouped).landsThereUnsaid, false},
	}, func(t *testing.T, _ string, c row) {
		g := newGroup(t)
		g.may("bob", "admin")
		g.becomes("bob", "admin").resets("[repo]", "[repo]\nbots = [\"octo\", \"bob\"]")
		if c.landed == "open merged" {
			g.turnRound()
		}
		ev := c.dies(g)
		require.Equal(t, c.landed, g.badges())
		if c.rights {
			g.may("bob", "none")
		} else {
			g.put("main", ".github/mergexo.toml", "[merge\n")
		}
		rep := g.by(g.engineAs("sandbox-bob"), ev)
		g.over(g.runs)
		assert.Equal(t, []string{"merging GROUP_MEMBER"}, g.merges(), rep.Reason)
		assert.Contains(t, g.words(), "octo/client")
		g.may("bob", "admin")
		g.mergedBy("rebase")
		g.take(ev)
		g.together()
	})
}

// byWay is how a comment tells a strategy.
func byWay(strategy string) string {
	return map[string]string{"no-ff": "with a merge commit"}[strategy] + map[bool]string{false: "by " + strategy}[strategy == "no-ff"]
}

// So it is with a request of its own: what landed in a run that died is told as it landed.
func TestMergeTellsTheStrategyByWhichADeadRunLanded(t *testing.T) {
	w := newMerge(t, `strategy = "api"`)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	before := w.at("main")
	w.gate.when(diesFirst, func(_ *http.Request) bool { return w.at("main") != before })
	ev := w.say("carol", "/mergexo merge")
	w.dies(ev)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), "api", "rebase", 1))
	w.recover(ev)
	w.requested("done", "into `main` by api")
}

// diesBeforeItLands lets the process die once it has said on both pull requests what is to land.
func (g *grouped) diesBeforeItLands() model.Event {
	g.t.Helper()
	return g.diesAt(diesFirst, func(r *http.Request) bool {
		return strings.Contains(r.URL.Path, "git-receive-pack") && len(g.said()) > 0
	})
}

// A member whose strategy its repository refuses by now is told, as it is of one that was never usable.
func TestMergeGroupWhoseRestMayNotBeMergedThatWayByNow(t *testing.T) {
	t.Parallel()
	linear := func(g *grouped, on bool) {
		g.world.put("/_sandbox/protection", object{"repository": "octo/client", "branch": "main", "linear": on})
	}
	t.Run("a part has landed", func(t *testing.T) {
		g := newGroup(t)
		g.mergedBy("no-ff")
		ev := g.landsInPart()
		linear(g, true)
		there := g.main()
		g.blocked("STRATEGY_UNUSABLE", g.take(ev))
		assert.Equal(t, there, g.main())
		g.requested("merging STRATEGY_UNUSABLE", "octo/client#1", "linear history", "already merged and stay")
		linear(g, false)
		g.take(ev)
		g.together()
	})
	t.Run("nothing has landed", func(t *testing.T) {
		g := newGroup(t)
		g.mergedBy("no-ff")
		ev := g.landsNothing().diesBeforeItLands()
		linear(g, true)
		g.blocked("STRATEGY_UNUSABLE", g.take(ev))
		g.requested("merge_failed STRATEGY_UNUSABLE", "linear history")
		g.toldThere(`"state":"merge_failed"`, "linear history")
	})
}
