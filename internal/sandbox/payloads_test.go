package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// story does everything that GitHub tells webhooks about.
func story(w *town) {
	w.grant("rita", "write")
	c := w.clone("octo")
	c.branch("x", "a.txt", "one\ntwo\nthree\n")
	w.as("octo", "POST", repoPath+"/labels", obj{"name": "agent:bugfix", "color": "aabbcc"}).want(201)
	w.as("octo", "PATCH", repoPath+"/labels/agent:bugfix", obj{"color": "ffffff"}).want(200)
	i := int(w.as("octo", "POST", repoPath+"/issues", obj{"title": "Broken", "labels": []string{"bug"}}).want(201).obj()["number"].(float64))
	issue := fmt.Sprintf("%s/issues/%d", repoPath, i)
	w.as("octo", "PATCH", issue, obj{"title": "Still broken", "body": "how"}).want(200)
	w.as("octo", "DELETE", issue+"/labels/bug", nil).want(200)
	w.as("octo", "POST", issue+"/assignees", obj{"assignees": []string{"rita"}}).want(201)
	w.as("octo", "PATCH", issue, obj{"state": "closed"}).want(200)
	w.as("octo", "PATCH", issue, obj{"state": "open"}).want(200)
	said := w.as("rita", "POST", issue+"/comments", obj{"body": "hm"}).want(201).obj()
	at := fmt.Sprintf("%s/issues/comments/%d", repoPath, int64(said["id"].(float64)))
	w.as("octo", "PATCH", at, obj{"body": "hm?"}).want(200)
	w.as("octo", "DELETE", at, nil).want(204)

	pull := fmt.Sprintf("%s/pulls/%d", repoPath, w.pull("octo", "x"))
	w.as("octo", "POST", strings.Replace(pull, "pulls", "issues", 1)+"/labels", obj{"labels": []string{"bug"}}).want(200)
	w.as("octo", "POST", pull+"/requested_reviewers", obj{"reviewers": []string{"rita"}}).want(201)
	head := c.commit("b.txt", "b\n")
	c.git("push", "-q", "origin", "x")
	w.as("octo", "PATCH", pull, obj{"state": "closed"}).want(200)
	w.as("octo", "PATCH", pull, obj{"state": "open"}).want(200)
	on := w.as("rita", "POST", pull+"/comments", obj{"body": "why", "path": "a.txt", "line": 2, "side": "RIGHT", "commit_id": head}).want(201).obj()
	at = fmt.Sprintf("%s/pulls/comments/%d", repoPath, int64(on["id"].(float64)))
	w.as("octo", "PATCH", at, obj{"body": "why?"}).want(200)
	w.as("octo", "DELETE", at, nil).want(204)
	v := w.as("rita", "POST", pull+"/reviews", obj{"event": "APPROVE", "body": "good"}).want(200).obj()
	w.as("octo", "PUT", fmt.Sprintf("%s/reviews/%d/dismissals", pull, int64(v["id"].(float64))), obj{"message": "no"}).want(200)
	w.as("", "PUT", "/_sandbox/runs/42", obj{"status": "queued"}).want(200)
	w.as("", "PUT", "/_sandbox/runs/42", obj{"status": "completed", "conclusion": "failure"}).want(200)
	c.branch("flow", ".github/workflows/go.yml", "on: workflow_dispatch\n")
	w.as("octo", "POST", repoPath+"/actions/workflows/go.yml/dispatches", obj{"ref": "flow"}).want(204)
	run := w.as("github-actions[bot]", "POST", repoPath+"/check-runs", obj{"name": "ci", "head_sha": head}).want(201).obj()
	w.as("github-actions[bot]", "PATCH", fmt.Sprintf("%s/check-runs/%d", repoPath, id(run)), obj{"conclusion": "success"}).want(200)
	w.as("octo", "POST", repoPath+"/statuses/"+head, obj{"state": "success"}).want(201)
	w.as("octo", "DELETE", repoPath+"/labels/agent:bugfix", nil).want(204)
	w.as("octo", "PUT", pull+"/merge", obj{}).want(200)
	c.git("push", "-q", "origin", ":x")
}

func TestPayloadsHaveWhatGitHubsHave(t *testing.T) {
	w := newTown(t)
	story(w)
	seen := map[string]obj{}
	for _, d := range w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list() {
		name, payload := d["event"].(string), d["payload"].(obj)
		if action, ok := payload["action"].(string); ok {
			name += "." + action
		}
		seen[name] = payload
	}
	for name, keys := range exampleKeys {
		payload := seen[name]
		require.NotNil(t, payload, "no %s was delivered", name)
		for key := range strings.FieldsSeq(keys) {
			require.Contains(t, payload, key, name)
			o, ok := payload[key].(obj)
			if !ok {
				continue
			}
			shape := map[string]string{"sender": "user", "assignee": "user", "requested_reviewer": "user"}[key]
			switch {
			case key == "comment" || key == "pull_request" || name == "push" && key == "repository":
				shape = strings.Split(name, ".")[0] + " " + key
			case shape == "":
				shape = key
			}
			for k := range strings.FieldsSeq(exampleObjects[shape]) {
				require.Contains(t, o, k, "%s: %s", name, shape)
			}
		}
	}
}
