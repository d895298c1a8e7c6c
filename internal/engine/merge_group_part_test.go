package engine_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// turnRound lets the other repository land first.
func (g *grouped) turnRound() {
	g.t.Helper()
	const inOrder, turned = `repositories = ["octo/widgets", "octo/client"]`, `repositories = ["octo/client", "octo/widgets"]`
	g.write("octo", "main", ".github/mergexo.toml", strings.Replace(g.settings("main"), inOrder, turned, 1))
}

// landsInPart lets the first of the two land, and the process die before the other one does.
func (g *grouped) landsInPart() model.Event {
	g.t.Helper()
	here, there := g.at("main"), g.main()
	ev := g.diesAt(diesFirst, func(r *http.Request) bool {
		lands := strings.Contains(r.URL.Path, "git-receive-pack") || strings.HasSuffix(r.URL.Path, "/merge")
		return lands && (g.at("main") != here || g.main() != there)
	})
	require.Contains(g.t, g.badges(), "merged")
	require.Contains(g.t, g.badges(), "open")
	return ev
}

// landsThereUnsaid lets the process die once the other one has landed, before it says so.
func (g *grouped) landsThereUnsaid() model.Event {
	g.t.Helper()
	there := g.main()
	return g.diesAt(diesFirst, func(r *http.Request) bool { return r.Method == http.MethodPatch && g.main() != there })
}

// mergeByHand merges on the page what is open.
func (g *grouped) mergeByHand() {
	g.t.Helper()
	path := fmt.Sprintf("%s/pulls/%d/merge", client, g.theirs)
	if g.badge() == "open" {
		path = g.pull("/merge")
	}
	g.later(time.Minute)
	g.api("octo", "PUT", path, object{"merge_method": "squash"})
}

// restByHand lets a part land and somebody merge the rest.
func (g *grouped) restByHand() model.Event {
	g.t.Helper()
	ev := g.landsInPart()
	g.mergeByHand()
	return ev
}

const byHand = "This request did not merge it."

// toldOnce says that each pull request has one comment about the merge, which another run leaves as it is.
func (g *grouped) toldOnce(ev model.Event) {
	g.t.Helper()
	g.toldThere(`"state":"done"`)
	here, there := g.words(), g.said()
	assert.Equal(g.t, model.ResultNothing, g.take(ev).Result)
	assert.Equal(g.t, here, g.words())
	assert.Equal(g.t, there, g.said())
}

// Somebody merges on the page what is left of a group: the request ends, and says which part it did not merge.
func TestMergeGroupWhoseRestIsMergedByHand(t *testing.T) {
	t.Parallel()
	t.Run("the other one", func(t *testing.T) {
		g := newGroup(t)
		ev := g.restByHand()
		g.take(ev)
		g.together()
		assert.NotContains(t, g.words(), byHand)
		assert.Contains(t, g.said()[0]["body"], byHand)
		g.toldOnce(ev)
	})
	t.Run("where it was requested", func(t *testing.T) {
		g := newGroup(t)
		g.turnRound()
		ev := g.restByHand()
		g.take(ev)
		assert.Equal(t, "merged merged", g.badges())
		g.requested("done", byHand)
		assert.NotContains(t, g.said()[0]["body"], byHand)
		g.toldOnce(ev)
	})
}

// What somebody merges in the middle of a group does not keep the rest from landing.
func TestMergeGroupGoesOnBehindAPartThatIsMergedByHand(t *testing.T) {
	g := newGroup(t)
	const two, three = `"octo/widgets", "octo/client"]`, `"octo/widgets", "octo/client", "octo/third"]`
	g.write("octo", "main", ".github/mergexo.toml", strings.Replace(g.settings("main"), two, three, 1))
	third := "/api/v3/repos/octo/third"
	g.api("octo", "POST", "/api/v3/user/repos", object{"name": "third", "auto_init": true})
	for login, permission := range map[string]string{"alice": "write", "carol": "maintain"} {
		g.world.put("/_sandbox/users/"+login, object{"type": "User", "repository": "octo/third", "permission": permission})
	}
	write := func(branch, path, text string) {
		g.api("octo", "PUT", third+"/contents/"+path, object{"message": "Write " + path, "branch": branch, "content": base64.StdEncoding.EncodeToString([]byte(text))})
	}
	write("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\n")
	at := g.api("octo", "GET", third+"/git/ref/heads/main", nil).at("object", "sha")
	g.api("octo", "POST", third+"/git/refs", object{"ref": "refs/heads/agent/greet", "sha": at})
	write("agent/greet", "third.txt", "three\n")
	g.api("alice", "POST", third+"/pulls", object{"title": "Greet a third", "head": "agent/greet", "base": "main"})
	g.api("carol", "POST", third+"/pulls/1/reviews", object{"event": "APPROVE"})
	ev := g.restByHand()
	require.Equal(t, false, g.api("octo", "GET", third+"/pulls/1", nil)["merged"])
	g.take(ev)
	g.together()
	assert.Equal(t, true, g.api("octo", "GET", third+"/pulls/1", nil)["merged"])
	assert.Contains(t, g.said()[0]["body"], byHand)
	said := g.list("octo", third+"/issues/1/comments")
	require.Len(t, said, 1)
	assert.NotContains(t, said[0]["body"], byHand)
	assert.Contains(t, said[0]["body"], `"state":"done"`)
	g.toldOnce(ev)
}

// A run that dies after it has seen that somebody merged the rest leaves the next one to say the same.
func TestMergeGroupWhoseRestIsMergedByHandOutlivesADeath(t *testing.T) {
	g := newGroup(t)
	ev := g.restByHand()
	g.gate.when(diesFirst, requests(http.MethodPatch, "octo/client/issues/comments"))
	g.take(ev)
	require.True(t, g.gate.died())
	g.gate.revive()
	g.recover(ev)
	g.together()
	assert.Contains(t, g.said()[0]["body"], byHand)
	g.toldOnce(ev)
}

// What is left of a group waits like any other request. Its tests run once it can land, and each run until then leaves it as it is.
func TestMergeGroupWhoseRestWaitsIsNotTestedMeanwhile(t *testing.T) {
	g := newGroup(t)
	ran := filepath.Join(t.TempDir(), "ran")
	g.put("main", ".github/mergexo.toml", fmt.Sprintf("[agent]\nadapter = \"suggestion\"\nisolation = \"none\"\n[merge]\ntests = [\"sh\", \"-c\", \"echo tested >> %s\"]\n", ran))
	ev := g.landsInPart()
	tested := contents(t, ran)
	labels := fmt.Sprintf("%s/issues/%d/labels", client, g.theirs)
	g.send("octo", "POST", labels, object{"labels": []string{"mergexo:freeze"}})
	for range 4 {
		g.gives(model.ResultBlocked, g.take(ev))
		g.requested("merging FROZEN", "**Merged in part**: [octo/widgets#1]", "octo/client#1: label")
	}
	assert.Equal(t, string(tested), string(contents(t, ran)))
	g.send("octo", "DELETE", labels+"/mergexo:freeze", nil)
	g.take(ev)
	g.together()
}
