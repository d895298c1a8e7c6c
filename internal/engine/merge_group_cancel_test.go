package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// cancels lets carol take the request back, and gives the reply.
func (g *grouped) cancels() (model.Event, string) {
	g.t.Helper()
	g.talk("carol", "/mergexo merge cancel")
	ev := g.delivery("issue_comment")
	g.take(ev)
	said := g.marked("command", "")
	require.NotEmpty(g.t, said)
	return ev, said[len(said)-1]["body"].(string)
}

// Who cancels a group that a run has begun to land cancels the rest. What has landed stays, and is told as landed.
func TestMergeGroupThatIsCancelledOnceItHasBegunToLand(t *testing.T) {
	t.Parallel()
	halt := func(g *grouped) (resume func()) { // the run says that the rest cannot land
		g.put("main", ".github/mergexo.toml", "[merge\n")
		return func() { g.mergedBy("rebase") }
	}
	t.Run("where it was requested", func(t *testing.T) {
		t.Parallel()
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
		assert.Equal(t, []string{"merged", "open"}, g.badges())
		assert.Equal(t, there, g.main())
		assert.Equal(t, []string{"done"}, g.merges())
		assert.Contains(t, g.words(), "**Merged**")
		assert.Contains(t, g.words(), "carol cancelled the rest: octo/client#1.")
		require.Len(t, g.said(), 1)
		assert.Contains(t, g.said()[0]["body"], `"state":"merge_failed"`)
		assert.Contains(t, g.said()[0]["body"], `"reason":"CANCELLED"`)
		assert.NotContains(t, g.said()[0]["body"], "Nothing was merged")
		assert.Empty(t, g.stages())
		here := g.words()
		assert.Equal(t, model.ResultNothing, g.take(ev).Result)
		assert.Equal(t, here, g.words())
		g.later(time.Minute)
		g.api("carol", "POST", fmt.Sprintf("%s/issues/%d/comments", client, g.theirs), object{"body": "/mergexo merge"})
		g.take(g.delivery("issue_comment"))
		assert.Equal(t, []string{"merged", "merged"}, g.badges(), "it can be asked for alone")
	})
	t.Run("the other one", func(t *testing.T) {
		t.Parallel()
		g := newGroup(t)
		g.turnRound()
		ev := g.landsInPart()
		here := g.at("main")
		ev, reply := g.cancels()
		assert.Contains(t, reply, "**Cancelled**")
		assert.NotContains(t, reply, "Nothing was merged")
		assert.Equal(t, []string{"open", "merged"}, g.badges())
		assert.Equal(t, here, g.at("main"))
		assert.Equal(t, []string{"merge_failed CANCELLED"}, g.merges())
		assert.Contains(t, g.words(), "octo/client#1")
		assert.NotContains(t, g.words(), "Nothing was changed")
		require.Len(t, g.said(), 1)
		assert.Contains(t, g.said()[0]["body"], `"state":"done"`)
		assert.Contains(t, g.said()[0]["body"], "**Merged**")
		g.take(ev)
		assert.Equal(t, here, g.at("main"))
	})
	t.Run("neither", func(t *testing.T) {
		t.Parallel()
		g := newGroup(t)
		here, there := g.at("main"), g.main()
		g.diesBeforeItLands()
		g.cancels()
		assert.Equal(t, []string{here, there}, []string{g.at("main"), g.main()})
		assert.Equal(t, []string{"merge_failed CANCELLED"}, g.merges())
		assert.Contains(t, g.words(), "Nothing was changed")
		require.Len(t, g.said(), 1)
		assert.Contains(t, g.said()[0]["body"], `"reason":"CANCELLED"`)
		assert.Contains(t, g.said()[0]["body"], "Nothing was changed")
	})
}
