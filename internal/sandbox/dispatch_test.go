package sandbox

import (
	"fmt"
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
