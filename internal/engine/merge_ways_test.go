package engine_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// newFork is a pull request from a fork, approved, onto a base that went on.
func newFork(t *testing.T) *world {
	t.Helper()
	return begin(t, "fork", func() *world {
		w := newMerge(t)
		w.put("/_sandbox/users/mallory", object{"type": "User", "repository": repo.String(), "permission": "none"})
		w.api("mallory", "POST", w.path("/forks"), object{})
		w.api("mallory", "POST", "/api/v3/repos/mallory/widgets/git/refs", object{"ref": "refs/heads/feature", "sha": w.at("main")})
		w.api("mallory", "PUT", "/api/v3/repos/mallory/widgets/contents/f.txt", object{"message": "f", "branch": "feature", "content": "Zgo="})
		pull := w.api("mallory", "POST", w.path("/pulls"), object{"title": "Fork", "head": "mallory:feature", "base": "main", "maintainer_can_modify": true})
		w.number, w.head = int(pull["number"].(float64)), "feature"
		w.write("octo", "main", "other.txt", "meanwhile\n")
		w.later(time.Minute)
		w.api("alice", "POST", w.pull("/reviews"), object{"event": "APPROVE"})
		return w
	})
}

// theirs is where the branch of the fork is.
func (w *world) theirs() string {
	w.t.Helper()
	return w.api("mallory", "GET", "/api/v3/repos/mallory/widgets/git/ref/heads/feature", nil).at("object", "sha").(string)
}

// GitHub cannot show it as merged: it is closed with a link to what landed.
func TestMergeOfAForkByCherryPickIsClosedWithALink(t *testing.T) {
	w := newFork(t)
	head, base := w.theirs(), w.at("main")
	w.done(w.command("carol", "/mergexo merge strategy=cherry-pick"))
	landed := w.at("main")
	assert.Equal(t, base, w.bare("rev-parse", landed+"^"))
	assert.Equal(t, "f\n", w.fileOf("main", "f.txt"))
	assert.Equal(t, head, w.theirs())
	assert.Equal(t, "closed", w.badge())
	w.requested("done", "/commit/"+landed)
}

// squashed is what a squash says that lands at the first try, or at the second since the base moved.
func squashed(t *testing.T, moves bool) string {
	t.Helper()
	w := newWorld(t, "", "[merge]\ntests = \"none\"\nstrategy = \"squash\"")
	w.write("alice", w.head, "a.txt", "a\n")
	w.write("bob", w.head, "b.txt", "b\n")
	w.approve("alice")
	w.write("octo", "main", "other.txt", "meanwhile\n")
	if moves {
		w.beforeGitPush(3, func() { w.write("octo", "main", "again.txt", "again\n") }) // lock, head, base
	}
	w.done(w.command("carol", "/mergexo merge"))
	return regexp.MustCompile(`\([0-9a-f]{12}\)|[0-9]+\+`).ReplaceAllString(w.bare("log", "-1", "--format=%an%n%B", "main"), "#")
}

// A squash that has to be made again is made of the branch's commits again, not of the squash before.
func TestMergeSquashSaysTheSameAfterTheBaseHasMoved(t *testing.T) {
	want := squashed(t, false)
	assert.Contains(t, want, "Greet people (#1)")
	assert.Contains(t, want, "bob", "everyone whose commits it holds")
	assert.Equal(t, want, squashed(t, true))
}

// A request that waits is found however much was said since.
func TestMergeThatWaitsIsFoundBehindManyComments(t *testing.T) {
	w := unapproved(t).whoseAgent("talk")
	for round := range 2 {
		w.handle(w.remark("alice", fmt.Sprintf("why %d", round)))
		w.chatter(130)
	}
	w.done(w.endorsed("alice"))
	assert.Equal(t, "merged", w.badge())
}

// beforeGitPush lets something happen before the n-th push of MergeXO.
func (w *world) beforeGitPush(n int, do func()) {
	seen := 0
	w.before(func(r *http.Request) bool {
		if isPush(r) {
			seen++
		}
		return isPush(r) && seen == n
	}, do)
}
