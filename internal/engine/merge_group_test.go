package engine_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// grouped is a world with a second repository, octo/client, whose pull request from the same branch lands together with that
// of octo/widgets. The token is that of octo, who may write to both.
type grouped struct {
	*world
	theirs int // number of the pull request there
}

const client = "/api/v3/repos/octo/client"

func newGroup(t *testing.T, more ...string) *grouped {
	t.Helper()
	w := begin(t, "group "+strings.Join(more, "\n"), func() *world {
		g := &grouped{world: newMerge(t, append(more, "[[merge.group]]", `name = "both"`, `repositories = ["octo/widgets", "octo/client"]`)...)}
		g.api("octo", "POST", "/api/v3/user/repos", object{"name": "client", "auto_init": true})
		for login, permission := range map[string]string{"alice": "write", "carol": "maintain"} {
			g.may(login, permission)
		}
		g.put("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\n")
		g.put("main", "client.txt", "one\n")
		g.api("octo", "POST", client+"/git/refs", object{"ref": "refs/heads/agent/greet", "sha": g.main()})
		g.put("agent/greet", "client.txt", "one\ntwo\n")
		g.put("main", "elsewhere.txt", "meanwhile\n")
		g.write("octo", "main", "other.txt", "meanwhile\n")
		g.api("alice", "POST", client+"/pulls", object{"title": "Greet clients", "head": "agent/greet", "base": "main"})
		g.api("carol", "POST", client+"/pulls/1/reviews", object{"event": "APPROVE"})
		return g.world
	})
	return &grouped{world: w, theirs: 1}
}

// may says what somebody may do in the other repository.
func (g *grouped) may(login, permission string) {
	g.world.put("/_sandbox/users/"+login, object{"type": "User", "repository": "octo/client", "permission": permission})
}

// put commits a file to the other repository.
func (g *grouped) put(branch, path, text string) {
	g.t.Helper()
	g.api("octo", "PUT", client+"/contents/"+path, object{"message": "Write " + path, "branch": branch, "content": base64.StdEncoding.EncodeToString([]byte(text)), "sha": g.blob(branch, path)})
}

func (g *grouped) blob(branch, path string) any {
	status, out := g.send("octo", "GET", client+"/contents/"+path+"?ref="+branch, nil)
	if status != 200 {
		return nil
	}
	_, rest, _ := strings.Cut(string(out), `"sha":"`)
	return rest[:40]
}

func (g *grouped) main() string {
	return g.api("octo", "GET", client+"/git/ref/heads/main", nil).at("object", "sha").(string)
}

// badges are how GitHub shows the two pull requests.
func (g *grouped) badges() string {
	pull := g.api("octo", "GET", fmt.Sprintf("%s/pulls/%d", client, g.theirs), nil)
	there := pull["state"].(string)
	if pull["merged"].(bool) {
		there = "merged"
	}
	return g.badge() + " " + there
}

// left sees how GitHub shows the two, and in which state the request is.
func (g *grouped) left(badges, merges string) {
	g.t.Helper()
	assert.Equal(g.t, badges, g.badges())
	assert.Equal(g.t, []string{merges}, g.merges())
}

// landsNothing sees in the end that both bases are where they are now.
func (g *grouped) landsNothing() *grouped {
	g.t.Helper()
	g.world.landsNothing()
	there := g.main()
	g.t.Cleanup(func() { assert.Equal(g.t, there, g.main(), "nothing lands there") })
	return g
}

// toldThere sees what the only comment on the pull request in the other repository says.
func (g *grouped) toldThere(says ...string) {
	g.t.Helper()
	require.Len(g.t, g.said(), 1)
	for _, text := range says {
		assert.Contains(g.t, g.said()[0]["body"], text)
	}
}

// request lets carol ask for the merge, and a process with octo's token take the event.
func (g *grouped) request() (model.Event, model.Report) {
	g.t.Helper()
	ev := g.say("carol", "/mergexo merge")
	return ev, g.take(ev)
}

func (g *grouped) take(ev model.Event) model.Report {
	g.t.Helper()
	rep, err := g.engineAs("sandbox-octo").Handle(context.Background(), ev)
	require.NoError(g.t, err)
	g.over(g.runs)
	return rep
}

// recover is the world's, with octo's token.
func (g *grouped) recover(ev model.Event) model.Report {
	g.t.Helper()
	g.token = "sandbox-octo"
	defer func() { g.token = "" }()
	return g.world.recover(ev)
}

func TestMergeGroupLandsTogether(t *testing.T) {
	g := newGroup(t)
	_, rep := g.request()
	g.done(rep)
	assert.Equal(t, "merged merged", g.badges())
	g.requested("done", "octo/client")
	g.toldThere("octo/widgets#1", `"state":"done"`)
}

func TestMergeGroupWaitsForAllOfIt(t *testing.T) {
	g := newGroup(t)
	g.landsNothing().put("agent/greet", "client.txt", "one\ntwo\nthree\n")
	_, rep := g.request()
	g.gives(model.ResultBlocked, rep)
	g.requested("in_approval GROUP_MEMBER", "octo/client#1")
}

// A look at the other run that GitHub refuses ends a merge at once. It is no turn to wait for.
func TestAMergeWaitsForNoLookThatIsRefused(t *testing.T) {
	g := newGroup(t)
	g.passes = true
	g.claims(repo, g.number, time.Hour)
	g.fail(object{"match": object{"path": "/api/v3/repos/octo/widgets/actions/runs/77"}, "status": 401, "skip": 1, "times": 99})
	_, rep := g.request()
	assert.Contains(t, rep.Reason, "401")
	looks := slices.DeleteFunc(slices.Clone(g.gate.seen), func(s string) bool { return !strings.HasSuffix(s, "/actions/runs/77") })
	assert.Len(t, looks, 2, "one before the answer to the command")
}

// claims posts the claim of another run's turn.
func (g *grouped) claims(where model.Repo, number int, left time.Duration) {
	g.t.Helper()
	claim, err := journal.Codec{}.Encode(journal.Body{Text: "Working", Kind: journal.KindTurn, Marker: model.TurnMarker{
		Repo: where.String(), Number: number, Key: "k", Phase: model.PhaseStarted, Lease: model.Lease{Claim: "another", Run: 77, RunAttempt: 1, Expires: g.now.Add(time.Minute + left)},
	}})
	require.NoError(g.t, err)
	g.api("octo", "POST", fmt.Sprintf("/api/v3/repos/%s/issues/%d/comments", where, number), object{"body": claim})
}

// A turn that is at work on any of them is waited for, as long as a lock is.
func TestMergeGroupWaitsForATurn(t *testing.T) {
	type row struct {
		left   time.Duration
		result model.Result
		badges string
		merges string
	}
	each(t, map[string]row{
		"for a while": {20 * time.Second, model.ResultDone, "merged merged", "done"},
		"for long":    {time.Hour, model.ResultRetry, "open open", "in_approval BUSY"},
	}, func(t *testing.T, _ string, c row) {
		g := newGroup(t)
		g.passes = true
		g.claims(model.Repo{Owner: "octo", Name: "client"}, g.theirs, c.left)
		_, rep := g.request()
		assert.Equal(t, c.result, rep.Result, rep.Reason)
		g.left(c.badges, c.merges)
		assert.GreaterOrEqual(t, g.slept.Load(), int64(15*time.Second))
	})
}

func TestMergeGroupTouchesNothingWhenOneConflicts(t *testing.T) {
	g := newGroup(t)
	g.put("main", "client.txt", "another one\n")
	_, rep := g.landsNothing().request()
	assert.NotEqual(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, "open open", g.badges())
	assert.Empty(t, g.stages())
}
