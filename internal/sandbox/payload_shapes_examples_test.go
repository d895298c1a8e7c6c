//go:build examples

package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// unsentPayload are fields that all of GitHub's examples of an event have and the sandbox's payloads do not, and why.
var unsentPayload = map[string]string{
	"app.permissions.":         "which Apps the examples are of",
	".organization is missing": "the examples' owners are organizations, the sandbox's a person",
	".installation is missing": "the examples went to Apps",
	".issue.draft is missing":  "GitHub's for pull requests: the examples are of some",
}

func isUnsent(what string) bool {
	for part := range unsentPayload {
		if strings.Contains(what, part) {
			return true
		}
	}
	return false
}

// allHave are the paths that all of these have, with all types that they have there.
func allHave(all []kinds) kinds {
	out := maps.Clone(all[0])
	for path := range out {
		types := map[string]bool{}
		for _, k := range all {
			if k[path] == nil {
				delete(out, path)
			}
			maps.Copy(types, k[path])
		}
		if out[path] != nil {
			out[path] = types
		}
	}
	return out
}

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
	head := c.push("b.txt", "b\n")
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

// The sandbox's payloads have what all of GitHub's own examples of that event and action have, down to the last object, and
// of the same types.
func TestPayloadsHaveTheShapeOfGitHubs(t *testing.T) {
	raw := must.Get(os.ReadFile(filepath.Join(os.Getenv("MERGEXO_WEBHOOK_EXAMPLES"), "api.github.com", "index.json")))(t)
	var events []struct {
		Name     string
		Examples []map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &events))
	theirs := map[string][]kinds{}
	for _, e := range events {
		for _, x := range e.Examples {
			k := kinds{}
			k.add("", x)
			theirs[named(e.Name, x)] = append(theirs[named(e.Name, x)], k)
		}
	}
	w := newTown(t)
	story(w)
	compared := map[string]bool{}
	for _, d := range w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list() {
		payload := d["payload"].(obj)
		name := named(d["event"].(string), payload)
		if len(theirs[name]) == 0 {
			continue
		}
		ours := kinds{}
		ours.add("", payload)
		for _, l := range lacking(allHave(theirs[name]), ours) {
			if !isUnsent(l) && !compared[name] {
				assert.Fail(t, l, name)
			}
		}
		compared[name] = true
	}
	assert.Len(t, compared, 33)
}

func named(event string, payload map[string]any) string {
	if action, ok := payload["action"].(string); ok {
		return event + "." + action
	}
	return event
}
