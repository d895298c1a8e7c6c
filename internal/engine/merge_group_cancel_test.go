package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// cancels lets carol take the request back, and gives the reply.
func (g *grouped) cancels() (model.Event, string) {
	g.t.Helper()
	ev := g.say("carol", "/mergexo merge cancel")
	g.take(ev)
	said := g.marked("command", "")
	require.NotEmpty(g.t, said)
	return ev, said[len(said)-1]["body"].(string)
}

// Who cancels a group that a run has begun to land cancels the rest. What has landed stays, and is told as landed.
func TestMergeGroupThatIsCalledOffOnceItHasBegunToLand(t *testing.T) {
	t.Parallel()
	halt := func(g *grouped) (resume func()) { // the run says that the rest cannot land
		g.put("main", ".github/mergexo.toml", "[merge\n")
		return func() { g.mergedBy("rebase") }
	}
	t.Run("where it was requested", func(t *testing.T) {
		g := newGroup(t)
		ev := g.landsInPart()
		resume := halt(g)
		g.take(ev)
		require.Equal(t, []string{"merging GROUP_MEMBER"}, g.merges())
		resume()
		there := g.main()
		ev, reply := g.cancels()
		assert.Contains(t, reply, "**Cancelled**")
		assert.NotContains(t, reply, "Nothing was merged")
		assert.Equal(t, there, g.main())
		assert.Equal(t, "merged open", g.badges())
		g.requested("done", "**Merged**", "carol cancelled the rest: octo/client#1.")
		g.toldThere(`"state":"merge_failed"`, `"reason":"CANCELLED"`)
		assert.NotContains(t, g.said()[0]["body"], "Nothing was merged")
		assert.Empty(t, g.stages())
		here := g.words()
		assert.Equal(t, model.ResultNothing, g.take(ev).Result)
		assert.Equal(t, here, g.words())
		g.asksThere()
		assert.Equal(t, "merged merged", g.badges(), "it can be asked for alone")
	})
	t.Run("neither", func(t *testing.T) {
		g := newGroup(t).landsNothing()
		g.diesBeforeItLands()
		g.cancels()
		g.requested("merge_failed CANCELLED", "Neither `main` nor the branch was changed")
		g.toldThere(`"reason":"CANCELLED"`, "Neither `main` nor the branch was changed")
	})
}

// asksThere lets carol ask for the merge of the other one alone.
func (g *grouped) asksThere() {
	g.t.Helper()
	g.later(time.Minute)
	g.api("carol", "POST", fmt.Sprintf("%s/issues/%d/comments", client, g.theirs), object{"body": "/mergexo merge"})
	g.take(g.delivery("issue_comment"))
}

// A part that cannot be read may have landed. The request that was cancelled says so, lands nothing, and ends once it is known.
func TestMergeGroupThatIsCalledOffWhileAPartCannotBeRead(t *testing.T) {
	t.Parallel()
	waits := func(g *grouped) {
		g.t.Helper()
		g.put("main", ".github/mergexo.toml", "[merge\n")
		here, there := g.at("main"), g.main()
		ev, reply := g.cancels()
		assert.Contains(g.t, reply, "**Cancelled**")
		g.requested("merging CANCELLED", "octo/client#1", "cannot be read")
		assert.NotContains(g.t, g.words(), "Nothing was changed")
		assert.NotContains(g.t, g.words(), "cancelled the rest")
		said := g.marked("merge", "")
		g.later(time.Minute)
		g.take(ev)
		assert.Equal(g.t, said, g.marked("merge", ""), "it is said once")
		assert.Equal(g.t, []string{here, there}, []string{g.at("main"), g.main()})
		g.mergedBy("rebase")
		there = g.main()
		g.token = "sandbox-octo"
		g.recoverBySweep()
		g.token = ""
		assert.Equal(g.t, []string{here, there}, []string{g.at("main"), g.main()})
	}
	t.Run("which has landed", func(t *testing.T) {
		g := newGroup(t)
		g.turnRound()
		g.landsThereUnsaid()
		waits(g)
		assert.Equal(t, "open merged", g.badges())
		g.requested("merge_failed CANCELLED", "already merged and stay")
		g.toldThere(`"state":"done"`)
	})
	t.Run("which has not landed", func(t *testing.T) {
		g := newGroup(t)
		g.landsInPart()
		waits(g)
		assert.Equal(t, "merged open", g.badges())
		g.requested("done", "carol cancelled the rest: octo/client#1.")
		g.toldThere(`"reason":"CANCELLED"`)
	})
}

// A group that waits again has told its members that they are to be merged, and tells them that they are not. They can be asked
// for alone.
func TestMergeGroupThatWaitsAgainIsOverForItsMembers(t *testing.T) {
	g := newGroup(t)
	label := fmt.Sprintf("%s/issues/%d/labels", client, g.theirs)
	frozen := false
	g.gate.at = func(int, *http.Request) fate {
		if !frozen && len(g.said()) > 0 {
			frozen = true
			g.send("octo", "POST", label, object{"labels": []string{"mergexo:freeze"}})
		}
		return passes
	}
	g.gate.after = func(int) { g.gate.at(0, nil) }
	g.request()
	require.True(t, frozen)
	assert.Equal(t, []string{"in_approval FROZEN"}, g.merges())
	g.toldThere(`"state":"merge_failed"`, "Nothing was merged")
	g.cancels()
	g.send("octo", "DELETE", label+"/mergexo:freeze", nil)
	g.asksThere()
	assert.Equal(t, "open merged", g.badges())
}

// takenUp lets another run take the request up.
func (g *grouped) takenUp() {
	g.t.Helper()
	said := g.marked("merge", "")[0]
	body := said["body"].(string)
	for name, other := range map[string]string{`"run":`: "990", `"claim":`: `"another"`} {
		before, rest, _ := strings.Cut(body, name)
		body = before + name + other + rest[strings.IndexAny(rest, ",}"):]
	}
	g.api("octo", "PATCH", g.path(fmt.Sprintf("/issues/comments/%d", said.id())), object{"body": body})
}

// The run that cancels looks once more whether another run is at the merge: it may have taken it up since the command was answered.
func TestMergeGroupThatIsCalledOffWhileAnotherRunTakesItUp(t *testing.T) {
	g := newGroup(t)
	g.landsInPart()
	g.before(requests(http.MethodPost, "octo/widgets/issues/1/comments"), g.takenUp)
	g.cancels()
	assert.Equal(t, []string{"merging"}, g.merges(), "it is that run's")
	assert.Contains(t, g.said()[0]["body"], `"state":"merging"`)
}

// A run that cannot land the rest leaves the request alone where another run has taken it up.
func TestMergeGroupWhoseRestFailsInARunThatHasLostIt(t *testing.T) {
	g := newGroup(t)
	g.before(g.restLands(), func() {
		g.world.put("/_sandbox/protection", object{"repository": "octo/client", "branch": "main", "push": []string{"alice"}})
		g.takenUp()
	})
	_, rep := g.request()
	assert.Equal(t, "merged open", g.badges(), rep.Reason)
	g.requested("merging", `"claim":"another"`)
}

// What a request that is gone has left on a member ends with the next request there.
func TestMergeGroupThatLeftAWordOnAMember(t *testing.T) {
	g := newGroup(t)
	g.diesBeforeItLands()
	g.api("octo", "DELETE", g.path(fmt.Sprintf("/issues/comments/%d", g.marked("merge", "")[0].id())), nil)
	g.later(20 * time.Hour)
	g.asksThere()
	assert.Equal(t, "open merged", g.badges())
	assert.Contains(t, g.said()[0]["body"], "**Replaced**")
}
