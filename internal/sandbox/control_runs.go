package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// jobInput is one job of PUT /_sandbox/runs/{id}.
type jobInput struct {
	Name, Status, Conclusion, Step, Log string
	LogBytes                            int64 `json:"log_bytes"`
	Expired                             bool  // its log is deleted
}

// runStates are those of runs and jobs, and conclusions what they may end with.
var (
	runStates   = []string{"queued", "in_progress", "completed"}
	conclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale", "startup_failure"}
)

// setRun makes or moves a workflow run. Jobs are told apart by their names: a job that the newest attempt has is changed,
// any other added to it.
func setRun(q *request, r *Repository, in struct {
	Status, Conclusion, Name, Path, Event, Actor string
	Attempt                                      int
	HeadSHA                                      string `json:"head_sha"`
	HeadBranch                                   string `json:"head_branch"`
	HeadRepository                               string `json:"head_repository"` // owner/name of a fork
	Title                                        string `json:"display_title"`
	Jobs                                         []jobInput
}) (any, error) {
	id, err := strconv.ParseInt(q.r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, unprocessable("id: want a number")
	}
	if err := oneOf("status", in.Status, runStates); err != nil {
		return nil, err
	}
	if err := oneOf("conclusion", in.Conclusion, conclusions); err != nil {
		return nil, err
	}
	jobs, err := readJobs(in.Jobs, in.Status, in.Conclusion)
	if err != nil {
		return nil, err
	}
	run := q.s.world.putRun(r, &Run{
		ID: id, Status: in.Status, Conclusion: in.Conclusion, Name: in.Name, Title: in.Title, Path: in.Path, Event: in.Event, Attempt: in.Attempt,
		HeadSHA: in.HeadSHA, HeadBranch: in.HeadBranch, HeadRepo: in.HeadRepository, Actor: in.Actor, Jobs: jobs,
	})
	return q.s.json.run(r, run), q.s.refs.protectionChanged(r)
}

// oneOf refuses a word that is none of some; an empty one is no word.
func oneOf(field, word string, words []string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	last := len(words) - 1
	return unprocessable(fmt.Sprintf("%s: want %s or %s", field, strings.Join(words[:last], ", "), words[last]))
}

// readJobs fills in what was not said of a job: it stands as its run does, and one with a conclusion is completed.
func readJobs(in []jobInput, status, conclusion string) ([]*Job, error) {
	var jobs []*Job
	for n, j := range in {
		field := func(name string) string { return fmt.Sprintf("jobs[%d].%s", n, name) }
		if j.Name == "" {
			return nil, unprocessable(field("name") + ": want a name")
		}
		if err := oneOf(field("status"), j.Status, runStates); err != nil {
			return nil, err
		}
		if err := oneOf(field("conclusion"), j.Conclusion, conclusions[:7]); err != nil { // the others are only of runs
			return nil, err
		}
		if j.Conclusion != "" {
			j.Status = "completed"
		}
		if j.Status = cmp.Or(j.Status, status, "queued"); j.Status == "completed" {
			j.Conclusion = cmp.Or(j.Conclusion, conclusion, "success")
		}
		jobs = append(jobs, &Job{Name: j.Name, Status: j.Status, Conclusion: j.Conclusion, Step: j.Step, Log: j.Log, LogBytes: j.LogBytes, Expired: j.Expired})
	}
	return jobs, nil
}

// concluded is what a run comes to by its jobs.
func concluded(jobs []*Job) string {
	for _, bad := range []string{"failure", "timed_out", "action_required", "cancelled"} {
		if slices.ContainsFunc(jobs, func(j *Job) bool { return j.Conclusion == bad }) {
			return strings.Replace(bad, "timed_out", "failure", 1)
		}
	}
	return "success"
}

// putJobs changes and adds jobs of the newest attempt. Those that are not given continue their run.
func (w world) putJobs(run *Run, given []*Job) {
	now := w.now()
	attempts := slices.ContainsFunc(run.Jobs, func(j *Job) bool { return j.Attempt == run.Attempt })
	if len(run.Jobs) > 0 && !attempts { // all of them again
		for _, j := range run.latest() {
			run.Jobs = append(run.Jobs, &Job{ID: w.nextID(), Attempt: run.Attempt, Name: j.Name, Status: "queued"})
		}
	}
	for _, j := range given {
		at := slices.IndexFunc(run.Jobs, func(o *Job) bool { return o.Name == j.Name && o.Attempt == run.Attempt })
		if at < 0 {
			run.Jobs = append(run.Jobs, &Job{ID: w.nextID(), Attempt: run.Attempt, Name: j.Name})
			at = len(run.Jobs) - 1
		}
		there := run.Jobs[at]
		there.Step, there.Log, there.LogBytes, there.Expired = j.Step, j.Log, j.LogBytes, j.Expired
		there.moveTo(j.Status, j.Conclusion, now)
	}
	for _, j := range run.Jobs {
		behind := j.Attempt == run.Attempt && j.Status != "completed" && slices.Index(runStates, j.Status) < slices.Index(runStates, run.Status)
		if behind && !slices.ContainsFunc(given, func(o *Job) bool { return o.Name == j.Name }) {
			j.moveTo(run.Status, run.Conclusion, now)
		}
	}
}
