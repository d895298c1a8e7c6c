package github

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// A pull request of a fork, as it is pushed to, checked and loses its fork: told by a snapshot and by a survey alike.
func TestAPullRequestOfAFork(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	w.send("POST", w.urls.API+"/repos/octo/widgets/forks", "mallory", map[string]any{})
	api := w.urls.API + "/repos/mallory/widgets/"
	put := func(path string) string {
		made := w.send("PUT", api+"contents/"+path, "mallory", map[string]any{"branch": "main", "message": "put", "content": "YQo="})
		return made["commit"].(map[string]any)["sha"].(string)
	}
	first := w.tick()
	put("a.txt")
	made := w.tick()
	n := int(w.as("mallory", "POST", "pulls", map[string]any{"title": "Fix", "head": "mallory:main", "base": "main"})["number"].(float64))
	read := func() model.Pull {
		p := w.snapshot(c, Query{Number: n}).Pull
		for _, s := range w.survey(c, SurveyQuery{}) { // none once it is closed, as by the end of its fork
			s.Pull.Files, s.Pull.FilesComplete, s.Pull.Commits, s.Pull.Checks = p.Files, p.FilesComplete, p.Commits, p.Checks
			assert.Equal(t, p, s.Pull)
		}
		return p
	}
	p := read()
	assert.Equal(t, []any{true, first, false, made, made, ""}, []any{p.CrossRepo, p.ForkPushedAt, p.ForkDeleted, p.CreatedAt, p.UpdatedAt, p.Rollup})

	pushed := w.tick()
	sha := put("b.txt")
	w.as("octo", "POST", "statuses/"+sha, map[string]any{"state": "failure", "context": "ci"})
	p = read()
	assert.Equal(t, []any{pushed, false, made, "FAILURE", sha}, []any{p.ForkPushedAt, p.ForkDeleted, p.CreatedAt, p.Rollup, p.HeadSHA})
	w.send("DELETE", w.urls.API+"/repos/mallory/widgets", "mallory", nil)
	p = read()
	assert.Equal(t, []any{true, time.Time{}, true, false, sha}, []any{p.CrossRepo, p.ForkPushedAt, p.ForkDeleted, p.HeadExists, p.HeadSHA})

	own := w.snapshot(c, Query{Number: w.pull()}).Pull
	assert.Equal(t, []any{false, time.Time{}, false}, []any{own.CrossRepo, own.ForkPushedAt, own.ForkDeleted})
}

// A token that may see neither checks nor the fork is told less, and nothing that is not so.
func TestWhatAForkHides(t *testing.T) {
	const pull = `{"__typename": "PullRequest", "number": 7, "isCrossRepository": true, "headRepository": null, "statusCheckRollup": null}`
	refused := func(path string) string {
		return `{"type": "FORBIDDEN", "message": "Resource not accessible by integration", "path": ["repository", ` + path + `]}`
	}
	l := dial(t, Options{}, reply{200, `{"data": {"repository": {"issueOrPullRequest": ` + pull + `}}, "errors": [` +
		refused(`"issueOrPullRequest", "headRepository"`) + "," + refused(`"issueOrPullRequest", "statusCheckRollup"`) + `]}`, nil})
	snap := must.Get(l.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 7}))(t)
	assert.Equal(t, []any{true, false, ""}, []any{snap.Pull.CrossRepo, snap.Pull.ForkDeleted, snap.Pull.Rollup})

	l = dial(t, Options{}, reply{200, `{"data": {"repository": {"pullRequests": {"nodes": [` + pull + `]}}}, "errors": [` +
		refused(`"pullRequests", "nodes", 0, "headRepository"`) + "," + refused(`"pullRequests", "nodes", 0, "statusCheckRollup"`) + `]}`, nil})
	require.NoError(t, l.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets}, func(s model.Snapshot) error {
		snap = s
		return nil
	}))
	assert.Equal(t, []any{7, true, false, ""}, []any{snap.Pull.Number, snap.Pull.CrossRepo, snap.Pull.ForkDeleted, snap.Pull.Rollup})
}
