package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// When the lower pull request of a stack lands, those on its branch get its base, with a line here and there, and land on main
// once they are approved for it.
func TestAStackLandsWhereItsBaseWent(t *testing.T) {
	each(t, map[string]string{"in a train": "", "merged by GitHub": " strategy=api"}, func(t *testing.T, name, words string) {
		w := newMerge(t)
		if name == "in a train" {
			w = newTrain(t, "ci_retries = 0")
		}
		numbers := []int{w.proposed("feat/low", "main", "main"), w.proposed("feat/mid", "feat/low", "feat/low"), w.proposed("feat/top", "feat/mid", "feat/mid")}
		w.moveOn()
		for i, n := range numbers {
			w.number, w.head = n, []string{"feat/low", "feat/mid", "feat/top"}[i]
			if i > 0 {
				assert.Equal(t, "main", w.api("octo", "GET", w.pull(""), nil).at("base", "ref"))
				assert.Contains(t, w.lastSaid(), fmt.Sprintf("The base of this pull request is now `main`: #%d has merged ", n-1))
				w.later(time.Minute)
			}
			w.command("carol", "/mergexo merge"+words)
			if i > 0 {
				w.requested("in_approval APPROVAL_STALE")
				w.endorsed("alice")
			}
			w.arrives("merged", n)
			if i < 2 {
				assert.Contains(t, w.request(), fmt.Sprintf("Pull request %d was based on branch %s. It now goes to main", n+1, w.head))
			}
		}
		assert.Equal(t, "x\n", w.fileOf("main", "of-top.txt"))
	})
}

// Where somebody merged the lower one without MergeXO, the upper one is refused with the reason, until it has another base.
func TestAPullRequestOnABranchThatWasMerged(t *testing.T) {
	w := newMerge(t)
	low := w.proposed("feat/low", "main", "main")
	w.proposed("feat/top", "feat/low", "feat/low")
	w.api("octo", "PUT", w.path(fmt.Sprintf("/pulls/%d/merge", low)), object{})
	before := w.at("feat/low")
	for _, order := range []string{"/mergexo merge", "/mergexo merge strategy=api"} {
		rep := w.blocked("BASE_MERGED", w.command("carol", order))
		assert.Contains(t, rep.Reason, fmt.Sprintf(`branch "feat/low" was merged into "main" by pull request %d`, low))
	}
	assert.Equal(t, before, w.at("feat/low"))
	w.api("bob", "PATCH", w.pull(""), object{"base": "main"})
	w.approve("alice")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, "x\n", w.fileOf("main", "of-top.txt"))
}

// develop goes on after it was merged: pull requests on it stay there, and land there.
func TestPullRequestsOnALongLivedBranchStayThere(t *testing.T) {
	w := developed(t)
	release := w.number
	next := w.proposed("feat/two", "develop", "develop")
	w.number, w.head = release, "develop"
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result, w.logged.String())
	assert.NotContains(t, w.request(), "now goes to")
	w.number, w.head = next, "feat/two"
	assert.Equal(t, "develop", w.api("octo", "GET", w.pull(""), nil).at("base", "ref"))
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, "x\n", w.fileOf("develop", "of-two.txt"))
}

// GitHub refuses the new base where the branch of the upper one has a pull request to it already: the comment says that it stays.
func TestAPullRequestThatCannotGetTheNewBase(t *testing.T) {
	w := newMerge(t)
	low := w.proposed("feat/low", "main", "main")
	top := w.proposed("feat/top", "feat/low", "feat/low")
	w.number, w.head = low, "feat/low"
	w.api("octo", "POST", w.path("/pulls"), object{"title": "Also", "head": "feat/top", "base": "main"})
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result, w.logged.String())
	assert.Contains(t, w.request(), fmt.Sprintf("Pull request %d is still based on branch feat/low, because GitHub did not change that: ", top))
}
