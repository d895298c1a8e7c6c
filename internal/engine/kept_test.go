package engine_test

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// branch makes a branch at the tip of main.
func (w *world) branch(name string) {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + name, "sha": w.at("main")})
}

// conversation is all that stands in the pull request's comments.
func (w *world) conversation() string {
	w.t.Helper()
	said := ""
	for _, c := range w.comments() {
		said += c["body"].(string)
	}
	return said
}

// pasted has a person run what a comment says, and gives what the program says.
func (w *world) pasted(command string) string {
	w.t.Helper()
	w.clone()
	push := strings.Replace(w.people, "://", "://x-access-token:sandbox-bob@", 1) + "/" + repo.String()
	require.NoError(w.t, exec.CommandContext(w.t.Context(), "git", "-C", w.workdir, "remote", "set-url", "--push", "origin", push).Run())
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", command)
	cmd.Dir = w.workdir
	w.workdir = "" // it is a person's clone
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// somebodyTakes makes a branch of the very name at the moment in which a checkpoint is pushed.
func (w *world) somebodyTakes() {
	name := regexp.MustCompile(`refs/heads/(mergexo/checkpoint/\d+/[0-9a-f]{12})\b`)
	w.gate.at = func(_ int, r *http.Request) fate {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			body, err := io.ReadAll(r.Body)
			assert.NoError(w.t, err)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if m := name.FindSubmatch(body); m != nil {
				w.gate.at = nil
				w.branch(string(m[1]))
			}
		}
		return passes
	}
}

func TestWorkGoesToAHiddenRefWhereItsBranchCannotBe(t *testing.T) {
	type row struct {
		takes  func(w *world)
		how    string
		says   string // the marker of the comment that tells
		result model.Result
	}
	each(t, map[string]row{
		"a branch above it": {func(w *world) { w.branch("mergexo") }, "dirty+fail", "turn", model.ResultFailed},
		"a ruleset": {func(w *world) {
			w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": "~ALL", "push": []string{"octo"}})
		}, "dirty+stuck", "block", model.ResultBlocked},
		"another commit": {(*world).somebodyTakes, "dirty+stuck", "block", model.ResultBlocked},
	}, func(t *testing.T, _ string, c row) {
		w, ev := commented(t, c.how)
		c.takes(w)
		require.Equal(t, c.result, w.handle(ev).Result)
		w.gate.revive()
		all := strings.Fields(w.bare("for-each-ref", "--format=%(refname) %(objectname)", "refs/mergexo/checkpoint/"))
		require.Len(t, all, 2, "one hidden ref, and its commit")
		ref, sha := all[0], all[1]
		said := w.marked(c.says, "")[0]["body"].(string)
		assert.NotContains(t, said, "kept on branch")
		assert.Contains(t, said, "kept on a hidden ref at [`"+sha[:10])
		paste := regexp.MustCompile("To look at it: `(git fetch origin " + ref + ".*)`").FindStringSubmatch(said)
		require.NotNil(t, paste, said)
		w.pasted(paste[1] + " && grep left left.txt")
		w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": "~ALL"})
		w.agent = "answer"
		w.done(w.handle(w.say("alice", "Formal.")))
		assert.Equal(t, "left\n", w.file("left.txt"), "it went on from there")
	})
}

func TestAnIssueWhoseBranchCannotBeCreatedWaitsAndSaysWhy(t *testing.T) {
	w := newIssue(t)
	w.branch("agent2") // no sibling is in the way
	w.api("octo", "DELETE", w.path("/git/refs/heads/agent/greet"), nil)
	w.branch("agent")
	w.blocked(model.ReasonBranch, w.handle(w.label("alice", smallJob)))
	assert.Contains(t, w.lastSaid(), "'refs/heads/agent' exists; cannot create 'refs/heads/"+branch)
	require.Len(t, w.checkpoints(), 1)
	assert.Contains(t, w.lastSaid(), w.checkpoints()[0])
	assert.Equal(t, w.branches()[w.checkpoints()[0]], w.attemptMarker(model.PhaseWaiting).LastCheckpoint)
	_, waiting := w.standings("sandbox-actions")
	require.Len(t, waiting, 1)
	assert.Equal(t, "delete or rename the branches that are in the way (an operator): /mergexo retry", waiting[0].Todo())
	w.sweep()
	assert.Len(t, w.comments(), 1, "nothing is tried again meanwhile")

	w.api("octo", "DELETE", w.path("/git/refs/heads/agent"), nil)
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch, w.pulls()[0].at("head", "ref"))
	assert.Equal(t, 1, w.calls(), "the work was done")
}

func TestABranchBelowTheNameCostsAnotherName(t *testing.T) {
	w := newIssue(t)
	w.branch(branch + "/notes")
	w.done(w.handle(w.label("alice", smallJob)))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Contains(t, w.lastSaid(), "branch "+branch+" could not be created")
	assert.Equal(t, 1, w.calls())
}

// found are the files that the agent has found in its checkout.
func (w *world) found() string {
	w.t.Helper()
	return string(contents(w.t, w.log+".seen"))
}

func TestTheNextAttemptBeginsWithTheWorkOfTheOneBefore(t *testing.T) {
	flowPushed := func(w *world) deed {
		return deed{"bob", "PUT", w.path("/contents/other.txt"), `{"message": "Somebody's", "branch": "` + branch + `", "content": "Ym9iCg=="}`}
	}
	protected := func(w *world, who ...string) {
		w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": append(who, "octo")})
	}
	type row struct {
		label  string
		before func(w *world)
		file   string // that the first attempt leaves, and the next one finds
		also   string // that somebody has put there meanwhile
		asks   string // what the first agent does
	}
	each(t, map[string]row{
		"a design":                        {label: design, asks: "dirty+stuck", file: "left.txt"},
		"a flow branch that is protected": {label: smallJob, asks: "dirty+stuck", file: "left.txt", before: func(w *world) { protected(w) }},
		"a name that is taken":            {label: smallJob, asks: "dirty+stuck", file: "left.txt", before: func(w *world) { w.branch("mergexo"); protected(w) }},
		"a push to the flow branch": {label: smallJob, asks: "meanwhile+dirty+stuck", file: "left.txt", also: "other.txt", before: func(w *world) {
			w.agent = "ask" // so that there is a branch
			require.Equal(w.t, model.ReasonAgent, w.handle(w.label("alice", smallJob)).BlockedReason)
			w.agent = "dirty+stuck"
			w.meanwhile(flowPushed(w))
		}},
	}, func(t *testing.T, _ string, c row) {
		w := newIssue(t)
		w.branch("moon")
		if c.before != nil {
			c.before(w)
		}
		w.agent = c.asks
		asked := func() model.Event { return w.label("alice", c.label) }
		if c.also != "" {
			asked = func() model.Event { return w.say("bob", "Formal") }
		}
		require.Equal(t, model.ReasonAgent, w.handle(asked()).BlockedReason)
		m := w.attemptMarker(model.PhaseWaiting)
		require.NotEmpty(t, m.LastCheckpoint)
		assert.Equal(t, m.Kept.SHA, m.LastCheckpoint)
		assert.Equal(t, "left", w.bare("show", m.LastCheckpoint+":"+c.file))
		assert.NotEqual(t, branch, m.Kept.Branch)
		assert.Equal(t, m.LastCheckpoint, w.bare("rev-parse", m.Kept.Ref()), "and it is there")

		w.agent = "sees+stuck"
		require.Equal(t, model.ReasonAgent, w.handle(w.say("bob", "Go on")).BlockedReason)
		assert.Contains(t, w.found(), c.file)
		assert.Contains(t, w.found(), c.also)
		assert.NotContains(t, w.lastSaid(), "started over")
		again := w.attemptMarker(model.PhaseWaiting)
		assert.Equal(t, "left", w.bare("show", again.LastCheckpoint+":"+c.file), "it is kept on")
	})
}
