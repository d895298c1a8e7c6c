package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Steps about runs of the installed workflow. The sandbox has no runner: there this process starts mergexo for an event, with
// what the workflow gives it, and stops it as a runner does.

const (
	workflowPath = ".github/workflows/mergexo-live.yml"
	settingsPath = ".github/mergexo.toml"
	agentPath    = "mergexo-live-agent"
	landedPath   = "mergexo-live.txt"
)

// runnerPatience is how much longer a runner may take than GitHub itself: it has to start, and to build.
const runnerPatience = 6

// put writes a file to the default branch.
func (w *world) put(ctx context.Context, name, text string) {
	there, err := w.admin.need(ctx, "GET", "~/contents/"+name, nil, 200, 404)
	check(named("read "+name, err))
	old, _ := base64.StdEncoding.DecodeString(strings.ReplaceAll(there.str("content"), "\n", ""))
	if there.status == 200 && !strings.Contains(string(old), ownMark) {
		check(fmt.Errorf("%s is there already and is not of this script's making: use a repository without it", name))
	}
	in := facts{"message": "Put " + name, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if there.status == 200 {
		in["sha"] = there.at("sha")
	}
	_, err = w.admin.need(ctx, "PUT", "~/contents/"+name, in, 200, 201)
	check(named("write "+name, err))
}

// install brings the workflow and these settings to the default branch, and makes the label that starts a turn.
func (w *world) install(ctx context.Context, settings string) {
	if w.sandbox == nil {
		raw, err := os.ReadFile(".github/workflows/mergexo.yml")
		check(named("read the workflow to install", err))
		text := regexp.MustCompile(`mergexo/mergexo@\S+`).ReplaceAllLiteralString(string(raw), w.opts.action)
		text = regexp.MustCompile(`(?m)^  schedule:\n(?:    .*\n)+`).ReplaceAllLiteralString(text, "") // nobody sweeps here
		w.put(ctx, workflowPath, "# "+ownMark+"\n"+text)
	}
	w.put(ctx, settingsPath, "# "+ownMark+"\n"+settings)
	_, err := w.admin.need(ctx, "POST", "~/labels", facts{"name": "agent:small-job", "color": "ededed", "description": ownMark}, 201, 422)
	check(named("make a label", err))
}

// labelled opens an issue with the label on it.
func (w *world) labelled(ctx context.Context, about, body string) string {
	number := w.issue(ctx, about, body)
	got(w.admin.need(ctx, "POST", "~/issues/"+number+"/labels", facts{"labels": []string{"agent:small-job"}}, 200))
	return number
}

// eventually is until, for what a runner does.
func (w *world) eventually(ctx context.Context, what string, there func() (bool, error)) {
	for range runnerPatience {
		if got(w.until(ctx, there)) {
			return
		}
	}
	check(fmt.Errorf("%s did not come within %s", what, runnerPatience*w.patience))
}

const storySettings = `[repo]
track = ["agent/**"]
[agent]
adapter = "suggestion"
[merge]
tests = "none"
`

func askStory(ctx context.Context, w *world) any {
	w.install(ctx, storySettings)
	diff := "Like this:\n\n```diff\n--- /dev/null\n+++ b/" + landedPath + "\n@@ -0,0 +1 @@\n+" + ownMark + "\n```\n"
	number := w.labelled(ctx, "a story", diff)
	check(w.handle(ctx, "issues"))
	pull := w.opened(ctx, "agent/small/"+number+"-")
	n := pull.str("number")
	out := facts{"pull request": facts{"by": pull.at("user.login"), "closes the issue": strings.Contains(pull.str("body"), "Fixes #"+number), "title": pull.at("title")}}
	for _, said := range []struct {
		path  string
		body  facts
		event string
	}{
		{"~/pulls/" + n + "/reviews", facts{"event": "APPROVE"}, "pull_request_review"},
		{"~/issues/" + n + "/comments", facts{"body": "/mergexo merge"}, "issue_comment"},
	} {
		got(w.admin.need(ctx, "POST", said.path, said.body, 200, 201))
		check(w.handle(ctx, said.event))
	}
	w.eventually(ctx, "the merge", func() (bool, error) {
		a, err := w.pull(ctx, n)
		return shown(a) != "open", err
	})
	tellStory(ctx, w, out, number, n)
	return out
}

// opened waits for a pull request from a branch that begins so.
func (w *world) opened(ctx context.Context, head string) (pull answer) {
	w.eventually(ctx, "the pull request", func() (bool, error) {
		all, err := w.admin.rest(ctx, "GET", "~/pulls?state=all&per_page=20", nil)
		for _, p := range all.list() {
			if ref, _ := at(p, "head.ref").(string); strings.HasPrefix(ref, head) {
				pull.body = p
				return true, err
			}
		}
		return false, err
	})
	return pull
}

var markerKind = regexp.MustCompile(`<!-- (mergexo-[a-z]+):\{?`)

// tellStory adds what is to be seen of a story afterwards.
func tellStory(ctx context.Context, w *world, out facts, number, n string) {
	pull := got(w.pull(ctx, n))
	landed := got(w.admin.rest(ctx, "GET", "~/contents/"+landedPath, nil))
	out["shown"], out["the file has landed"], out["merged by"] = shown(pull), landed.status == 200, pull.at("merged_by.login")
	for name, of := range map[string]string{"markers on the issue": number, "markers on the pull request": n} {
		out[name] = w.markers(ctx, of)
	}
	// GitHub closes the issue a moment after the merge, if at all.
	state := ""
	got(w.until(ctx, func() (bool, error) {
		a, err := w.admin.rest(ctx, "GET", "~/issues/"+number, nil)
		state = a.str("state")
		return state == "closed" || w.sandbox != nil, err
	}))
	out["the issue is"] = state
	out["stages left"] = len(got(w.admin.rest(ctx, "GET", "~/git/matching-refs/mergexo/turn", nil)).list())
}

// markers are the kinds of our markers in a conversation, in the order of its comments.
func (w *world) markers(ctx context.Context, number string) []string {
	a := got(w.admin.need(ctx, "GET", "~/issues/"+number+"/comments?per_page=100", nil, 200))
	kinds := []string{}
	for _, c := range a.list() {
		body, _ := at(c, "body").(string)
		for _, m := range markerKind.FindAllStringSubmatch(body, -1) {
			if m[1] != "mergexo-action" {
				kinds = append(kinds, m[1])
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

const cancelSettings = `[repo]
track = ["agent/**"]
[agent]
adapter = "command"
command = ["bash", "` + agentPath + `"]
[merge]
tests = "none"
`

// slowAgent begins to work, and does not come to an end.
const slowAgent = `# ` + ownMark + `
echo "half of it" >half.txt
exec sleep 900
`

func askCancel(ctx context.Context, w *world) any {
	w.put(ctx, agentPath, slowAgent)
	w.install(ctx, cancelSettings)
	number := w.labelled(ctx, "cancelled", "Something slow.")
	var ended facts
	if w.sandbox != nil {
		ended = got(w.interrupt(ctx, number))
	} else {
		ended = cancelRun(ctx, w, number)
	}
	out := facts{"ended": ended, "markers on the issue": w.markers(ctx, number)}
	refs := got(w.admin.need(ctx, "GET", "~/git/matching-refs/heads/agent/small/"+number+"-", nil, 200))
	out["branches with its work"] = len(refs.list())
	half := false
	if len(refs.list()) > 0 {
		ref := strings.TrimPrefix(refs.str("0.ref"), "refs/heads/")
		half = got(w.admin.rest(ctx, "GET", "~/contents/half.txt?ref="+url.QueryEscape(ref), nil)).status == 200
	}
	out["half of it is there"] = half
	return out
}

// cancelRun waits until the agent must be at work, cancels the run, and waits for its end.
func cancelRun(ctx context.Context, w *world, number string) facts {
	var id string
	w.eventually(ctx, "the run", func() (bool, error) {
		runs, err := w.admin.rest(ctx, "GET", "~/actions/runs?event=issues&status=in_progress", nil)
		id = runs.str("workflow_runs.0.id")
		return id != "", err
	})
	// The step that runs mergexo begins some time before its agent does.
	w.eventually(ctx, "the step", func() (bool, error) {
		jobs, err := w.admin.rest(ctx, "GET", "~/actions/runs/"+id+"/jobs", nil)
		steps, _ := jobs.at("jobs.0.steps").([]any)
		return slices.ContainsFunc(steps, func(s any) bool { return at(s, "name") == "Answer" && at(s, "status") == "in_progress" }), err
	})
	const untilItWorks = 2 * time.Minute
	check(w.wait(ctx, untilItWorks))
	got(w.admin.need(ctx, "POST", "~/actions/runs/"+id+"/cancel", nil, 202))
	var run answer
	w.eventually(ctx, "the end of the run", func() (bool, error) {
		at, err := w.admin.rest(ctx, "GET", "~/actions/runs/"+id, nil)
		run = at
		return run.str("status") == "completed", err
	})
	return facts{"conclusion": run.at("conclusion")}
}

// groupWorkflow has runs wait for one another.
const groupWorkflow = `# ` + ownMark + `
name: mergexo-live
on: workflow_dispatch
permissions: {}
jobs:
  wait:
    concurrency: {group: mergexo-live, cancel-in-progress: false}
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - run: sleep 45
`

// events is how many come at once.
const events = 5

func askGroup(ctx context.Context, w *world) any {
	if w.sandbox != nil {
		check(notHere(inSandbox + "nothing runs workflows, so that no run waits for another one"))
	}
	w.put(ctx, workflowPath, groupWorkflow)
	began := w.now().UTC().Add(-time.Minute).Format(time.RFC3339)
	for range events {
		w.eventually(ctx, "the workflow", func() (bool, error) {
			a, err := w.admin.rest(ctx, "POST", "~/actions/workflows/mergexo-live.yml/dispatches", facts{"ref": w.main})
			return a.status < 300, err
		})
	}
	var runs []any
	w.eventually(ctx, "the end of the runs", func() (bool, error) {
		a, err := w.admin.rest(ctx, "GET", "~/actions/workflows/mergexo-live.yml/runs?event=workflow_dispatch&created="+url.QueryEscape(">="+began), nil)
		runs, _ = a.at("workflow_runs").([]any)
		return len(runs) == events && !slices.ContainsFunc(runs, func(r any) bool { return at(r, "status") != "completed" }), err
	})
	ends := []any{}
	for _, r := range slices.Backward(runs) { // the newest comes first
		ends = append(ends, at(r, "conclusion"))
	}
	return facts{"conclusions, the oldest first": ends}
}

// tokenLife is how long an App's token lives, and a little more.
const tokenLife = 61 * time.Minute

func askExpiry(ctx context.Context, w *world) any {
	switch {
	case w.sandbox != nil:
		check(notHere(inSandbox + "its tokens do not expire"))
	case !w.opts.expiry || w.minter == nil:
		check(notHere("not asked: it needs --expiry, an App, and more than an hour"))
	}
	token := got(w.minter.mint(ctx, jobPermissions))
	c := w.callerOf("app", token)
	young := got(c.rest(ctx, "GET", "~", nil))
	check(w.wait(ctx, tokenLife))
	old := got(c.rest(ctx, "GET", "~", nil))
	query := got(c.graph(ctx, "{ viewer { login } }", nil))
	base := got(w.git.base(ctx))
	pushed := got(w.git.push(ctx, w.app, nil, base+":refs/"+prefix+"/expired"))
	return facts{"at first": young.refusal(), "an hour later": old.refusal(), "by GraphQL": query.refusal(), "a push with the run's first token": pushed}
}
