package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// twoRuns are two check runs of one name on a commit. Each is "passed", "failed", "cancelled", "skipped", "running" or "queued", at a
// second.
type twoRuns struct {
	kind          string // what they have in common
	first, second string
	after         time.Duration // how much later the second one began
	counts        model.CheckState
}

// stand is what a state is by itself.
var stand = map[string]model.CheckState{
	"passed": model.CheckPassed, "skipped": model.CheckPassed, "failed": model.CheckFailed, "cancelled": model.CheckFailed,
	"running": model.CheckPending, "queued": model.CheckPending,
}

// twoRunRows has each pair of two runs at each distance, and each pair of what replaces the other.
func twoRunRows() (rows []twoRuns) {
	for _, pair := range []string{
		"passed passed", "passed skipped", "passed failed", "failed passed", "passed cancelled", "cancelled passed", "passed running", "running passed",
		"passed queued", "queued passed", "failed running", "running failed",
	} {
		first, second, _ := strings.Cut(pair, " ")
		worst := stand[first]
		if stand[second].Worse(worst) {
			worst = stand[second]
		}
		for _, after := range []time.Duration{0, time.Second, -time.Second} {
			for _, kind := range []string{"push and pull_request", "one event twice", "two workflows"} {
				rows = append(rows, twoRuns{kind, first, second, after, worst})
			}
		}
		rows = append(rows, twoRuns{"another App", first, second, 0, worst})
		if second != "queued" && first != "queued" { // an App's is queued at a second as well
			rows = append(rows, twoRuns{"another App", first, second, time.Second, stand[second]}, twoRuns{"another App", first, second, -time.Second, stand[first]})
		}
		if stand[first] != model.CheckPending { // only what has ended is run again
			rows = append(rows, twoRuns{"re-run", first, second, time.Second, stand[second]})
		}
	}
	return rows
}

// report makes the two check runs of a row on the head of a branch.
func (r twoRuns) report(w *world, row int, branch, sha string) {
	at := w.now.Add(time.Minute)
	for i, state := range []string{r.first, r.second} {
		w.s.SetClock(at.Add(time.Duration(i) * r.after))
		status, conclusion := "completed", map[string]string{"passed": "success", "skipped": "skipped", "failed": "failure", "cancelled": "cancelled"}[state]
		if conclusion == "" {
			status = map[string]string{"running": "in_progress", "queued": "queued"}[state]
		}
		if r.kind == "another App" {
			body := map[string]any{"name": "test", "head_sha": sha, "status": status}
			if conclusion != "" {
				body["conclusion"] = conclusion
			}
			w.as("some-ci[bot]", "POST", "check-runs", body)
			continue
		}
		id, event, path, attempt := 16_000_000_000+int64(2*row+i), "push", "ci", 1 // as large as they are
		switch r.kind {
		case "push and pull_request":
			event = []string{"push", "pull_request"}[i]
		case "two workflows":
			path = []string{"ci", "docs"}[i]
		case "re-run":
			id, attempt = 16_000_000_000+int64(2*row), i+1
		}
		job := map[string]any{"name": "test", "status": status}
		if conclusion != "" {
			job["conclusion"] = conclusion
		}
		w.control(fmt.Sprint("runs/", id), map[string]any{
			"name": path, "path": ".github/workflows/" + path + ".yml", "event": event, "head_sha": sha, "head_branch": branch, "status": status,
			"attempt": attempt, "jobs": []any{job},
		})
	}
	w.now = at.Add(time.Minute)
	w.s.SetClock(w.now)
}

// A check run replaces only one of the same App, workflow, event and run. Of what is left the worst counts, for whoever reads checks,
// and for the rules of the sandbox's branches.
func TestWhichOfTwoCheckRunsCounts(t *testing.T) {
	t.Parallel()
	rows := twoRunRows()
	require.Greater(t, len(rows), 40)
	w := newWorld(t)
	w.control("users/some-ci[bot]", map[string]any{"type": "Bot", "repository": "octo/widgets", "permission": "write"})
	numbers := w.pulls(len(rows))
	w.control("protection", map[string]any{"checks": []string{"test"}})
	for i, r := range rows {
		branch := fmt.Sprint("agent/", numbers[i])
		sha := w.tip(branch)
		w.as("octo", "POST", "git/refs", map[string]any{"ref": fmt.Sprint("refs/heads/mergexo/train/main/", numbers[i]), "sha": sha})
		r.report(w, i, branch, sha)
	}
	c := w.client("actions")
	view := must.Get(c.Threads.Train(t.Context(), TrainQuery{Repo: widgets, Base: "main", Branches: "mergexo/train/main/"}))(t)
	require.Len(t, view.Branches, len(rows))
	cars := map[string][]model.Check{}
	for _, b := range view.Branches {
		cars[b.Name] = b.Checks
	}
	boards := map[int][]model.Check{}
	for _, s := range w.survey(c, SurveyQuery{}) {
		boards[s.Pull.Number] = s.Pull.Checks
	}
	for i, r := range rows {
		name := fmt.Sprintf("%s: %s, then %s %s later", r.kind, r.first, r.second, r.after)
		for reader, checks := range map[string][]model.Check{
			"merge gate": w.facts(c, numbers[i], "").Checks, "train": cars[fmt.Sprint("mergexo/train/main/", numbers[i])], "board": boards[numbers[i]],
		} {
			assert.Equal(t, string(r.counts), string(worstOf(checks)), "%s, %s", reader, name)
			if r.kind != "another App" && reader == "train" {
				assert.GreaterOrEqual(t, checks[0].RunID, int64(16_000_000_000), "the id of the run")
			}
		}
		assert.Equal(t, r.counts == model.CheckPassed, merges(w, numbers[i]), "branch protection, %s", name)
	}
}

func worstOf(checks []model.Check) model.CheckState {
	worst := model.CheckPassed
	for _, c := range checks {
		if c.State.Worse(worst) {
			worst = c.State
		}
	}
	return worst
}

// merges says whether the merge endpoint takes a pull request.
func merges(w *world, number int) bool {
	w.t.Helper()
	req := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodPut, fmt.Sprintf("%s/repos/octo/widgets/pulls/%d/merge", w.urls.API, number), strings.NewReader("{}")))(w.t)
	req.Header.Set("Authorization", "Bearer sandbox-octo")
	resp := must.Get(http.DefaultClient.Do(req))(w.t)
	require.NoError(w.t, resp.Body.Close())
	return resp.StatusCode == http.StatusOK
}
