package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said are the comments on the pull request in the other repository.
func (g *grouped) said() []object {
	g.t.Helper()
	return g.list("octo", fmt.Sprintf("%s/issues/%d/comments", client, g.theirs))
}

// saysThere lets carol say something there that asks for nothing, and a process take the event.
func (g *grouped) saysThere() {
	g.t.Helper()
	g.later(20 * time.Hour)
	g.api("carol", "POST", fmt.Sprintf("%s/issues/%d/comments", client, g.theirs), object{"body": "Looks fine."})
	g.take(g.delivery("issue_comment"))
}

// together says that both have landed, and that the request knows it.
func (g *grouped) together() {
	g.t.Helper()
	g.left("merged merged", "done")
	assert.Empty(g.t, g.stages())
}

// restLands matches the push that lands the other one, once this one has landed.
func (g *grouped) restLands() func(*http.Request) bool {
	here := g.at("main")
	return func(r *http.Request) bool {
		return isPush(r) && strings.Contains(r.URL.Path, "octo/client") && g.at("main") != here
	}
}

// A group whose second base moves after the first has landed is not undone: the next run lands the rest.
func TestMergeGroupGoesOnAfterAPartialLanding(t *testing.T) {
	g := newGroup(t)
	g.before(g.restLands(), func() { g.put("main", "late.txt", "late\n") })
	ev, _ := g.request()
	require.Equal(t, "merged", g.badge())
	g.gate.revive()
	g.take(ev)
	g.together()
}

// What a pull request depends on may have been merged before it.
func TestMergeGroupWithAMemberThatIsMergedAlready(t *testing.T) {
	g := newGroup(t)
	g.api("octo", "PUT", fmt.Sprintf("%s/pulls/%d/merge", client, g.theirs), object{"merge_method": "merge"})
	g.api("octo", "PATCH", g.pull(""), object{"body": fmt.Sprintf("It greets.\n\nDepends-on: octo/client#%d", g.theirs)})
	g.request()
	g.together()
}

// Two people ask for one group, on both of its pull requests, and two processes take it up in one moment.
func TestMergeGroupThatIsAskedForOnBothSides(t *testing.T) {
	g := newGroup(t)
	g.put("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\n[[merge.group]]\nname = \"both\"\nrepositories = [\"octo/widgets\", \"octo/client\"]\n")
	here := g.say("carol", "/mergexo merge")
	g.api("carol", "POST", fmt.Sprintf("%s/issues/%d/comments", client, g.theirs), object{"body": "/mergexo merge"})
	there := g.delivery("issue_comment")
	g.before(isPush, func() { g.by(g.engineAs("sandbox-octo"), there) })
	g.take(here)
	g.over(g.runs - 1)
	g.over(g.runs)
	g.take(here)
	g.take(there)
	assert.Equal(t, "merged merged", g.badges())
	assert.Empty(t, g.stages())
	landed := strings.Fields(g.bare("rev-list", "--author=octo", "--grep=greeting.txt", "main"))
	assert.Len(t, landed, 2, "the file, and the change of it once")
}

// Who asks for a group has to have the right in each of its repositories.
func TestMergeGroupNeedsTheRightInEachRepository(t *testing.T) {
	g := newGroup(t)
	g.api("octo", "POST", fmt.Sprintf("%s/pulls/%d/reviews", client, g.theirs), object{"event": "APPROVE"})
	g.may("carol", "none")
	_, rep := g.landsNothing().request()
	assert.Equal(t, "GROUP_MEMBER", rep.BlockedReason, rep.Reason)
}

// A group with a repository that has no settings lands nothing, and says why.
func TestMergeGroupWithARepositoryWithoutSettings(t *testing.T) {
	g := newGroup(t)
	g.api("octo", "DELETE", client+"/contents/.github/mergexo.toml", object{"message": "gone", "sha": g.blob("main", ".github/mergexo.toml"), "branch": "main"})
	g.landsNothing().request()
	require.Len(t, g.merges(), 1)
	assert.NotEqual(t, "merging", g.merges()[0], "nobody is at it")
	assert.Contains(t, g.marked("merge", "")[0]["body"], "octo/client")
}
