package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const numbered = "name: MergeXO\non:\n  schedule: [{cron: \"17 * * * *\"}]\n  workflow_dispatch:\n    inputs:\n      number: {description: a number}\n      mode: {default: fast}\n"

func TestARunIsStartedByHand(t *testing.T) {
	w, c := townWithClone(t)
	head := c.branch("x", ".github/workflows/mergexo.yml", numbered)
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "in_progress"}).want(200)
	before := w.deliveries()
	const at = repoPath + "/actions/workflows/mergexo.yml/dispatches"
	require.Empty(t, w.as("actions", "POST", at, obj{"ref": "x", "inputs": obj{"number": 7}}).want(204).body)

	require.Equal(t, []string{"workflow_dispatch", "workflow_run.requested"}, w.delivered(before), "a workflow's token may, too")
	said := w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list()[before]["payload"].(obj)
	require.Equal(t, obj{"number": "7", "mode": "fast"}, said["inputs"])
	require.Equal(t, []any{"refs/heads/x", ".github/workflows/mergexo.yml", actionsLogin}, []any{said["ref"], said["workflow"], said["sender"].(obj)["login"]})

	runs := w.as("", "GET", repoPath+"/actions/runs?event=workflow_dispatch", nil).want(200).obj()["workflow_runs"].([]any)
	require.Len(t, runs, 1)
	run := runs[0].(obj)
	require.Equal(t, []any{"MergeXO", "queued", head, "x", ".github/workflows/mergexo.yml", actionsLogin},
		[]any{run["name"], run["status"], run["head_sha"], run["head_branch"], run["path"], run["actor"].(obj)["login"]})
	require.Equal(t, w.as("", "GET", repoPath+"/actions/runs/500", nil).want(200).obj()["workflow_id"], run["workflow_id"], "of one file")

	byID := fmt.Sprintf("%s/actions/workflows/%.0f/dispatches", repoPath, run["workflow_id"])
	made := w.as("octo", "POST", byID, obj{"ref": "refs/heads/x", "return_run_details": true}).want(200).obj()
	require.NotEqual(t, run["id"], made["workflow_run_id"], "each call starts a run")
	require.Contains(t, made["html_url"], fmt.Sprintf("/octo/widgets/actions/runs/%.0f", made["workflow_run_id"]))
}

func TestARunThatCannotBeStarted(t *testing.T) {
	w := newTown(t)
	w.grant("rita", "read")
	c := w.clone("octo")
	c.branch("x", ".github/workflows/numbered.yml", numbered)
	for name, text := range map[string]string{
		"word": "on: workflow_dispatch", "list": "on: [push, workflow_dispatch]", "bare": "on: {workflow_dispatch: null}", "push": "on: push",
		"pushes": "on: [push]", "pull": "on: {pull_request: {}}", "odd": "on: {workflow_dispatch: {inputs: [number]}}", "broken": "on: [",
		"deep/er": "on: workflow_dispatch", "must": "on: {workflow_dispatch: {inputs: {number: {required: true}}}}",
	} {
		c.commit(".github/workflows/"+name+".yml", text+"\n")
	}
	c.push(".github/workflows/notes.txt", "on: workflow_dispatch\n")
	before := w.deliveries()
	try := func(login, file, ref string, inputs obj) *answer {
		return w.as(login, "POST", repoPath+"/actions/workflows/"+file+"/dispatches", obj{"ref": ref, "inputs": inputs})
	}
	const noTrigger = "Workflow does not have 'workflow_dispatch' trigger"
	for _, r := range []struct {
		login, file, ref string
		inputs           obj
		status           int
		says             string
	}{
		{"octo", "push.yml", "x", nil, 422, noTrigger},
		{"octo", "pushes.yml", "x", nil, 422, noTrigger},
		{"octo", "pull.yml", "x", nil, 422, noTrigger},
		{"octo", "numbered.yml", "x", obj{"pr": "7", "a": "", "number": "1"}, 422, `Unexpected inputs provided: ["a","pr"]`},
		{"octo", "word.yml", "x", obj{"number": "7"}, 422, `Unexpected inputs provided: ["number"]`},
		{"octo", "must.yml", "x", nil, 422, "Required input 'number' not provided"},
		{"octo", "odd.yml", "x", nil, 422, "failed to parse workflow: "},
		{"octo", "broken.yml", "x", nil, 422, "failed to parse workflow: "},
		{"octo", "numbered.yml", "nope", nil, 422, "No ref found for: nope"},
		{"octo", "numbered.yml", "", nil, 422, "wasn't supplied"},
		{"octo", "numbered.yml", "main", nil, 404, "Not Found"}, // it is on x only
		{"octo", "none.yml", "x", nil, 404, "Not Found"},
		{"octo", "notes.txt", "x", nil, 404, "Not Found"},
		{"octo", "deep%2Fer.yml", "x", nil, 404, "Not Found"},
		{"octo", "12345", "x", nil, 404, "Not Found"},
		{"rita", "numbered.yml", "x", nil, 403, "push access"},
		{"", "numbered.yml", "x", nil, 401, "authentication"},
	} {
		said := try(r.login, r.file, r.ref, r.inputs).want(r.status).obj()["message"]
		require.Contains(t, said, r.says, r.file)
	}
	w.as("", "PUT", "/_sandbox/users/"+strings.ReplaceAll(actionsLogin, "[", "%5B"), obj{"permission": "read"}).want(200)
	require.Equal(t, "Resource not accessible by integration", try("actions", "numbered.yml", "x", nil).want(403).obj()["message"])
	require.Empty(t, w.delivered(before), "none of them started anything")
	for _, file := range []string{"word.yml", "list.yml", "bare.yml", "numbered.yml"} {
		try("octo", file, "x", nil).want(204)
	}
}
