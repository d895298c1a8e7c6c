package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/stretchr/testify/require"
)

// evaluates is a command that prints a verdict, whatever it is asked.
func evaluates(verdict, reason string) string {
	return fmt.Sprintf(`["sh", "-c", 'cat >/dev/null; echo "{\"verdict\": \"%s\", \"reason\": \"%s\"}"']`, verdict, reason)
}

// newExternal is a pull request from mallory's fork, which nobody has let in yet. more are lines of [external].
func newExternal(t *testing.T, more ...string) *world {
	t.Helper()
	const branch = "feature"
	lines := "[merge]\ntests = \"none\"\n[external]\nenabled = true\n" + strings.Join(more, "\n")
	w := newWorld(t, "", lines)
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.put("/_sandbox/users/mallory", object{"type": "User", "repository": repo.String(), "permission": "none"})
	w.api("mallory", "POST", w.path("/forks"), object{})
	w.api("mallory", "POST", "/api/v3/repos/mallory/widgets/git/refs", object{"ref": "refs/heads/" + branch, "sha": w.at("main")})
	w.contribute(branch, "f.txt", "f\n")
	pull := w.api("mallory", "POST", w.path("/pulls"), object{"title": "Add f", "head": "mallory:" + branch, "base": "main"})
	w.number, w.head = int(pull["number"].(float64)), branch
	w.write("octo", "main", "other.txt", "meanwhile\n")
	return w
}

// withoutAgent has the settings name no agent: only merges are wanted here.
func (w *world) withoutAgent(more string) {
	w.t.Helper()
	w.write("octo", "main", ".github/mergexo.toml", "[agent]\nisolation = \"none\"\n"+more)
}

// contribute commits a file to a branch of the fork.
func (w *world) contribute(branch, path, text string) {
	w.t.Helper()
	w.later(time.Minute)
	at := "/api/v3/repos/mallory/widgets/contents/" + path
	body := object{"message": "Write " + path, "branch": branch, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if status, out := w.send("mallory", "GET", at+"?ref="+branch, nil); status == 200 {
		there := object{}
		require.NoError(w.t, json.Unmarshal(out, &there))
		body["sha"] = there["sha"]
	}
	w.api("mallory", "PUT", at, body)
}

// forcePush puts another history in the place of the fork's branch.
func (w *world) forcePush() {
	w.t.Helper()
	fork := "/api/v3/repos/mallory/widgets"
	tip := w.api("mallory", "GET", fork+"/git/commits/"+w.theirs(), nil)
	parents := []any{tip["parents"].([]any)[0].(map[string]any)["sha"]}
	sha := w.api("mallory", "POST", fork+"/git/commits", object{"message": "Another one", "tree": tip.at("tree", "sha"), "parents": parents})["sha"]
	w.api("mallory", "PATCH", fork+"/git/refs/heads/"+w.head, object{"sha": sha, "force": true})
}

// letIn puts the label on, as somebody.
func (w *world) letIn(login string) {
	w.t.Helper()
	w.labels(login, "external:accept")
}

// admits is a label that lets the fork in, and the sweep that takes it up.
func (w *world) admits(login string) {
	w.t.Helper()
	w.letIn(login)
	w.sweep()
}

// mirrorName is the branch that mirrors the pull request.
func (w *world) mirrorName() string { return fmt.Sprintf("gh-pr-%d/%s", w.number, w.head) }

// sweepOnly is a sweep of the pull request alone, by a process that may die.
func (w *world) sweepOnly() {
	w.t.Helper()
	_, _ = w.engine().Sweep(context.Background(), repo, sweeping.Options{Only: []int{w.number}})
	w.over(w.runs)
}

// onlyWord is the text of the only comment in the conversation.
func (w *world) onlyWord() string {
	w.t.Helper()
	require.Len(w.t, w.comments(), 1)
	return w.lastSaid()
}

// said is all that people read in the conversation, without what differs from run to run.
func (w *world) said() string {
	w.t.Helper()
	var b strings.Builder
	for _, c := range w.comments() {
		fmt.Fprintf(&b, "== %s\n%s\n", c.at("user", "login"), shown(c["body"]))
	}
	return b.String()
}
