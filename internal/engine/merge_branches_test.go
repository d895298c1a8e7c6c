package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// proposed is a pull request from a branch, made from another one with one commit more, which alice has approved.
func (w *world) proposed(branch, from, base string) int {
	w.t.Helper()
	w.branched(branch, from)
	return w.offered(branch, base)
}

// branched is a branch with one commit more than another one.
func (w *world) branched(branch, from string) {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": w.at(from)})
	w.write("octo", branch, "of-"+branch[len(branch)-3:]+".txt", "x\n")
}

// offered is an approved pull request from a branch that is there.
func (w *world) offered(branch, base string) int {
	w.t.Helper()
	w.later(time.Minute)
	w.head = branch
	w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Of " + branch, "head": branch, "base": base})["number"].(float64))
	w.approve("alice")
	w.passed("ci")
	return w.number
}

// moveOn gives main another commit.
func (w *world) moveOn() { w.t.Helper(); w.write("octo", "main", "meanwhile.txt", "meanwhile\n") }

// developed is a pull request from develop, into which one was merged before.
func developed(t *testing.T, more ...string) *world {
	t.Helper()
	w := newMerge(t, more...)
	w.branched("develop", "main")
	w.proposed("feat/one", "develop", "develop")
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result, w.logged.String())
	w.offered("develop", "main")
	w.moveOn()
	return w
}

// A branch that people go on with is neither moved nor deleted, whatever is written, and the comment says so.
func TestALongLivedBranchStays(t *testing.T) {
	type row struct{ settings, command, says string }
	each(t, map[string]row{
		"by default":       {"", "", "no-ff leaves the head branch as it is: pull request 2 was based on it"},
		"merged by GitHub": {"delete_branch = true", " strategy=api", "Branch develop was not deleted: pull request 2 was based on it"},
	}, func(t *testing.T, _ string, tt row) {
		w := developed(t, tt.settings)
		before := w.at("develop")
		w.lands("/mergexo merge" + tt.command)
		assert.Equal(t, before, w.at("develop"))
		assert.Contains(t, w.request(), tt.says)
		assert.NotContains(t, w.request(), "was deleted")
	})
}

// Whose a branch is, what GitHub is set to and what is written decide whether it is deleted, and what is deleted is named.
func TestWhichBranchesAreDeleted(t *testing.T) {
	type row struct {
		branch, settings, command string
		deletes                   bool // GitHub is set to
		gone, named               bool
	}
	each(t, map[string]row{
		"an agent's":                       {branch: "agent/two", gone: true, named: true},
		"somebody's":                       {branch: "feat/two"},
		"somebody's, where GitHub does it": {branch: "feat/two", deletes: true, command: " strategy=api", gone: true, named: true},
	}, func(t *testing.T, _ string, tt row) {
		w := newMerge(t, tt.settings)
		w.api("octo", "PATCH", w.path(""), object{"delete_branch_on_merge": tt.deletes})
		w.proposed(tt.branch, "main", "main")
		w.moveOn()
		w.lands("/mergexo merge" + tt.command)
		assert.Equal(t, tt.gone, w.at(tt.branch) == "")
		if tt.named {
			assert.Contains(t, w.request(), "Branch "+tt.branch+" was deleted")
		} else {
			assert.NotContains(t, w.request(), "deleted")
		}
	})
}

// barHead has rules for the branch feat/two.
func (w *world) barHead(rules object) {
	w.t.Helper()
	rules["repository"] = repo.String()
	if rules["branch"] == nil {
		rules["branch"] = "feat/two"
	}
	w.put("/_sandbox/protection", rules)
}

// What protects the head leaves it as it is, in the train, too; what our token may bypass does not.
func TestAProtectedHeadStays(t *testing.T) {
	type row struct {
		train bool
		rules object
		says  string // "": it is moved
	}
	each(t, map[string]row{
		"branch protection":            {false, object{"push": []string{"octo"}}, `branch protection of branch "feat/two" forbids force pushes`},
		"signed commits, in a train":   {true, object{"signed": true, "forces": true, "ruleset": 42}, `ruleset 42 of branch "feat/two" accepts only signed commits`},
		"a ruleset that may be passed": {false, object{"pull": true, "ruleset": 42, "bypass": []string{"github-actions[bot]"}}, ""},
	}, func(t *testing.T, _ string, tt row) {
		w := newMerge(t)
		if tt.train {
			w = newTrain(t, "ci_retries = 0")
		}
		w.proposed("feat/two", "main", "main")
		w.moveOn()
		w.barHead(tt.rules)
		head := w.at("feat/two")
		rep := w.command("carol", "/mergexo merge")
		w.wholeTrain()
		require.Equal(t, "merged", w.badge(), "%s %s", rep.Reason, w.logged.String())
		if tt.says == "" {
			assert.NotEqual(t, head, w.at("feat/two"))
			return
		}
		assert.Equal(t, head, w.at("feat/two"))
		assert.Contains(t, w.request(), "no-ff leaves the head branch as it is: ")
		assert.Contains(t, w.request(), tt.says)
	})
}

// The rules come while the tests run: the request ends at once, and names the branch whose rules they are.
func TestAHeadThatIsProtectedMeanwhile(t *testing.T) {
	w := whileTested(t, deed{"octo", "PUT", "/branches/agent%2Fgreet/protection", `{"required_linear_history": true, "required_status_checks": null, "enforce_admins": true, "required_pull_request_reviews": null, "restrictions": null}`})
	base, head := w.at("main"), w.tip()
	rep := w.command("carol", "/mergexo merge")
	assert.Equal(t, "PROTECTED", rep.BlockedReason, w.logged.String())
	assert.Equal(t, []string{base, head}, []string{w.at("main"), w.tip()})
	assert.Contains(t, w.request(), "**Not merged: the rules of `agent/greet` refuse the push** (`PROTECTED`)")
	assert.Contains(t, w.request(), "`/mergexo merge strategy=no-ff`")
}

// pushesTo has something happen just before git pushes to a branch for the first time.
func (w *world) pushesTo(branch string, do func()) {
	w.before(func(r *http.Request) bool {
		return isPush(r) && strings.Contains(readAll(r), "refs/heads/"+branch+"\x00")
	}, do)
}

// The same aboard: it ends the request of that pull request at once, and no other one waits for it.
func TestAHeadThatIsProtectedAboard(t *testing.T) {
	t.Parallel()
	for _, batch := range []string{"batch = 1", "batch = 4"} {
		w, numbers := boarded(t, []string{"ci_retries = 0", batch}, "one\n", "two\n")
		w.pushesTo("agent/car0", func() { w.barHead(object{"branch": "agent/car0", "push": []string{"octo"}}) })
		w.wholeTrain()
		assert.Equal(t, "open merged", w.badges(numbers...), "%s: %s", batch, w.logged.String())
		w.on(numbers[0]).requested("merge_failed PROTECTED", "**Not merged: the rules of `agent/car0` refuse the push** (`PROTECTED`)")
		assert.Equal(t, 1, strings.Count(w.logged.String(), "train_not_landed"), "it is not tried again")
	}
}

// signed is a branch with a commit on top of main that has a signature.
func (w *world) signed(branch string) {
	w.t.Helper()
	raw := w.bare("cat-file", "commit", w.bare("commit-tree", w.bare("rev-parse", w.tip()+"^{tree}"), "-p", w.at("main"), "-m", "Signed"))
	head, message, _ := strings.Cut(raw, "\n\n")
	sha := w.bareTold(head+"\ngpgsig -----BEGIN SSH SIGNATURE-----\n -----END SSH SIGNATURE-----\n\n"+message+"\n", "hash-object", "-t", "commit", "-w", "--stdin")
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": sha})
}

// A base that takes signed commits only is heard before anything moves.
func TestABaseThatTakesSignedCommitsOnly(t *testing.T) {
	w := newMerge(t, `tests = ["sh", "-c", "echo tested >&2"]`)
	w.proposed("feat/two", "main", "main")
	w.protect(object{"signed": true, "ruleset": 42})
	base, head := w.at("main"), w.tip()
	rep := w.blocked("PROTECTED", w.command("carol", "/mergexo merge"))
	assert.Contains(t, rep.Reason, `of branch "main" accepts only signed commits, and `+head[:10]+` has no signature`, "it would land unchanged")
	assert.Equal(t, []string{base, head}, []string{w.at("main"), w.tip()})
	w.signed("feat/signed")
	w.offered("feat/signed", "main")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, w.at("feat/signed"), w.at("main"))
}

// The train does not even have CI test what such a base would refuse.
func TestNoCarForABaseThatTakesSignedCommitsOnly(t *testing.T) {
	w := newTrain(t)
	w.ready("car", "one\n")
	w.protect(object{"signed": true, "ruleset": 42})
	rep := w.command("carol", "/mergexo merge")
	assert.Empty(t, w.trains(), rep.Reason)
	w.requested("merge_failed PROTECTED", `ruleset 42 of branch "main" accepts only signed commits`)
}

// So do the rules of the base, for those that were about to land.
func TestABaseThatIsProtectedAboard(t *testing.T) {
	w, numbers := boarded(t, []string{"ci_retries = 0", "batch = 1"}, "one\n")
	w.pushesTo("main", func() { w.protect(object{"push": []string{"octo"}}) })
	w.arrives("open", numbers...)
	w.requested("merge_failed PROTECTED", "**Not merged: the rules of `main` refuse the push** (`PROTECTED`)")
}
