package engine_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/github/workflow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/skipci"
)

// onTrains is a workflow that runs on the branches of the train. Its only job reports the check "ci", by the script ci.sh.
const onTrains = `name: ci
on:
  push:
    branches: ["mergexo/train/**"]
jobs:
  test:
    name: ci
    runs-on: ubuntu-latest
    steps:
      - run: sh ci.sh
`

// newTrain is a repository whose CI tests the train: no commit passes that has a text with "broken" in it. The requests come from an
// App, whose pushes start workflows.
func newTrain(t *testing.T, more ...string) *world {
	t.Helper()
	lines := append([]string{`verify = "ci"`, `required_checks = ["ci"]`}, more...)
	return begin(t, "train "+strings.Join(lines, "\n"), func() *world { return trainOf(newMerge(t, lines...), "! grep -rq broken --include=*.txt .\n") })
}

// readyTrain is newTrain with pull requests that are ready, which are numbered from 2.
func readyTrain(t *testing.T, settings []string, texts ...string) *world {
	t.Helper()
	return begin(t, fmt.Sprintf("ready train %q %q", settings, texts), func() *world {
		w := newTrain(t, settings...)
		w.ready("car", texts...)
		return w
	})
}

// boarded is readyTrain after each of them was asked for, one by one.
func boarded(t *testing.T, settings []string, texts ...string) (w *world, numbers []int) {
	t.Helper()
	for i := range texts {
		numbers = append(numbers, 2+i)
	}
	return begin(t, fmt.Sprintf("boarded train %q %q", settings, texts), func() *world {
		w := readyTrain(t, settings, texts...)
		w.aboard(numbers, "")
		return w
	}), numbers
}

// boardedBehind is a train of one car, in which the first pull request is alone, and those which wait behind it. They board the
// next car together.
func boardedBehind(t *testing.T, texts ...string) (w *world, numbers []int) {
	t.Helper()
	for i := range texts {
		numbers = append(numbers, 3+i)
	}
	return begin(t, fmt.Sprintf("boarded behind %q", texts), func() *world {
		w := newTrain(t, "speculate = 1")
		w.ready("first", "zero\n")
		w.ready("car", texts...)
		w.aboard([]int{2}, "")
		w.aboard(numbers, "")
		return w
	}), numbers
}

// trainOf gives a repository its CI, with this script.
func trainOf(w *world, script string) *world {
	w.t.Helper()
	w.newApp()
	w.token = "sandbox-mergexo-app[bot]"
	w.write("octo", "main", "ci.sh", script)
	w.write("octo", "main", ".github/workflows/ci.yml", onTrains)
	w.number = 1
	w.passed("ci")
	return w
}

// trains are the train branches and their tips.
func (w *world) trains() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(w.bare("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/mergexo/train/")) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sha != "" {
			out[name] = sha
		}
	}
	return out
}

// only is the one train branch that there is.
func (w *world) only() (branch, sha string) {
	w.t.Helper()
	trains := w.trains()
	require.Len(w.t, trains, 1)
	for branch, sha = range trains {
	}
	return branch, sha
}

// ciRuns has CI see every train branch whose commit it has not seen, and MergeXO hear of each run. It counts the runs.
func (w *world) ciRuns() int {
	w.t.Helper()
	ran := 0
	for branch, sha := range w.trains() {
		if w.tested[sha] {
			continue
		}
		for _, ev := range w.pushed(branch, sha) {
			w.handle(ev)
			ran++
		}
	}
	return ran
}

// wholeTrain has CI test the train until nothing is left to test, and counts its runs.
func (w *world) wholeTrain() int {
	w.t.Helper()
	all := 0
	for {
		n := w.ciRuns()
		if all += n; n == 0 {
			return all
		}
	}
}

// next has CI test the one train branch that there is.
func (w *world) next() model.Event {
	w.t.Helper()
	for branch, sha := range w.trains() {
		return w.tests(branch, sha)
	}
	w.t.Fatal("no train branch")
	return model.Event{}
}

// tests has CI test a commit, and gives the event of the end of its one run.
func (w *world) tests(branch, sha string) model.Event {
	w.t.Helper()
	events := w.pushed(branch, sha)
	require.Len(w.t, events, 1, "workflows that run on %s", branch)
	return events[0]
}

// ciFile holds the keys of a workflow file that the CI of the stories knows.
type ciFile struct {
	Name string `yaml:"name"`
	Jobs map[string]struct {
		Name  string `yaml:"name"`
		Steps []struct {
			Run string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// pushed has CI see that a branch is at a commit: the workflows of this very commit run that say so. It gives the events of their
// ends. https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#push
func (w *world) pushed(branch, sha string) (events []model.Event) {
	w.t.Helper()
	if w.tested == nil {
		w.tested = map[string]bool{}
	}
	w.tested[sha] = true
	if skipci.In(w.bare("log", "-1", "--format=%B", sha)) != "" { // https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
		return nil
	}
	dir := ""
	for path := range strings.Lines(w.bare("ls-tree", "--name-only", sha, ".github/workflows/")) {
		path = strings.TrimSpace(path)
		var f ciFile
		text := w.bare("show", sha+":"+path)
		require.NoError(w.t, yaml.Unmarshal([]byte(text), &f), path)
		if !workflow.HearsPush([]workflow.File{{Path: path, Text: text}}, branch) {
			continue
		}
		if dir == "" {
			dir = w.t.TempDir()
			w.bare("--work-tree", dir, "checkout", "-f", sha, "--", ".")
		}
		conclusion, jobs := "success", []object{}
		for id, job := range f.Jobs {
			passed := "success"
			for _, step := range job.Steps {
				run := exec.Command("sh", "-c", step.Run)
				run.Dir = dir
				if step.Run != "" && run.Run() != nil {
					passed, conclusion = "failure", "failure"
					break
				}
			}
			jobs = append(jobs, object{"name": cmp.Or(job.Name, id), "conclusion": passed})
		}
		w.testRuns++
		events = append(events, w.runEnds(5000+w.testRuns, branch, sha, object{"name": f.Name, "path": path, "conclusion": conclusion, "jobs": jobs}))
	}
	return events
}

// ciEnds has a run of the workflow "ci" end, and gives the event of it.
func (w *world) ciEnds(id int, branch, sha, conclusion string) model.Event {
	w.t.Helper()
	return w.runEnds(id, branch, sha, object{"name": "ci", "path": ".github/workflows/ci.yml", "conclusion": conclusion, "jobs": []object{{"name": "ci", "conclusion": conclusion}}})
}

// runEnds has a run of a workflow end ten minutes later, and gives the event of it.
func (w *world) runEnds(id int, branch, sha string, run object) model.Event {
	w.t.Helper()
	w.later(10 * time.Minute)
	run["event"], run["status"], run["head_sha"], run["head_branch"] = "push", "completed", sha, branch
	w.put(fmt.Sprintf("/_sandbox/runs/%d", id), run)
	return w.delivery("workflow_run")
}
